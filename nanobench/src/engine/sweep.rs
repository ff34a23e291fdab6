//! What a call costs when a sample makes 1, 10, 100, ... of them, with nothing subtracted.
//!
//! With one call a sample, what one sees is mostly the clock. Its part shrinks as the calls grow in number, and from some
//! number on the figures stop changing: that is what a call costs, and that many calls a sample needs. More are of no use,
//! since a longer sample is also more often interrupted.
//!
//! The empty loop stands beside the function to show what the calls themselves cost. Nobody may subtract it: where a
//! processor works on several things at once, costs do not add.

use std::time::Duration;

use nanobench_timer::robust::half_sample_mode;

use super::cold::{Cold, Eviction};
use super::metronome;
use super::readings::Pulse;
use super::record::LONGEST_GATED_SECONDS;
use crate::clock::{Clock, ClockFacts, Metronome};
use crate::config::Config;
use crate::groups::Groups;
use crate::measurement::{Figure, Interval, Sweep, SweepEnd, SweepRow};
use crate::rng::Rng;
use crate::stats::{self, dominant_mean};
use crate::target::{Mode, Target, Timed};

/// The samples of each series in a row, if there is time for them, without those during which the core was shared; and how many
/// there are at most with those.
const ROUNDS: usize = 64;
const MAX_ROUNDS: usize = 16 * ROUNDS;

/// The samples of a row are divided into so many batches, whose scatter gives the interval.
const BATCHES: usize = 8;

/// With fewer samples than three in a batch there is no interval: one of two that was disturbed could not be told.
const MIN_ROUNDS: usize = 3 * BATCHES;

/// From one row to the next the calls grow by this.
const DECADE: u64 = 10;

/// The last row takes as many calls as the target allows, unless that is hardly more than the row before has: then the two
/// would agree without saying much.
const MIN_GROWTH: u64 = 2;

/// How many times as many calls as a sample of a measurement may have one of a sweep: the queue of its inputs then takes a megabyte,
/// which arrives before it is needed, since it is read from one end to the other.
const QUEUE_GROWTH: u64 = 16;

/// How long a row may take, where nobody said how long a benchmark may: on a machine with neighbours, long samples of which none got
/// in the way take some waiting.
const DEFAULT_MAX_TIME: Duration = Duration::from_millis(200);

/// Times `target` in `modes`, and its empty loop, with more and more calls in a sample.
pub(crate) fn sweep(target: &mut dyn Target, modes: &[Mode], config: &Config, clock: &dyn Clock) -> Sweep {
    if !config.cold {
        return sweep_calls(target, modes, config, clock);
    }
    let eviction = Eviction::new();
    let evict = || eviction.run();
    let settings = eviction.settings(config);
    Sweep { end: SweepEnd::Cold, ..sweep_calls(&mut Cold::new(target, &evict), modes, &settings, clock) }
}

/// The same for a target that has already been made cold if it has to be.
fn sweep_calls(target: &mut dyn Target, modes: &[Mode], config: &Config, clock: &dyn Clock) -> Sweep {
    let functions = modes.iter().map(|mode| Timed::Function(*mode));
    let series: Vec<Timed> = functions.chain(std::iter::once(Timed::EmptyLoop)).collect();
    // The positions of the inputs are 32 bits wide, and an order of more of them would not fit into memory.
    let max_calls = target.max_calls().saturating_mul(QUEUE_GROWTH).min(u64::from(u32::MAX));
    let begin_ticks = clock.now_ticks();
    let mut run = Run {
        target,
        clock,
        metronome: metronome(config, clock),
        facts: clock.facts(),
        row_begin_ticks: begin_ticks,
        budget_ticks: clock.facts().ticks(if config.is_max_time_set() { config.max_time } else { DEFAULT_MAX_TIME }),
        rng: Rng::new(begin_ticks),
        order: Vec::new(),
        usual_pulse: Pulse::WORST,
        series,
    };
    run.warm_up(config.warmup, max_calls);
    let mut rows: Vec<SweepRow> = Vec::new();
    let mut calls = 1;
    let end = loop {
        let Some((row, rounds)) = run.row(calls, rows.is_empty()) else { break SweepEnd::OutOfTime };
        rows.push(row);
        if let [.., before, last] = rows.as_slice() {
            if agree(&run.series, before, last, config.precision) {
                break SweepEnd::Agreement;
            }
        }
        let Some(next) = next_calls(calls, max_calls) else { break SweepEnd::OutOfCalls };
        // A round takes at most as many times longer as it makes more calls. A row that could not be finished is not begun.
        let round_ticks = run.spent_ticks() / rounds as f64 * (next as f64 / calls as f64);
        if run.budget_ticks < round_ticks * MIN_ROUNDS as f64 {
            break SweepEnd::OutOfTime;
        }
        calls = next;
        run.row_begin_ticks = clock.now_ticks();
    };
    Sweep { series: run.series, rows, end }
}

