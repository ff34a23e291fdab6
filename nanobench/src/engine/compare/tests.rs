//! Comparisons on a simulated machine: how often equal targets are told apart and unequal ones not, turns, budgets.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use super::*;
use crate::engine::simulation::{FOUR_INPUTS, Machine, QUIET, SCENARIOS, Scenario, Simulated, TICKS_PER_SECOND};
use crate::groups::Group;
use crate::target::Timed;

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

fn compare_targets<T: Target>(targets: &mut [T], config: &Config, machine: &Rc<RefCell<Machine>>) -> Comparison {
    let mut named: Vec<(&str, &mut dyn Target)> =
        NAMES.into_iter().zip(targets.iter_mut().map(|target| target as &mut dyn Target)).collect();
    compare(&mut named, Mode::Throughput, config, machine)
}

/// Compares functions without inputs whose calls take so many ticks.
fn compare_costs(scenario: Scenario, seed: u64, costs: &[f64], config: &Config) -> Comparison {
    let machine = Machine::new(scenario, seed);
    let mut targets: Vec<Simulated> = costs.iter().map(|&cost| Simulated::new(&machine, &[cost])).collect();
    compare_targets(&mut targets, config, &machine)
}

/// How often comparisons came out in which way, as shares.
#[derive(Clone, Copy, Debug, Default)]
struct Score {
    /// There was a fastest entry.
    decided: f64,
    /// Some entry differed from the first.
    significant: f64,
    /// The 95 % intervals contained the truth, all of them.
    covered: f64,
}

/// Compares functions of these costs on every simulated machine that a function without inputs has.
fn scores(costs: &[f64], comparisons: u64, config: &Config) -> Vec<(&'static str, Score)> {
    let score = |scenario| {
        let mut score = Score::default();
        for seed in 0..comparisons {
            let comparison = compare_costs(scenario, seed, costs, config);
            let is_covered = |(entry, cost): (&ComparisonEntry, &f64)| {
                (entry.relative_low..=entry.relative_high).contains(&(costs[0] / cost))
            };
            let add = |sum: &mut f64, holds: bool| *sum += f64::from(u8::from(holds)) / comparisons as f64;
            add(&mut score.decided, comparison.fastest().is_some());
            add(&mut score.significant, (0..costs.len()).any(|index| comparison.is_significant(index)));
            add(&mut score.covered, comparison.entries().iter().zip(costs).all(is_covered));
        }
        score
    };
    let scored: Vec<(&str, Score)> = std::thread::scope(|scope| {
        let running: Vec<_> = SCENARIOS
            .into_iter()
            .filter(|scenario| scenario.costs.len() == 1)
            .map(|scenario| (scenario.name, scope.spawn(move || score(scenario))))
            .collect();
        running.into_iter().map(|(name, score)| (name, score.join().unwrap())).collect()
    });
    for (name, score) in &scored {
        println!("{name}: {score:?}");
    }
    assert!(scored.len() >= 9, "the scenarios are gone");
    scored
}

#[track_caller]
fn assert_not_told_apart(costs: &[f64], comparisons: u64, config: &Config) {
    for (name, score) in scores(costs, comparisons, config) {
        assert!(score.decided <= 0.01 && score.significant <= 0.01 && score.covered >= 0.93, "{name}: {score:?}");
    }
}

#[test]
fn equal_targets_are_hardly_ever_told_apart() {
    assert_not_told_apart(&[12.3; 2], 2_000, &Config::default());
}

#[test]
fn what_the_predictor_happens_to_know_of_one_of_them_does_not_make_it_win() {
    let scenario = Scenario { learnt: 0.02, noise: 0.02, ..QUIET };
    let (mut decided, mut covered) = (0, 0);
    for seed in 0..300 {
        let machine = Machine::new(scenario, seed);
        let first = Simulated::new(&machine, FOUR_INPUTS);
        let second = Simulated::new(&machine, FOUR_INPUTS).learnt_behind(&first);
        let comparison = compare_targets(&mut [first, second], &Config::default(), &machine);
        decided += u32::from(comparison.fastest().is_some());
        let ComparisonEntry { relative_low, relative_high, .. } = comparison.entries()[1];
        covered += u32::from((relative_low..=relative_high).contains(&1.0));
    }
    // The two rounds of a block have what was learnt in common, so intervals are a little narrow. Without forgetting, 266 are decided
    // and 27 covered.
    assert!(decided <= 3 && covered >= 270, "{decided} decided and {covered} covered of 300");
}

