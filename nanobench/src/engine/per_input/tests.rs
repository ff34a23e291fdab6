use std::cell::RefCell;
use std::rc::Rc;

use super::*;
use crate::engine::simulation::{
    FOUR_INPUTS, Machine, QUIET, SCENARIOS, Scenario, Simulated, TICKS_PER_CYCLE, TICKS_PER_SECOND,
};
use crate::groups::{Group, Groups};
use crate::target::Timed;

/// A machine, what it measures, and how often each list was asked for.
struct Recorder {
    machine: Rc<RefCell<Machine>>,
    target: Simulated,
    /// Calls of each sample.
    samples: Vec<u64>,
    groups: Groups,
}

impl Recorder {
    fn new(scenario: Scenario, costs: &[f64], seed: u64) -> Self {
        let machine = Machine::new(scenario, seed);
        let target = Simulated::new(&machine, costs);
        let groups = match target.groups() {
            Groups::NoInputs => Groups::Mix { inputs: 1, too_many: false },
            groups => groups.clone(),
        };
        Self { machine, target, samples: Vec::new(), groups }
    }

    /// The same, with each input so many times.
    fn with_members(mut self, members: u32) -> Self {
        if let Groups::Each(groups) = &mut self.groups {
            for group in groups {
                group.members = vec![group.members[0]; members as usize];
            }
        }
        self
    }

    fn measure(&mut self, params: &Params) -> Vec<Result<InputCost, Reason>> {
        self.measure_with_log(params, None)
    }

    fn measure_with_log(&mut self, params: &Params, log: Option<Log>) -> Vec<Result<InputCost, Reason>> {
        let machine = self.machine.clone();
        // The borrow of the log ends with the call, which the compiler has to be shown.
        match log {
            None => measure(self, params, &machine, None),
            Some(log) => measure(self, params, &machine, Some(&mut |line| log(line))),
        }
    }
}

impl Target for Recorder {
    fn groups(&self) -> &Groups {
        &self.groups
    }

    fn max_calls(&self) -> u64 {
        self.target.max_calls()
    }

    fn sample_after(&mut self, timed: Timed, calls: u64, order: &[u32], gate: &mut dyn FnMut()) -> u64 {
        assert_eq!(order.len() as u64, calls);
        self.samples.push(calls);
        self.target.sample_after(timed, calls, order, gate)
    }
}

/// Short evaluations, so that thousands of them can be simulated.
fn short() -> Params {
    Params { seconds_per_eval: 2e-4, max_evals: 4, ..Params::default() }
}

#[test]
fn intervals_and_figures_are_honest_in_every_scenario_with_inputs() {
    let score = |scenario: Scenario| {
        let mut scores = vec![(0.0, 0.0, 0.0); scenario.costs.len()];
        for seed in 0..500 {
            let mut recorder = Recorder::new(scenario, scenario.costs, seed);
            let costs = recorder.measure(&short());
            let machine = recorder.machine.borrow();
            let slowness = machine.slowness(machine.samples());
            for ((cost, nominal), score) in costs.iter().zip(scenario.costs).zip(&mut scores) {
                let InputCost { ticks, cycles, nanoseconds, .. } = cost.unwrap();
                assert!((nanoseconds.value * TICKS_PER_SECOND / 1e9 / ticks.value - 1.0).abs() < 1e-9);
                let (figure, truth) = match cycles {
                    Some(cycles) => (cycles, nominal / TICKS_PER_CYCLE),
                    None => (ticks, nominal * slowness),
                };
                let Interval { low, high } = figure.interval.unwrap();
                score.0 += (figure.value / truth - 1.0) / 500.0;
                score.1 += f64::from(u8::from(low <= truth && truth <= high)) / 500.0;
                score.2 += (high - low) / truth / 2.0 / 500.0;
            }
        }
        scores
    };
    let scenarios: Vec<Scenario> = with_inputs().collect();
    let scored: Vec<_> = std::thread::scope(|scope| {
        let running: Vec<_> = scenarios.iter().map(|&one| (one.name, scope.spawn(move || score(one)))).collect();
        running.into_iter().map(|(name, scores)| (name, scores.join().unwrap())).collect()
    });
    println!("| scenario, input | bias | coverage | half-width |");
    let mut dishonest = Vec::new();
    for (name, scores) in scored {
        for (input, (bias, coverage, half_width)) in scores.into_iter().enumerate() {
            let line =
                format!("| {name}, {input} | {:+.3} % | {coverage:.3} | {:.2} % |", 100.0 * bias, 100.0 * half_width);
            println!("{line}");
            if bias.abs() >= 0.02 || !(0.91..=0.995).contains(&coverage) {
                dishonest.push(line);
            }
        }
    }
    assert!(dishonest.is_empty(), "{dishonest:#?}");
}