/// The calls of the row after one with `calls`; none if it is the last.
fn next_calls(calls: u64, max_calls: u64) -> Option<u64> {
    let next = calls.saturating_mul(DECADE).min(max_calls);
    (next >= calls.saturating_mul(MIN_GROWTH)).then_some(next)
}

/// Whether two rows show the same costs: within their intervals, or within the precision that is asked of a measurement.
///
/// Intervals wider than those of a stable figure do not count: they overlap whatever the costs are.
fn agree(series: &[Timed], before: &SweepRow, last: &SweepRow, precision: f64) -> bool {
    let change_and_tolerance = |(a, b): (&Option<Figure>, &Option<Figure>)| {
        let (a, b) = (a.as_ref()?, b.as_ref()?);
        let overlap = a.half_width()? + b.half_width()?;
        Some(((a.value - b.value).abs(), overlap.max(precision * b.value)))
    };
    let changes: Option<Vec<(f64, f64)>> =
        before.nanoseconds.iter().zip(&last.nanoseconds).map(change_and_tolerance).collect();
    let Some(changes) = changes else { return false };
    // What the empty loop changes by is of no account where the figures of the function could not show it.
    let functions = || series.iter().zip(&changes).filter(|(series, _)| **series != Timed::EmptyLoop);
    let visible = functions().map(|(_, &(_, tolerance))| tolerance).fold(f64::INFINITY, f64::min);
    series.iter().zip(&changes).enumerate().all(|(index, (series, &(change, tolerance)))| match series {
        Timed::Function(_) => change <= tolerance && before.is_stable(index) && last.is_stable(index),
        Timed::EmptyLoop => change <= tolerance.max(visible),
    })
}

/// The state of a sweep.
struct Run<'a> {
    target: &'a mut dyn Target,
    clock: &'a dyn Clock,
    metronome: Option<&'a dyn Metronome>,
    facts: ClockFacts,
    row_begin_ticks: u64,
    /// How long a row may take.
    budget_ticks: f64,
    rng: Rng,
    order: Vec<u32>,
    /// What the metronomes said in the best tenth of the best row so far.
    usual_pulse: Pulse,
    series: Vec<Timed>,
}

/// A sample, and the worse of the two readings beside it.
#[derive(Clone, Copy)]
struct Sample {
    ticks: f64,
    pulse: Pulse,
}