#[test]
fn many_looks_do_not_find_a_difference_sooner_or_later() {
    let config = Config { precision: 1e-9, max_time: Duration::from_millis(5), ..Config::default() };
    assert_not_told_apart(&[12.3; 2], 1_000, &config);
}

#[test]
fn of_many_equal_targets_none_is_called_the_fastest() {
    assert_not_told_apart(&[12.3; 5], 500, &Config::default());
}

#[test]
fn a_difference_of_one_per_cent_is_found() {
    for (name, score) in scores(&[12.3 * 1.01, 12.3], 500, &Config::default()) {
        assert!(score.decided >= 0.98 && score.covered >= 0.93, "{name}: {score:?}");
    }
}

/// Passes samples on to another target, and takes note of them.
struct Observed<'a> {
    target: Simulated,
    name: &'static str,
    /// For each sample, of all targets, whose it was and how many calls it made.
    log: &'a RefCell<Vec<(&'static str, u64)>>,
    max_calls: u64,
    link_cycles: f64,
    /// What happens to the ticks of each sample, given the number of those before it.
    disturbance: fn(samples_before: usize, ticks: u64) -> u64,
    /// After which sample of all targets the program is stopped for a second.
    stop_after: usize,
    orders: Vec<Vec<u32>>,
}

impl<'a> Observed<'a> {
    fn new(
        name: &'static str,
        machine: &Rc<RefCell<Machine>>,
        costs: &[f64],
        log: &'a RefCell<Vec<(&'static str, u64)>>,
    ) -> Self {
        Self {
            target: Simulated::new(machine, costs),
            name,
            log,
            max_calls: u64::MAX,
            link_cycles: 0.0,
            disturbance: |_, ticks| ticks,
            stop_after: usize::MAX,
            orders: Vec::new(),
        }
    }
}

impl Target for Observed<'_> {
    fn groups(&self) -> &Groups {
        self.target.groups()
    }

    fn max_calls(&self) -> u64 {
        self.max_calls
    }

    fn sample_after(&mut self, timed: Timed, calls: u64, order: &[u32], gate: &mut dyn FnMut()) -> u64 {
        let samples_before = self.log.borrow().len();
        self.log.borrow_mut().push((self.name, calls));
        self.orders.push(order.to_vec());
        let ticks = self.target.sample_after(timed, calls, order, gate);
        if samples_before + 1 == self.stop_after {
            let calls = (TICKS_PER_SECOND / self.target.mean_cost()) as u64;
            self.target.sample_after(timed, calls, order, &mut || {});
        }
        (self.disturbance)(samples_before, ticks)
    }

    fn link_cycles(&self) -> f64 {
        self.link_cycles
    }
}

/// Without a metronome every round counts.
fn ungated() -> Scenario {
    Scenario { has_metronome: false, ..QUIET }
}

/// Runs until the time is up.
fn exhaustive() -> Config {
    Config { precision: 1e-9, max_time: Duration::from_millis(5), ..Config::default() }
}

#[test]
fn what_comes_second_in_a_round_may_be_slower_and_the_difference_is_still_found() {
    for seed in 0..50 {
        let machine = Machine::new(QUIET, seed);
        let log = RefCell::new(Vec::new());
        let mut targets = [("a", 1_010.0), ("b", 1_000.0)].map(|(name, cost)| Observed {
            disturbance: |before, ticks| if before % 2 == 1 { ticks + ticks * 3 / 100 } else { ticks },
            ..Observed::new(name, &machine, &[cost], &log)
        });
        let comparison = compare_targets(&mut targets, &Config::default(), &machine);
        assert_eq!(comparison.fastest().map(|entry| entry.name.as_str()), Some("b"), "{comparison:?}");
        assert!((comparison.entries()[1].relative - 1.01).abs() < 0.002, "{comparison:?}");
    }
}

#[test]
fn an_exact_number_of_calls_is_made_by_every_sample() {
    for warmup in [0, 50] {
        let machine = Machine::new(QUIET, 1);
        let log = RefCell::new(Vec::new());
        let mut targets = ["a", "b", "c"].map(|name| Observed::new(name, &machine, &[900.0], &log));
        let config = Config { epoch_iterations: 7, min_epoch_iterations: 20, warmup, ..exhaustive() };
        compare_targets(&mut targets, &config, &machine);
        let mut log = log.borrow().clone();
        if warmup > 0 {
            let warm: Vec<_> = log.drain(..3).collect();
            assert_eq!(warm, [("a", 50), ("b", 50), ("c", 50)]);
        }
        assert!(log.len() > 100 && log.iter().all(|&(_, calls)| calls == 7), "{log:?}");
    }
}