/// The scenarios with inputs in which the branch predictor need not forget, as the classic way never makes it.
fn with_inputs() -> impl Iterator<Item = Scenario> {
    SCENARIOS.into_iter().filter(|scenario| scenario.costs.len() > 1 && scenario.learnt == 0.0)
}

#[test]
fn nothing_is_negative_or_wrapped_or_missing_without_a_reason_in_two_thousand_runs() {
    let scenarios: Vec<Scenario> = with_inputs().collect();
    let mut failed = 0;
    for seed in 0..2_000 {
        let scenario = Scenario { noise: 0.01 * (seed % 8) as f64, ..scenarios[seed as usize % scenarios.len()] };
        let params = Params { seconds_per_eval: 2e-5, max_evals: 1 + (seed % 3) as u32, ..Params::default() };
        let costs = Recorder::new(scenario, scenario.costs, seed).measure(&params);
        assert_eq!(costs.len(), scenario.costs.len());
        for cost in costs {
            match cost {
                Ok(InputCost { ticks, variability, spread_ticks, .. }) => {
                    let Interval { low, high } = ticks.interval.unwrap();
                    assert!(0.0 < ticks.value && ticks.value < 1e4, "{scenario:?}: {ticks:?}");
                    assert!(0.0 <= low && low <= ticks.value && ticks.value <= high && high < 1e4, "{ticks:?}");
                    assert!(variability > 0.0 && variability.is_finite() && spread_ticks >= 0.0, "{cost:?}");
                }
                Err(Reason::TotalNotLarger { total_ticks, without_ticks }) => {
                    assert!(total_ticks > 0.0 && without_ticks > 0.0);
                    failed += 1;
                }
                Err(Reason::NothingSeen) => panic!("the clock went on: {scenario:?}"),
            }
        }
    }
    assert!(failed < 80, "{failed} of 8,000 inputs have no cost");
}

#[test]
fn an_input_that_costs_nothing_is_retried_and_has_a_reason_and_the_others_a_cost() {
    // So much noise that the total is smaller without the input in half of all cases.
    let scenario = Scenario { noise: 0.05, ..QUIET };
    let params = Params { max_evals: 2, ..short() };
    let (mut failed, mut evaluations) = (0, Vec::new());
    for seed in 0..40 {
        let mut lines = Vec::new();
        let mut log = |line: fmt::Arguments| lines.push(line.to_string());
        let costs = Recorder::new(scenario, &[100.0, 0.0, 120.0], seed).measure_with_log(&params, Some(&mut log));
        assert!(costs[0].is_ok() && costs[2].is_ok(), "{costs:?}");
        if let Err(Reason::TotalNotLarger { .. }) = costs[1] {
            failed += 1;
            let shown = lines.iter().filter(|line| line.contains(" samples => ") || line.contains("failed"));
            evaluations.push(shown.count() / 3);
        }
    }
    assert!(failed > 5, "{failed}");
    assert!(evaluations.iter().all(|&count| count == 2 + RETRIES as usize), "{evaluations:?}");
}