impl Run<'_> {
    /// How long the row has taken so far.
    fn spent_ticks(&self) -> f64 {
        self.clock.now_ticks().saturating_sub(self.row_begin_ticks) as f64
    }

    fn left_ticks(&self) -> f64 {
        self.budget_ticks - self.spent_ticks()
    }

    fn warm_up(&mut self, mut calls: u64, max_calls: u64) {
        while calls > 0 && self.left_ticks() > 0.0 {
            let some = calls.min(max_calls);
            self.sample(self.series[0], some);
            calls -= some;
        }
    }

    /// The costs with `calls` calls in a sample, and from how many samples of each series; none if the time is over before
    /// there are enough for an interval. The first row has to make do with what there is.
    fn row(&mut self, calls: u64, is_first: bool) -> Option<(SweepRow, usize)> {
        let mut samples: Vec<Vec<Sample>> = vec![Vec::with_capacity(ROUNDS); self.series.len()];
        // The series take turns, so that what changes about the machine meanwhile concerns them all.
        'rounds: for round in 0..MAX_ROUNDS {
            if round >= ROUNDS && round % (ROUNDS / 4) == 0 {
                self.look_at_pulses(&samples);
                if samples.iter().all(|samples| self.quiet(samples).count() >= ROUNDS) {
                    break;
                }
            }
            let mut pulse = self.pulse();
            for (index, samples) in samples.iter_mut().enumerate() {
                let is_very_first = is_first && round == 0 && index == 0;
                if self.left_ticks() <= 0.0 && !is_very_first {
                    break 'rounds;
                }
                let ticks = self.sample(self.series[index], calls);
                let before = std::mem::replace(&mut pulse, self.pulse());
                samples.push(Sample { ticks, pulse: before.max(pulse) });
            }
        }
        let rounds = samples.iter().map(Vec::len).min().unwrap_or(0);
        if rounds < MIN_ROUNDS && !is_first {
            return None;
        }
        self.look_at_pulses(&samples);
        let nanoseconds = samples.iter().map(|samples| self.figure(samples, calls)).collect();
        Some((SweepRow { calls, nanoseconds }, rounds.max(1)))
    }

    /// Learns what the metronomes say when the core is not shared: what they said in the best tenth of a row.
    fn look_at_pulses(&mut self, samples: &[Vec<Sample>]) {
        let pulses: Vec<Pulse> = samples.iter().flatten().map(|sample| sample.pulse).collect();
        self.usual_pulse = self.usual_pulse.min(Pulse::best_tenth(&pulses));
    }

    /// What the samples took beside which the core was not shared. That says little about a sample which is longer than
    /// disturbances are, but more than nothing.
    fn quiet<'a>(&self, samples: &'a [Sample]) -> impl Iterator<Item = f64> + 'a {
        let usual = self.usual_pulse;
        samples.iter().filter(move |sample| sample.pulse.is_near(usual)).map(|sample| sample.ticks)
    }

    /// What the metronomes say now; nothing where there are none.
    fn pulse(&self) -> Pulse {
        self.metronome.map_or(Pulse::NONE, |metronome| Pulse::read(metronome, &self.facts))
    }

    fn sample(&mut self, timed: Timed, calls: u64) -> f64 {
        order(self.target.groups(), calls, &mut self.order, &mut self.rng);
        self.target.sample_after(timed, calls, &self.order, &mut || {}) as f64
    }

    /// The cost of a call by samples of `calls` calls; none if there are none.
    fn figure(&self, samples: &[Sample], calls: u64) -> Option<Figure> {
        let scale = 1e9 / self.facts.ticks_per_second / calls as f64;
        let mut ticks: Vec<f64> = self.quiet(samples).collect();
        if ticks.len() < MIN_ROUNDS {
            ticks = samples.iter().map(|sample| sample.ticks).collect();
        }
        if ticks.is_empty() {
            return None;
        }
        let step = self.facts.step_ticks;
        let longest_gated_ticks = LONGEST_GATED_SECONDS * self.facts.ticks_per_second;
        let location = if stats::median(&mut ticks.clone()) > longest_gated_ticks { mode } else { dominant_mean };
        let batch_means: Vec<f64> = batches(&ticks).map(|batch| location(&mut batch.to_vec(), step)).collect();
        let value = location(&mut ticks, step) * scale;
        let half_width = (ticks.len() >= MIN_ROUNDS).then(|| {
            // A reading is off by up to a step even where all of them are the same.
            let rounding_variance = step * step / 12.0 / ticks.len() as f64;
            let variance = variance_of_mean(&batch_means) + rounding_variance;
            stats::student_t_95(BATCHES as f64 - 1.0) * variance.sqrt() * scale
        });
        let interval = half_width.map(|half_width| Interval { low: value - half_width, high: value + half_width });
        Some(Figure { value, interval })
    }
}

/// Where samples are closest together. Disturbances hide in long ones, each of which they make longer by another amount.
fn mode(samples: &mut [f64], _step: f64) -> f64 {
    let mut ticks: Vec<u64> = samples.iter().map(|&ticks| ticks as u64).collect();
    ticks.sort_unstable();
    half_sample_mode(&ticks) as f64
}

/// Divides the samples into [`BATCHES`] runs of successive ones, as equal as can be; empty ones are left out.
fn batches(ticks: &[f64]) -> impl Iterator<Item = &[f64]> {
    let end = |batch: usize| ticks.len() * batch / BATCHES;
    (0..BATCHES).map(move |batch| &ticks[end(batch)..end(batch + 1)]).filter(|batch| !batch.is_empty())
}

fn variance_of_mean(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0) / count
}