#[test]
fn a_sample_makes_no_fewer_calls_than_the_least_and_all_of_a_round_make_the_same() {
    let machine = Machine::new(ungated(), 1);
    let log = RefCell::new(Vec::new());
    let mut targets = [("a", 1e5), ("b", 3e5)].map(|(name, cost)| Observed::new(name, &machine, &[cost], &log));
    let config = Config { min_epoch_iterations: 20, ..exhaustive() };
    compare_targets(&mut targets, &config, &machine);
    for round in log.borrow().chunks_exact(2) {
        assert!(round[0].1 == round[1].1 && (20..=24).contains(&round[0].1), "{round:?}");
    }
}

#[test]
fn targets_take_turns_in_whole_blocks_of_balanced_order() {
    for entries in 2..=5 {
        let machine = Machine::new(ungated(), 1);
        let log = RefCell::new(Vec::new());
        let mut targets: Vec<Observed> =
            NAMES[..entries].iter().map(|name| Observed::new(name, &machine, &[1_000.0], &log)).collect();
        let config = Config { epoch_iterations: 25, ..exhaustive() };
        let comparison = compare_targets(&mut targets, &config, &machine);
        let mut block: Vec<Vec<&str>> =
            williams::block(entries).iter().map(|turns| turns.iter().map(|&entry| NAMES[entry]).collect()).collect();
        block.sort();
        assert!(comparison.rounds() >= 100 && comparison.rounds() % block.len() as u64 == 0, "{comparison:?}");
        let names: Vec<&str> = log.borrow().iter().map(|&(name, _)| name).collect();
        let rounds: Vec<Vec<&str>> = names.chunks_exact(entries).map(<[&str]>::to_vec).collect();
        let mut orders = std::collections::HashSet::new();
        for rounds in rounds[..comparison.rounds() as usize].chunks(block.len()) {
            orders.insert(rounds.to_vec());
            let mut sorted = rounds.to_vec();
            sorted.sort();
            assert_eq!(sorted, block);
        }
        assert!(orders.len() > 1, "the rounds of a block come in random order");
    }
}

#[test]
fn a_block_that_the_time_did_not_suffice_for_does_not_count_unless_it_is_the_only_one() {
    for (stop_after, rounds) in [(1, 1), (2, 1), (3, 1), (40, 20), (41, 20), (42, 20), (43, 20), (44, 22)] {
        let machine = Machine::new(ungated(), 1);
        let log = RefCell::new(Vec::new());
        let mut targets =
            ["a", "b"].map(|name| Observed { stop_after, ..Observed::new(name, &machine, &[1_000.0], &log) });
        let config = Config { epoch_iterations: 25, ..exhaustive() };
        let comparison = compare_targets(&mut targets, &config, &machine);
        assert_eq!(comparison.rounds(), rounds, "stopped after {stop_after} samples");
    }
}

#[test]
fn the_cheapest_target_takes_as_long_as_the_clock_needs() {
    let machine = Machine::new(QUIET, 1);
    let log = RefCell::new(Vec::new());
    let mut targets = [("a", 50.0), ("b", 10.0)].map(|(name, cost)| Observed::new(name, &machine, &[cost], &log));
    compare_targets(&mut targets, &Config::default(), &machine);
    // The clock's cost of 63.4 ticks is its resolution.
    let calls = log.borrow().last().unwrap().1;
    assert!((6_300..=7_700).contains(&calls), "{calls}");
}

#[test]
fn a_target_that_is_much_slower_leaves_time_for_many_rounds() {
    let comparison = compare_costs(ungated(), 1, &[20_000.0, 10.0], &exhaustive());
    assert!((70..=110).contains(&comparison.rounds()), "{comparison:?}");
    assert!((comparison.entries()[1].relative / 2_000.0 - 1.0).abs() < 0.03, "{comparison:?}");
    assert!(comparison.fastest().is_some());
}