#[test]
fn a_clock_that_stands_still_gives_a_reason_and_an_end() {
    struct Stopped;
    impl Clock for Stopped {
        fn now_ticks(&self) -> u64 {
            5
        }
        fn facts(&self) -> ClockFacts {
            ClockFacts { ticks_per_second: 1e9, step_ticks: 1.0, pair_cost_ticks: 20.0 }
        }
    }
    struct Free(Groups);
    impl Target for Free {
        fn groups(&self) -> &Groups {
            &self.0
        }
        fn max_calls(&self) -> u64 {
            100
        }
        fn sample_after(&mut self, _timed: Timed, _calls: u64, _order: &[u32], _gate: &mut dyn FnMut()) -> u64 {
            0
        }
    }
    let group = |member: u32| Group { label: member.to_string(), members: vec![member] };
    let mut free = Free(Groups::Each(vec![group(0), group(1)]));
    let params = Params { seconds_per_eval: 1e-6, ..Params::default() };
    let costs = measure(&mut free, &params, &Stopped, None);
    assert_eq!(costs, [Err(Reason::NothingSeen), Err(Reason::NothingSeen)]);
}

#[test]
fn a_clock_without_a_speed_cannot_be_used() {
    let facts = ClockFacts { ticks_per_second: 1e9, step_ticks: 1.0, pair_cost_ticks: 20.0 };
    assert!(is_usable(&facts));
    for ticks_per_second in [0.0, f64::NAN, f64::INFINITY, -1.0] {
        assert!(!is_usable(&ClockFacts { ticks_per_second, ..facts }));
    }
    assert!(!is_usable(&ClockFacts { step_ticks: f64::NAN, ..facts }));
}

#[test]
fn the_median_has_the_interval_of_its_order_statistics() {
    let mut seven = [7.0, 1.0, 2.0, 6.0, 3.0, 5.0, 4.0];
    let interval = Some(Interval { low: 1.0, high: 7.0 });
    assert_eq!(median_with_interval(&mut seven), Figure { value: 4.0, interval });
    assert_eq!(median_with_interval(&mut [1.0, 2.0, 3.0, 4.0, 5.0]).interval, None, "93.75 % are not enough");
    // The table of David and Nagaraja: the 9th and the 22nd of 30.
    let mut thirty: Vec<f64> = (1..=30).map(f64::from).collect();
    assert_eq!(median_with_interval(&mut thirty).interval, Some(Interval { low: 10.0, high: 21.0 }));
}

#[test]
fn lists_are_those_of_highway_where_they_fit() {
    let lists = Lists::new(&[2, 2, 2, 2], 52, 2, LONGEST_LIST);
    assert_eq!(lists, Lists { whole: vec![208; 4], skipped: vec![52; 4] });
    assert_eq!(lists.whole.iter().sum::<u64>(), 832);
    assert_eq!(lists.without(1), [208, 156, 208, 208]);
    assert_eq!(Lists::new(&[5], 52, 2, LONGEST_LIST), Lists { whole: vec![104], skipped: vec![52] });
}

#[test]
fn lists_are_bounded_whatever_is_asked_for() {
    for (members, num_skip, ratio, longest) in [
        (vec![1; 32], 1_024, 2, LONGEST_LIST),
        (vec![9_999, 1], u64::MAX, 1_024, LONGEST_LIST),
        (vec![2, 2, 2, 2], 52, 2, 64),
        (vec![1; 32], 7, 2, 1),
    ] {
        let lists = Lists::new(&members, num_skip, ratio, longest);
        assert!(lists.whole.iter().sum::<u64>() <= longest + ratio * members.len() as u64, "{lists:?}");
        for (whole, skipped) in lists.whole.iter().zip(&lists.skipped) {
            assert!(*skipped >= 1 && skipped * ratio <= *whole, "{lists:?}");
        }
    }
}