/// Fills `order` with the inputs of one sample: each as often as it is frequent, to within one call, in random order.
///
/// Unlike those of a measurement, samples need not differ in their inputs, since no cost of a single input is asked for; so
/// they do not, which makes the figures scatter less.
pub(super) fn order(groups: &Groups, calls: u64, order: &mut Vec<u32>, rng: &mut Rng) {
    order.clear();
    let inputs = match groups {
        Groups::NoInputs => return,
        Groups::Mix { inputs, .. } => *inputs,
        Groups::Each(groups) => groups.iter().map(|group| group.members.len()).sum(),
    };
    let offset = rng.uniform01();
    let stride = inputs as f64 / calls as f64;
    order.extend((0..calls).map(|call| (((call as f64 + offset) * stride) as u32).min(inputs as u32 - 1)));
    rng.shuffle(order);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::groups::Group;
    use std::cell::Cell;
    use std::rc::Rc;

    /// One tick is one nanosecond.
    const FACTS: ClockFacts = ClockFacts { ticks_per_second: 1e9, step_ticks: 10.0, pair_cost_ticks: 25.0 };

    const EMPTY_LOOP_TICKS: f64 = 0.25;

    /// The time of a simulated machine. Readings are multiples of the clock's step.
    #[derive(Clone, Default)]
    struct Time(Rc<Cell<f64>>);

    impl Time {
        fn advance(&self, ticks: f64) {
            self.0.set(self.0.get() + ticks);
        }

        fn read(&self) -> u64 {
            ((self.0.get() / FACTS.step_ticks).floor() * FACTS.step_ticks) as u64
        }
    }

    impl Clock for Time {
        fn now_ticks(&self) -> u64 {
            self.read()
        }

        fn facts(&self) -> ClockFacts {
            FACTS
        }
    }

    /// A target whose calls take a known time.
    struct Simulated {
        time: Time,
        groups: Groups,
        max_calls: u64,
        throughput_ticks: f64,
        latency_ticks: f64,
        rng: Rng,
        longest_ticks: f64,
    }

    impl Simulated {
        fn new(time: &Time, throughput_ticks: f64) -> Self {
            Self {
                time: time.clone(),
                groups: Groups::NoInputs,
                max_calls: u64::MAX,
                throughput_ticks,
                latency_ticks: 4.0 * throughput_ticks,
                rng: Rng::new(1),
                longest_ticks: 0.0,
            }
        }
    }

    impl Target for Simulated {
        fn groups(&self) -> &Groups {
            &self.groups
        }

        fn max_calls(&self) -> u64 {
            self.max_calls
        }

        fn sample_after(&mut self, timed: Timed, calls: u64, order: &[u32], gate: &mut dyn FnMut()) -> u64 {
            gate();
            assert!(calls <= self.max_calls.saturating_mul(QUEUE_GROWTH));
            assert_eq!(order.len() as u64, if self.groups == Groups::NoInputs { 0 } else { calls });
            let call_ticks = match timed {
                Timed::Function(Mode::Throughput) => self.throughput_ticks,
                Timed::Function(Mode::Latency) => self.latency_ticks,
                Timed::EmptyLoop => EMPTY_LOOP_TICKS,
            };
            // Something goes on between two samples, so that they start anywhere within a step of the clock.
            self.time.advance(20.0 + FACTS.step_ticks * self.rng.uniform01());
            let start = self.time.read();
            let ticks = calls as f64 * call_ticks * (1.0 + 0.004 * (self.rng.uniform01() - 0.5));
            self.time.advance(FACTS.pair_cost_ticks + ticks);
            self.longest_ticks = self.longest_ticks.max(ticks);
            self.time.read() - start
        }
    }

    const BOTH: &[Mode] = &[Mode::Throughput, Mode::Latency];

    fn config(max_time: Duration) -> Config {
        Config { max_time, precision: 0.002, ..Config::default() }
    }

    fn sweep_of(function: &mut Simulated, modes: &[Mode], max_time: Duration) -> Sweep {
        let time = function.time.clone();
        sweep(function, modes, &config(max_time), &time)
    }

    fn calls(sweep: &Sweep) -> Vec<u64> {
        sweep.rows.iter().map(|row| row.calls).collect()
    }

    #[track_caller]
    fn assert_near(found: f64, expected: f64, share: f64) {
        assert!((found / expected - 1.0).abs() < share, "{found} instead of {expected}");
    }

    #[test]
    fn one_call_shows_the_clock_and_many_show_the_true_cost() {
        let sweep = sweep_of(&mut Simulated::new(&Time::default(), 1.5), BOTH, Duration::from_secs(1));
        let costs = |row: &SweepRow| row.nanoseconds.iter().flatten().map(|figure| figure.value).collect::<Vec<_>>();
        for (found, cost) in costs(&sweep.rows[0]).iter().zip([1.5, 6.0, EMPTY_LOOP_TICKS]) {
            assert_near(*found, FACTS.pair_cost_ticks + cost, 0.05);
        }
        for (found, cost) in costs(sweep.rows.last().unwrap()).iter().zip([1.5, 6.0, EMPTY_LOOP_TICKS]) {
            assert_near(*found, cost, 0.01);
        }
        let both = [Timed::Function(Mode::Throughput), Timed::Function(Mode::Latency), Timed::EmptyLoop];
        assert_eq!(sweep.series, both);
    }

    #[test]
    fn a_sweep_ends_with_two_rows_that_agree() {
        let sweep = sweep_of(&mut Simulated::new(&Time::default(), 1.5), BOTH, Duration::from_secs(9));
        assert_eq!(sweep.end, SweepEnd::Agreement);
        let last = sweep.rows.len() - 1;
        assert_eq!(sweep.agree_from_calls(), Some(sweep.rows[last - 1].calls));
        let config = config(Duration::from_secs(9));
        for rows in sweep.rows.windows(2) {
            let is_last = rows[1] == sweep.rows[last];
            assert_eq!(agree(&sweep.series, &rows[0], &rows[1], config.precision), is_last, "{sweep:?}");
            assert_eq!(rows[1].calls, 10 * rows[0].calls);
        }
        assert!(last >= 3, "the clock's part is still 1.7 % with 1,000 calls: {sweep:?}");
    }

    #[test]
    fn a_slower_function_needs_fewer_calls() {
        let from = |ticks| {
            let function = &mut Simulated::new(&Time::default(), ticks);
            sweep_of(function, &[Mode::Throughput], Duration::from_secs(9)).agree_from_calls().unwrap()
        };
        assert_eq!(from(1e5), 1);
        assert!(from(1e3) < from(1.0));
    }

    fn figure(value: f64, half_width: f64) -> Figure {
        Figure { value, interval: Some(Interval { low: value - half_width, high: value + half_width }) }
    }

    fn rows_agree(before: [Figure; 2], last: [Figure; 2]) -> bool {
        let row = |calls, figures: [Figure; 2]| SweepRow { calls, nanoseconds: figures.map(Some).to_vec() };
        agree(&[Timed::Function(Mode::Throughput), Timed::EmptyLoop], &row(10, before), &row(100, last), 0.01)
    }

    #[test]
    fn rows_agree_if_intervals_overlap_or_the_precision_is_reached() {
        let empty = figure(1.0, 0.1);
        assert!(rows_agree([figure(104.0, 2.5), empty], [figure(100.0, 2.0), empty]));
        assert!(!rows_agree([figure(104.0, 2.5), empty], [figure(100.0, 1.0), empty]));
        assert!(rows_agree([figure(100.9, 0.0), empty], [figure(100.0, 0.0), empty]));
        assert!(!rows_agree([figure(101.1, 0.0), empty], [figure(100.0, 0.0), empty]));
        assert!(!rows_agree([Figure { value: 100.0, interval: None }, empty], [figure(100.0, 1.0), empty]));
    }

    #[test]
    fn wide_intervals_are_no_agreement() {
        let empty = figure(1.0, 0.1);
        assert!(!rows_agree([figure(101.0, 6.0), empty], [figure(100.0, 4.0), empty]));
        assert!(!rows_agree([figure(101.0, 4.0), empty], [figure(100.0, 6.0), empty]));
        assert!(rows_agree([figure(101.0, 4.0), empty], [figure(100.0, 4.0), empty]));
    }

    #[test]
    fn an_empty_loop_that_still_changes_matters_where_the_function_could_show_it() {
        let empty = [figure(25.0, 0.1), figure(2.5, 0.1)];
        assert!(!rows_agree([figure(100.0, 5.0), empty[0]], [figure(100.0, 5.0), empty[1]]));
        assert!(rows_agree([figure(1e4, 50.0), empty[0]], [figure(1e4, 50.0), empty[1]]));
    }

    #[test]
    fn disturbances_that_hide_in_most_of_the_long_samples_do_not_bend_the_figure() {
        let time = Time::default();
        let mut target = Simulated::new(&time, 0.0);
        let run = Run {
            target: &mut target,
            clock: &time,
            metronome: None,
            facts: FACTS,
            row_begin_ticks: 0,
            budget_ticks: 0.0,
            rng: Rng::new(1),
            order: Vec::new(),
            usual_pulse: Pulse::WORST,
            series: Vec::new(),
        };
        let mut rng = Rng::new(2);
        let mut sample = |index: u32| {
            let disturbance_ticks = if index % 5 < 3 { 0.2 * rng.uniform01() } else { 0.0 };
            let ticks = 400_000.0 * (1.0 + disturbance_ticks) + 200.0 * rng.uniform01();
            Sample { ticks, pulse: Pulse::NONE }
        };
        let samples: Vec<Sample> = (0..256).map(&mut sample).collect();
        let figure = run.figure(&samples, 100_000).unwrap();
        assert!((figure.value / 4.0 - 1.0).abs() < 0.001, "{figure:?}");
        assert!(figure.half_width().unwrap() < 0.02, "{figure:?}");
    }

    #[test]
    fn a_row_takes_no_longer_than_its_budget_and_a_sample() {
        for call_ticks in [0.3, 7.0, 400.0, 3e4, 2e6, 1e9] {
            for budget in [1, 1_000, 1_000_000, 60_000_000].map(Duration::from_nanos) {
                let time = Time::default();
                let mut function = Simulated::new(&time, call_ticks);
                let sweep = sweep_of(&mut function, BOTH, budget);
                // The last row may not have been finished.
                let limit_ticks =
                    (FACTS.ticks(budget) + function.longest_ticks + 100.0) * (sweep.rows.len() + 1) as f64;
                assert!(time.0.get() <= limit_ticks, "{call_ticks} in {budget:?}: {} > {limit_ticks}", time.0.get());
                assert!(!sweep.rows.is_empty());
            }
        }
    }

    #[test]
    fn a_slow_function_ends_with_one_call_and_says_why() {
        let mut function = Simulated::new(&Time::default(), 2e7);
        let sweep = sweep_of(&mut function, &[Mode::Throughput], Duration::from_millis(50));
        assert_eq!((calls(&sweep), sweep.end, sweep.agree_from_calls()), (vec![1], SweepEnd::OutOfTime, None));
        let Figure { value, interval } = sweep.rows[0].nanoseconds[0].unwrap();
        assert_near(value, 2e7, 0.01);
        assert_eq!(interval, None);
    }

    #[test]
    fn the_queue_of_a_sample_grows_to_sixteen_times_that_of_a_measurement_and_no_further() {
        for (max_calls, expected) in
            [(1, vec![1, 10]), (2, vec![1, 10, 32]), (16, vec![1, 10, 100, 256]), (51, vec![1, 10, 100, 816])]
        {
            let mut function = Simulated { max_calls, ..Simulated::new(&Time::default(), 0.5) };
            let sweep = sweep_of(&mut function, BOTH, Duration::from_secs(1));
            assert_eq!((calls(&sweep), sweep.end), (expected, SweepEnd::OutOfCalls));
        }
    }

    #[test]
    fn every_sample_runs_the_inputs_as_often_as_they_are_frequent_in_random_order() {
        let group = |members: &[u32]| Group { label: String::new(), members: members.to_vec() };
        let groups = Groups::Each(vec![group(&[0, 2, 3]), group(&[1])]);
        let mut rng = Rng::new(1);
        let mut inputs = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for _ in 0..20 {
            order(&groups, 100, &mut inputs, &mut rng);
            let count = |input| inputs.iter().filter(|&&other| other == input).count();
            assert_eq!([0, 1, 2, 3].map(count), [25; 4]);
            seen.insert(inputs.clone());
        }
        assert_eq!(seen.len(), 20);
        order(&Groups::NoInputs, 100, &mut inputs, &mut rng);
        assert!(inputs.is_empty());
    }

    #[test]
    fn a_single_call_may_run_any_input() {
        let mut rng = Rng::new(2);
        let mut inputs = Vec::new();
        let mut seen = [false; 5];
        for _ in 0..100 {
            order(&Groups::Mix { inputs: 5, too_many: false }, 1, &mut inputs, &mut rng);
            seen[inputs[0] as usize] = true;
        }
        assert_eq!(seen, [true; 5]);
    }

    #[test]
    fn calls_are_made_before_the_sweep_if_asked_for() {
        let time = Time::default();
        let mut function = Simulated { max_calls: 10, ..Simulated::new(&time, 1e4) };
        let config = Config { warmup: 1_000, ..config(Duration::from_secs(1)) };
        sweep(&mut function, &[Mode::Throughput], &config, &time);
        assert!(time.0.get() > 1e7, "{}", time.0.get());
    }
}