#[test]
fn a_block_takes_no_longer_than_the_longest_epoch_and_no_less_than_the_shortest() {
    let block_ticks = |config: &Config| {
        let machine = Machine::new(QUIET, 1);
        let log = RefCell::new(Vec::new());
        let mut targets = ["a", "b"].map(|name| Observed::new(name, &machine, &[10.0], &log));
        compare_targets(&mut targets, config, &machine);
        4.0 * 10.0 * log.borrow().last().unwrap().1 as f64
    };
    let ticks = |microseconds: f64| microseconds * 1e-6 * TICKS_PER_SECOND;
    let short =
        Config { min_epoch_time: Duration::ZERO, max_epoch_time: Duration::from_micros(20), ..Config::default() };
    let found = block_ticks(&short);
    assert!((0.95..1.25).contains(&(found / ticks(20.0))), "{found}");
    let found = block_ticks(&Config { min_epoch_time: Duration::from_micros(400), ..short });
    assert!((0.95..1.25).contains(&(found / ticks(400.0))), "{found}");
}

#[test]
fn one_slow_reading_does_not_fool_the_search_for_the_number_of_calls() {
    let calls_after = |disturbance: fn(usize, u64) -> u64| {
        let machine = Machine::new(QUIET, 1);
        let log = RefCell::new(Vec::new());
        let mut targets =
            ["a", "b"].map(|name| Observed { disturbance, ..Observed::new(name, &machine, &[10.0], &log) });
        compare_targets(&mut targets, &Config::default(), &machine);
        log.borrow().last().unwrap().1
    };
    let usual = calls_after(|_, ticks| ticks);
    let slow_by_a_millisecond: [fn(usize, u64) -> u64; 4] = [
        |before, ticks| if before < 2 { ticks + 2_600_000 } else { ticks },
        |before, ticks| if (2..4).contains(&before) { ticks + 2_600_000 } else { ticks },
        |before, ticks| if (4..6).contains(&before) { ticks + 2_600_000 } else { ticks },
        |before, ticks| if before == 8 { ticks + 2_600_000 } else { ticks },
    ];
    for disturbance in slow_by_a_millisecond {
        let calls = calls_after(disturbance) as f64;
        assert!((0.75..1.3).contains(&(calls / usual as f64)), "{calls} instead of {usual}");
    }
}

#[test]
fn slow_calls_are_compared_one_by_one() {
    let millisecond = 1e-3 * TICKS_PER_SECOND;
    let comparison = compare_costs(ungated(), 1, &[1.2 * millisecond, millisecond], &Config::default());
    assert_eq!(comparison.fastest().map(|entry| entry.name.as_str()), Some("b"), "{comparison:?}");
    assert!((comparison.entries()[1].nanoseconds / 1e6 - 1.0).abs() < 0.01, "{comparison:?}");
}

#[test]
fn too_few_rounds_for_an_interval_resolve_nothing() {
    let comparison = compare_costs(QUIET, 1, &[0.04 * TICKS_PER_SECOND, 0.02 * TICKS_PER_SECOND], &Config::default());
    assert!(comparison.rounds() <= 2, "{comparison:?}");
    assert!(comparison.fastest().is_none() && !comparison.is_significant(1), "{comparison:?}");
    let entry = &comparison.entries()[1];
    assert!((entry.relative - 2.0).abs() < 0.1, "{entry:?}");
    assert_eq!((entry.relative_low, entry.relative_high), (0.0, f64::INFINITY));
    assert!(comparison.verdict().starts_with("no difference resolved between `a` and `b`\nratio 2."), "{comparison:?}");
}

#[test]
fn a_comparison_takes_no_longer_than_its_budget_and_one_call() {
    for call_ms in [0.001, 0.3, 3.0, 15.0, 30.0, 300.0] {
        for entries in 2..=4 {
            let machine = Machine::new(QUIET, 3);
            let mut targets: Vec<Simulated> =
                (0..entries).map(|_| Simulated::new(&machine, &[call_ms * 1e-3 * TICKS_PER_SECOND])).collect();
            let config = Config { precision: 1e-9, ..Config::default() };
            let begin_ticks = machine.now_ticks();
            let comparison = compare_targets(&mut targets, &config, &machine);
            let spent_ms = (machine.now_ticks() - begin_ticks) as f64 / TICKS_PER_SECOND * 1e3;
            assert!(comparison.rounds() > 0);
            // One call of each, to find out what they cost, and one round are made in any case.
            let count = entries as f64;
            let limit_ms = f64::max(50.0 * count + call_ms, 2.0 * count * call_ms) * 1.02;
            assert!(spent_ms <= limit_ms, "{entries} targets of {call_ms} ms a call: {spent_ms} ms");
        }
    }
}