#[test]
fn a_function_too_fast_to_be_timed_gets_the_longest_lists() {
    let mut recorder = Recorder::new(Scenario { noise: 0.0, ..QUIET }, &[0.0, 0.2], 1);
    recorder.measure(&Params { max_evals: 1, ..short() });
    // Two inputs, twice as many calls as are left out.
    assert_eq!(recorder.samples.iter().max(), Some(&(2 * 1_024 * 2)));
}

#[test]
fn a_single_input_is_measured_by_two_lengths() {
    let mut recorder = Recorder::new(QUIET, &[20.0], 2);
    let cost = recorder.measure(&Params::default())[0].unwrap();
    assert!((cost.ticks.value / 20.0 - 1.0).abs() < 0.01, "{cost:?}");
    assert!(cost.variability <= 0.002, "{cost:?}");
    let sizes: std::collections::HashSet<u64> = recorder.samples.iter().copied().filter(|&calls| calls > 1).collect();
    assert_eq!(sizes.len(), 2, "{sizes:?}");
}

/// How many rounds a recorder has seen: whole lists, the first round not counted.
fn rounds(recorder: &Recorder) -> usize {
    let most = recorder.samples.iter().max().unwrap();
    recorder.samples.iter().filter(|calls| *calls == most).count() - 1
}

#[test]
fn evaluations_and_samples_are_as_many_as_the_parameters_say() {
    // A target that nothing reaches, so that only the number of evaluations ends it.
    let unreachable = Scenario { noise: 0.02, ..QUIET };
    for max_evals in [1, 2, 5] {
        let params = Params {
            max_evals,
            min_samples_per_eval: 10,
            seconds_per_eval: 1e-9,
            target_rel_mad: 0.0,
            ..Params::default()
        };
        let mut recorder = Recorder::new(unreachable, FOUR_INPUTS, 3);
        let costs = recorder.measure(&params);
        assert!(costs.iter().all(Result::is_ok), "{costs:?}");
        assert_eq!(rounds(&recorder), 10 << (max_evals - 1));
    }
}

#[test]
fn a_target_that_is_reached_ends_it_earlier() {
    let of = |target_rel_mad| {
        let mut recorder = Recorder::new(QUIET, FOUR_INPUTS, 4);
        let costs = recorder.measure(&Params { target_rel_mad, ..Params::default() });
        assert!(costs.iter().all(|cost| cost.unwrap().variability <= target_rel_mad), "{costs:?}");
        rounds(&recorder)
    };
    let (coarse, fine) = (of(0.05), of(0.002));
    assert!(fine > coarse, "{coarse} and {fine} rounds");
}

#[test]
fn an_evaluation_takes_about_as_long_as_it_should() {
    let mut recorder = Recorder::new(QUIET, FOUR_INPUTS, 5);
    let begin = Clock::now_ticks(&recorder.machine);
    recorder.measure(&Params { max_evals: 1, ..Params::default() });
    let seconds = (Clock::now_ticks(&recorder.machine) - begin) as f64 / TICKS_PER_SECOND;
    // One evaluation, the metronomes beside it, and the probes of four inputs.
    assert!((0.004..0.02).contains(&seconds), "{seconds} s");
}

#[test]
fn slow_calls_are_timed_few_times_and_have_a_median() {
    let costs = [0.1, 0.4].map(|seconds| seconds * TICKS_PER_SECOND);
    let mut recorder = Recorder::new(QUIET, costs.to_vec().leak(), 5);
    let begin = Clock::now_ticks(&recorder.machine);
    let found = recorder.measure(&Params::default());
    let seconds = (Clock::now_ticks(&recorder.machine) - begin) as f64 / TICKS_PER_SECOND;
    for (cost, expected) in found.iter().zip(costs) {
        let cost = cost.unwrap();
        assert_eq!(cost.samples, 5);
        assert!((cost.ticks.value / expected - 1.0).abs() < 0.05, "{cost:?}");
    }
    // Two calls of each to begin with, and six rounds of lists of four, three and three calls.
    assert!(seconds < 20.0, "{seconds} s");
}