#[test]
fn what_the_clock_cannot_tell_apart_is_tied_and_not_resolved() {
    for (cost, config) in [
        (0.5, Config { epoch_iterations: 1, ..exhaustive() }),
        (0.0, Config { max_time: Duration::from_millis(1), ..Config::default() }),
    ] {
        let comparison = compare_costs(Scenario { step_ticks: 1_000.0, ..QUIET }, 1, &[cost, cost], &config);
        let entry = &comparison.entries()[1];
        assert!(entry.tied_rounds > 0 && entry.tied_rounds == comparison.rounds(), "{comparison:?}");
        assert!(comparison.fastest().is_none());
        assert!(entry.relative_low < 0.6 && entry.relative_high > 1.8, "a step is all that is known: {entry:?}");
        assert!(comparison.verdict().ends_with("rounds tied at the clock's resolution"), "{}", comparison.verdict());
    }
}

#[test]
fn a_sample_that_is_too_large_for_a_target_is_made_in_several_passes() {
    let machine = Machine::new(QUIET, 1);
    let log = RefCell::new(Vec::new());
    let mut targets = [("a", 10.0, 256), ("b", 12.0, u64::MAX)]
        .map(|(name, cost, max_calls)| Observed { max_calls, ..Observed::new(name, &machine, &[cost], &log) });
    let comparison = compare_targets(&mut targets, &Config::default(), &machine);
    assert!(log.borrow().iter().all(|&(name, calls)| name == "b" || calls <= 256));
    assert!((comparison.entries()[1].relative - 10.0 / 12.0).abs() < 0.01, "{comparison:?}");
}

#[test]
fn inputs_come_as_often_as_they_are_frequent_and_never_in_the_same_order() {
    let machine = Machine::new(QUIET, 1);
    let log = RefCell::new(Vec::new());
    let mut targets = ["a", "b"].map(|name| Observed::new(name, &machine, &[10.0, 30.0, 20.0], &log));
    let comparison = compare_targets(&mut targets, &Config::default(), &machine);
    assert!((comparison.entries()[0].nanoseconds * TICKS_PER_SECOND / 1e9 / 20.0 - 1.0).abs() < 0.01);
    let orders: Vec<&Vec<u32>> =
        targets.iter().flat_map(|target| &target.orders).filter(|order| order.len() > 100).collect();
    for order in &orders {
        for input in 0..3 {
            let count = order.iter().filter(|&&other| other == input).count();
            assert!(count.abs_diff(order.len() / 3) <= 1, "input {input}: {count} of {}", order.len());
        }
    }
    assert!(orders.windows(2).all(|pair| pair[0][..50] != pair[1][..50]));
    let group = |input: u32| Group { label: input.to_string(), members: vec![input] };
    assert_eq!(*targets[0].groups(), Groups::Each((0..3).map(group).collect()));
}

#[test]
fn the_link_of_a_latency_is_not_part_of_the_cost() {
    let machine = Machine::new(QUIET, 1);
    let log = RefCell::new(Vec::new());
    // 0.72 ticks are a cycle.
    let mut targets = [("a", 8.0), ("b", 4.0)].map(|(name, cycles)| Observed {
        link_cycles: 2.0,
        ..Observed::new(name, &machine, &[(cycles + 2.0) * 0.72], &log)
    });
    let mut named: Vec<(&str, &mut dyn Target)> =
        NAMES.into_iter().zip(targets.iter_mut().map(|target| target as &mut dyn Target)).collect();
    let comparison = compare(&mut named, Mode::Latency, &Config::default(), &machine);
    assert!((comparison.entries()[1].relative - 2.0).abs() < 0.02, "{comparison:?}");
}

#[test]
fn a_metronome_that_makes_no_sense_is_none() {
    let comparison =
        compare_costs(Scenario { adds_are_free: true, ..QUIET }, 1, &[12.3 * 1.02, 12.3], &Config::default());
    assert_eq!(comparison.fastest().map(|entry| entry.name.as_str()), Some("b"), "{comparison:?}");
}

#[test]
fn figures_are_per_unit_of_work() {
    let config = Config { batch: 10.0, unit: "byte".into(), ..Config::default() };
    let comparison = compare_costs(QUIET, 1, &[2_600.0, 1_300.0], &config);
    assert!((comparison.entries()[0].nanoseconds / 100.0 - 1.0).abs() < 0.01, "{comparison:?}");
    assert!((comparison.entries()[1].nanoseconds / 50.0 - 1.0).abs() < 0.01, "{comparison:?}");
    assert_eq!(comparison.unit, "byte");
    let total_seconds = comparison.entries()[0].total_seconds;
    assert!(total_seconds > 0.0004 && total_seconds < 0.1, "{total_seconds}");
}

#[test]
#[should_panic(expected = "at least two entries")]
fn one_target_is_not_a_comparison() {
    compare_costs(QUIET, 1, &[12.3], &Config::default());
}

/// What a look makes of rounds of two targets, each given as the additions per cycle beside it and the ticks of both.
fn look_at(rounds: &[(f64, [f64; 2])], look: impl Fn(&Run) -> Look) -> Look {
    let machine = Machine::new(QUIET, 1);
    let mut targets = [Simulated::new(&machine, &[1.0]), Simulated::new(&machine, &[1.0])];
    let mut named: Vec<(&str, &mut dyn Target)> =
        NAMES.into_iter().zip(targets.iter_mut().map(|target| target as &mut dyn Target)).collect();
    let config = Config::default();
    let mut run = Run::new(&mut named, Mode::Throughput, &config, &machine);
    run.rounds = rounds
        .iter()
        .map(|&(adds_per_cycle, ticks)| {
            let beside = Beside { add_cycles: 1.0 / adds_per_cycle, chain_cycles: 61.0 };
            Round { calls: 1, ticks: ticks.to_vec(), beside: Some(beside) }
        })
        .collect();
    look(&run)
}

#[test]
fn rounds_during_which_the_core_was_shared_do_not_count() {
    let quiet = (4.0, [2e5, 1e5]);
    let shared = (2.0, [3e5, 3e5]);
    let mixed = [vec![quiet; 40], vec![shared; 60]].concat();
    let look = look_at(&mixed, |run| run.look(0.005));
    assert!((look.lead.log.exp() - 2.0).abs() < 1e-9 && look.lead.direction.is_gt());
    // If nearly all are like that, all of them have to do.
    let mostly_shared = [vec![quiet; 10], vec![shared; 90]].concat();
    let look = look_at(&mostly_shared, |run| run.look(0.005));
    assert!(look.relative[1].ties > 0);
}

#[test]
fn several_ratios_share_the_probability_of_error() {
    // 16 rounds that all point the same way happen by chance once in 32,768 times.
    let rounds = vec![(4.0, [2e5, 1e5]); 16];
    let least = 2.0_f64.powi(-15);
    assert!(look_at(&rounds, |run| run.look(least)).lead.direction.is_gt());
    assert!(look_at(&rounds, |run| run.look(least * 0.99)).lead.direction.is_eq());
    // So the intervals that are shown of many targets are wider than that of two.
    let width = |entries: usize| {
        let comparison = compare_costs(QUIET, 1, &vec![12.3; entries], &exhaustive());
        let entry = &comparison.entries()[1];
        (entry.relative_high - entry.relative_low) * (comparison.rounds() as f64).sqrt()
    };
    let ratio = width(5) / width(2);
    assert!((1.1..1.5).contains(&ratio), "2.50 standard errors instead of 1.96: {ratio}");
}

#[test]
fn the_looks_together_have_no_more_error_than_there_is() {
    let mut budget = ErrorBudget::new(0.005);
    let spent: f64 = (0..30).map(|_| budget.early_look()).sum();
    assert!(spent < 0.0025 && (spent + budget.left - 0.005).abs() < 1e-12, "{spent}, {}", budget.left);
    assert_eq!(ErrorBudget::new(0.005).left, 0.005, "a single look has all of it");
}

#[test]
fn calls_that_are_longer_than_the_budget_have_one_round() {
    let machine = Machine::new(QUIET, 1);
    let log = RefCell::new(Vec::new());
    let mut targets = ["a", "b", "c"].map(|name| Observed::new(name, &machine, &[TICKS_PER_SECOND], &log));
    let comparison = compare_targets(&mut targets, &Config::default(), &machine);
    assert_eq!((comparison.rounds(), log.borrow().len()), (1, 6), "one call of each for its cost, and a round");
}