#[test]
fn few_samples_give_a_median_and_many_a_mean() {
    let of = |min_mode_samples| {
        let params = Params {
            min_mode_samples,
            min_samples_per_eval: 20,
            seconds_per_eval: 1e-9,
            max_evals: 1,
            ..Params::default()
        };
        let mut recorder = Recorder::new(QUIET, FOUR_INPUTS, 6);
        let cost = recorder.measure(&params)[0].unwrap();
        let mut sizes = recorder.samples;
        sizes.sort_unstable();
        sizes.dedup();
        assert_eq!(cost.samples, 20);
        // On a clock of coarse steps a median is a multiple of a step, or the mean of two of them.
        let half_steps = cost.ticks.value * (sizes[2] - sizes[1]) as f64 / (QUIET.step_ticks / 2.0);
        (half_steps - half_steps.round()).abs() < 1e-6
    };
    assert!(!of(20));
    assert!(of(21));
}

#[test]
fn a_larger_ratio_leaves_the_same_calls_out_of_a_longer_list() {
    let longest = |subset_ratio| {
        let mut recorder = Recorder::new(QUIET, FOUR_INPUTS, 7).with_members(2);
        recorder.measure(&Params { subset_ratio, ..short() });
        let mut sizes: Vec<u64> = recorder.samples.into_iter().filter(|&calls| calls > 1).collect();
        sizes.sort_unstable();
        sizes.dedup();
        (sizes[0], sizes[1])
    };
    let ((less, whole), (less_of_4, whole_of_4)) = (longest(2), longest(4));
    assert_eq!((whole_of_4, whole_of_4 - less_of_4), (2 * whole, whole - less));
    assert_eq!(whole, (whole - less) * 2 * 8, "twice as many, for each of eight inputs");
}

#[test]
fn memory_is_bounded_however_long_it_is_to_take() {
    let params = Params { seconds_per_eval: 1e3, target_rel_mad: 0.0, max_evals: 9, ..Params::default() };
    let mut recorder = Recorder::new(QUIET, &[2_000.0, 3_000.0], 8);
    let costs = recorder.measure(&params);
    assert!(costs.iter().all(Result::is_ok), "{costs:?}");
    let samples = rounds(&recorder) as u64 * 3;
    assert!(samples * 4 <= MAX_NUMBERS + 4 * 3 * SAMPLES_PER_EPOCH, "{samples} samples");
    assert!(samples * 4 > MAX_NUMBERS / 2, "{samples} samples");
}

#[test]
fn the_log_has_the_lines_of_highway() {
    let mut lines = Vec::new();
    let mut log = |line: fmt::Arguments| lines.push(line.to_string());
    let scenario = Scenario { noise: 0.0, step_ticks: 1.0, ..QUIET };
    let params = Params { seconds_per_eval: 1e-9, target_rel_mad: 1e-9, max_evals: 1, ..Params::default() };
    Recorder::new(scenario, &[100.0, 400.0], 9).measure_with_log(&params, Some(&mut log));
    // Eleven calls of 100 ticks are the first to take more than 1,024. Nothing costs half a tick.
    assert_eq!(lines[0], "res=63 max_skip=1024 min_dur=100 num_skip=11");
    assert_eq!(lines[1], "#inputs=   44,   33 overhead=   85,   80");
    assert!(lines[2].starts_with("     7 samples =>  1100 (abs_mad="), "{lines:?}");
    assert!(lines[3].starts_with("     7 samples =>  4400 (abs_mad="), "{lines:?}");
    assert!(lines[2].contains(", rel_mad=0.") && lines[2].ends_with("%)"), "{lines:?}");
    assert!(lines[4..].iter().all(|line| line.starts_with("WARNING: rel_mad=")), "{lines:?}");
    assert!(lines[4..].iter().all(|line| line.ends_with("% still exceeds 0.00% after      7 samples.")), "{lines:?}");
}
