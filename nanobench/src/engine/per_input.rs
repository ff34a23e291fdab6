//! The cost of each input by leave-one-out, with the parameters that highwayhash's and Highway's nanobenchmark have.
//!
//! The list, its subsets and the evaluations are theirs. What is different: every list is shuffled afresh for every timing; a round
//! times the list and all of its subsets, so that what changes slowly is in both parts of a difference; differences are
//! signed; and how sure a figure is comes from the differences and not from the totals.

use std::fmt;

use super::clock_prior;
use super::design::Design;
use super::fit::{Estimate, Samples, Tempo, mean_ticks_per_cycle};
use super::leave_one_out::{LONGEST_LIST, differences, fit_differences};
use super::readings::Readings;
use super::record::{Chosen, Record, Timing};
use crate::clock::{Clock, ClockFacts, Metronome};
use crate::config::Overhead;
use crate::measurement::{Figure, Interval};
use crate::rng::Rng;
use crate::stats;
use crate::target::{Mode, Target};

/// How many more evaluations there may be, after the last, for inputs whose figure is not above zero.
const RETRIES: u32 = 3;

/// The samples that find out how long a call takes: the number only decides how long lists are.
const MAX_PROBES: u64 = 1_024;

/// Rounds that take longer than this, in seconds, are so few at most, and there is no second evaluation.
const LONG_ROUND_SECONDS: f64 = 0.1;
const LONG_ROUNDS: u64 = 5;

/// The most numbers that the samples of all rounds together may take.
const MAX_NUMBERS: u64 = 1 << 21;

/// About how many samples an epoch has, and how many epochs an evaluation should have at least.
const SAMPLES_PER_EPOCH: u64 = 32;
const MIN_EPOCHS: u64 = 7;

/// The share of the clock's resolution below which an error does not matter.
const NEGLIGIBLE_RESOLUTION: f64 = 0.01;

/// Half of the width of a 95 % interval over the median absolute deviation, for a normal distribution.
const HALF_WIDTH_TO_MAD: f64 = 1.96 * stats::MAD_TO_DEVIATION;

/// How [`measure`](crate::measure) measures. The defaults are those of Highway.
///
/// ```
/// use nanobench::leave_one_out::Params;
///
/// let mut params = Params::default();
/// params.max_evals = 4;
/// assert_eq!(params.precision_divisor, 1024);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Params {
    /// How many ticks the calls that are left out of a list should take together. More of them make a finer figure, and more
    /// calls. It is also how many calls are left out where a call is too fast to be timed. At least 1.
    pub precision_divisor: u64,
    /// How many times as many calls of an input the whole list has as are left out. A larger ratio changes the mix less, and
    /// makes the difference a smaller part of the total. From 1 to 1024.
    pub subset_ratio: u64,
    /// How many seconds the first evaluation takes, roughly. Each further one doubles the samples.
    pub seconds_per_eval: f64,
    /// How many samples of each list an evaluation has at least, even if it then takes longer. Where one sample of each takes more
    /// than 0.1 s together, there are five at most, and one evaluation. At least 1.
    pub min_samples_per_eval: u64,
    /// From how many samples on a figure is the mean around the dominant cluster; with fewer, it is the median.
    pub min_mode_samples: u64,
    /// The [variability](InputCost::variability) at which measuring ends, a share of 1.
    pub target_rel_mad: f64,
    /// How many evaluations there are at most. Inputs whose list was not slower with them than without then have up to three
    /// more. At least 1.
    pub max_evals: u32,
    /// Whether to print to standard error what is going on.
    pub verbose: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            precision_divisor: 1_024,
            subset_ratio: 2,
            seconds_per_eval: 4e-3,
            min_samples_per_eval: 7,
            min_mode_samples: 64,
            target_rel_mad: 0.002,
            max_evals: 9,
            verbose: false,
        }
    }
}

impl Params {
    /// Finds the first parameter that is out of range: its name, and what would have been right.
    pub(crate) fn check(&self) -> Result<(), (&'static str, &'static str)> {
        let requirements = [
            (self.precision_divisor > 0, "precision_divisor", "at least 1"),
            ((1..=1_024).contains(&self.subset_ratio), "subset_ratio", "from 1 to 1024"),
            (self.seconds_per_eval > 0.0 && self.seconds_per_eval.is_finite(), "seconds_per_eval", "above zero"),
            (self.min_samples_per_eval > 0, "min_samples_per_eval", "at least 1"),
            (self.target_rel_mad >= 0.0, "target_rel_mad", "zero or more"),
            (self.max_evals > 0, "max_evals", "at least 1"),
        ];
        match requirements.into_iter().find(|(is_met, ..)| !is_met) {
            Some((_, name, expected)) => Err((name, expected)),
            None => Ok(()),
        }
    }
}

/// What a call with an input costs, in the company of the other inputs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct InputCost {
    /// Ticks of the clock, with the 95 % interval.
    pub ticks: Figure,
    /// Nanoseconds of wall-clock time.
    pub nanoseconds: Figure,
    /// Cycles of the core; none where nothing tells them.
    pub cycles: Option<Figure>,
    /// How sure the figure is: the median absolute deviation that it would have if all was repeated, as a share of it. It is
    /// that of the difference of two totals, which is much more than that of a total.
    pub variability: f64,
    /// The median absolute deviation of the differences that the figure was made of, in ticks per call.
    pub spread_ticks: f64,
    /// How many differences these were.
    pub samples: u64,
    /// The share of the samples beside which another hardware thread used the core. They do not count, unless nearly all are
    /// like that.
    pub shared: f64,
}

/// Why an input has no cost.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// The list took no longer with all calls of the input than without some of them, in all evaluations.
    TotalNotLarger {
        /// What the whole list took, in ticks: a median.
        total_ticks: f64,
        /// What it took without some calls of the input.
        without_ticks: f64,
    },
    /// The clock stood still or jumped whenever the list ran, so that nothing was seen.
    NothingSeen,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TotalNotLarger { total_ticks, without_ticks } => {
                write!(
                    f,
                    "measurement failed: total {total_ticks:.0} ticks, {without_ticks:.0} without some of the calls"
                )
            }
            Self::NothingSeen => f.write_str("measurement failed: the clock stood still or jumped"),
        }
    }
}

impl std::error::Error for Reason {}

/// Where what is going on is written, line by line.
pub(crate) type Log<'a> = &'a mut dyn FnMut(fmt::Arguments);

/// Measures each group of `target`, or its inputs as a whole where there are no groups. Its empty loop is only timed to be shown in
/// the log.
///
/// The clock has to be one that can be used, and the parameters within their ranges.
pub(crate) fn measure<'a>(
    target: &'a mut dyn Target,
    params: &'a Params,
    clock: &'a dyn Clock,
    log: Option<Log<'a>>,
) -> Vec<Result<InputCost, Reason>> {
    let facts = clock.facts();
    let design = Design::new(target.groups(), target.max_calls());
    let groups = design.frequencies().len();
    let mut run = Run {
        longest: target.max_calls().min(LONGEST_LIST),
        target,
        params,
        clock,
        metronome: clock.metronome(),
        facts,
        rng: Rng::new(clock.now_ticks()),
        record: Record::new(groups, Overhead::Raw),
        design,
        order: Vec::new(),
        log,
    };
    let lists = run.lists();
    run.show_overhead(&lists);
    run.evaluate(&lists)
}

/// Whether anything can be measured with a clock.
pub(crate) fn is_usable(facts: &ClockFacts) -> bool {
    let is_sane = |value: f64| value >= 0.0 && value.is_finite();
    facts.ticks_per_second > 0.0
        && [facts.ticks_per_second, facts.step_ticks, facts.pair_cost_ticks].into_iter().all(is_sane)
}

/// What is timed: how many calls of each group the whole list makes, and how many of them are left out in turn.
#[derive(Clone, Debug, PartialEq)]
struct Lists {
    whole: Vec<u64>,
    skipped: Vec<u64>,
}

impl Lists {
    /// Those for inputs with so many calls of each group, if `num_skip` calls are to be left out, and if the whole list may
    /// have about `longest` calls.
    fn new(members: &[u64], num_skip: u64, subset_ratio: u64, longest: u64) -> Self {
        // How often the only input is among the inputs makes no difference.
        let members = if members.len() == 1 { &[1] } else { members };
        let inputs: u64 = members.iter().sum();
        let copies = subset_ratio.saturating_mul(num_skip);
        let is_short = copies.saturating_mul(inputs) <= longest;
        let calls = |members: &u64| if is_short { copies * members } else { longest * members / inputs };
        let whole: Vec<u64> = members.iter().map(|members| calls(members).max(subset_ratio)).collect();
        let skipped = whole.iter().map(|calls| num_skip.min(calls / subset_ratio)).collect();
        Self { whole, skipped }
    }

    /// The list without some calls of `group`.
    fn without(&self, group: usize) -> Vec<u64> {
        let mut counts = self.whole.clone();
        counts[group] -= self.skipped[group];
        counts
    }
}

/// The state of a measurement.
struct Run<'a> {
    target: &'a mut dyn Target,
    params: &'a Params,
    clock: &'a dyn Clock,
    metronome: Option<&'a dyn Metronome>,
    facts: ClockFacts,
    rng: Rng,
    design: Design,
    longest: u64,
    order: Vec<u32>,
    record: Record,
    log: Option<Log<'a>>,
}

/// What is known of a group after an evaluation.
struct Evaluated {
    result: Result<InputCost, Reason>,
    /// By how many calls lists differ.
    skipped: f64,
}

impl Run<'_> {
    /// Finds out how many calls have to be left out to be seen.
    fn lists(&mut self) -> Lists {
        let groups = self.design.frequencies().len();
        let least = (0..groups).map(|group| self.ticks_of_one_call(group)).fold(f64::INFINITY, f64::min);
        let max_skip = self.params.precision_divisor;
        // What is too fast to be timed needs the most calls.
        let num_skip = if least < 1.0 { max_skip } else { (max_skip as f64 / least).ceil() as u64 };
        let res = self.facts.resolution_ticks();
        self.say(format_args!("res={res:.0} max_skip={max_skip} min_dur={:.0} num_skip={num_skip}", least.max(0.0)));
        let members: Vec<u64> = self.design.members().iter().map(|members| members.len() as u64).collect();
        Lists::new(&members, num_skip, self.params.subset_ratio, self.longest)
    }

    /// What a single call of a group takes, roughly.
    fn ticks_of_one_call(&mut self, group: usize) -> f64 {
        let mut counts = vec![0; self.design.frequencies().len()];
        counts[group] = 1;
        // The first call may have to fetch everything.
        self.time(&counts);
        let first = self.time(&counts);
        if first > LONG_ROUND_SECONDS * self.facts.ticks_per_second {
            return first;
        }
        let affordable = self.params.seconds_per_eval * self.facts.ticks_per_second / first.max(1.0);
        let samples = (affordable as u64).min(MAX_PROBES).max(self.params.min_samples_per_eval);
        let mut ticks: Vec<f64> = (0..samples).map(|_| self.time(&counts)).collect();
        stats::dominant_mean(&mut ticks, self.facts.step_ticks) - self.facts.pair_cost_ticks
    }

    /// Times calls of each group, in an order that was never there before.
    fn time(&mut self, counts: &[u64]) -> f64 {
        self.design.order(counts, &mut self.order, &mut self.rng);
        self.target.sample(Mode::Throughput, counts.iter().sum(), &self.order) as f64
    }

    fn show_overhead(&mut self, lists: &Lists) {
        if self.log.is_none() {
            return;
        }
        let mut loop_ticks = |counts: &[u64]| {
            let calls = counts.iter().sum();
            let mut time = || {
                self.design.order(counts, &mut self.order, &mut self.rng);
                self.target.sample_empty_loop(calls, &self.order) as f64
            };
            let mut ticks: Vec<f64> = (0..self.params.min_mode_samples.max(1)).map(|_| time()).collect();
            (calls, stats::dominant_mean(&mut ticks, self.facts.step_ticks))
        };
        let (calls, overhead) = loop_ticks(&lists.whole);
        let (calls_without, overhead_without) = loop_ticks(&lists.without(0));
        self.say(format_args!(
            "#inputs={calls:>5},{calls_without:>5} overhead={overhead:>5.0},{overhead_without:>5.0}"
        ));
    }

    fn evaluate(&mut self, lists: &Lists) -> Vec<Result<InputCost, Reason>> {
        let groups = lists.whole.len();
        // Nothing is known yet of how long a round takes; this one does not count.
        let begin_ticks = self.clock.now_ticks();
        self.round(lists, None);
        let round_ticks = (self.clock.now_ticks().saturating_sub(begin_ticks) as f64).max(1.0);
        let affordable = self.params.seconds_per_eval * self.facts.ticks_per_second / round_ticks;
        let (most_rounds, most_evaluations) = if round_ticks > LONG_ROUND_SECONDS * self.facts.ticks_per_second {
            (LONG_ROUNDS, 1)
        } else {
            (u64::MAX, self.params.max_evals.saturating_add(RETRIES))
        };
        let rounds_per_eval = (affordable as u64).max(self.params.min_samples_per_eval).min(most_rounds);
        let samples = groups as u64 + 1;
        let rounds_per_epoch = (SAMPLES_PER_EPOCH.div_ceil(samples)).min(rounds_per_eval.div_ceil(MIN_EPOCHS));
        let most = (MAX_NUMBERS / (samples * (samples + 1))).max(rounds_per_epoch);
        let (mut made, mut wanted) = (0, rounds_per_eval);
        let mut evaluations = 0;
        loop {
            while made < wanted.min(most) {
                self.epoch(lists, rounds_per_epoch.min(wanted - made));
                made += rounds_per_epoch.min(wanted - made);
            }
            evaluations += 1;
            let evaluated = self.look(lists);
            self.show(&evaluated, evaluations);
            let is_stable = evaluated.iter().all(|one| self.is_stable(one));
            let has_failed = evaluated.iter().any(|one| one.result.is_err());
            let is_last = evaluations >= self.params.max_evals;
            let is_over = made >= most || evaluations >= most_evaluations;
            if is_stable || is_over || (is_last && !has_failed) {
                self.warn(&evaluated);
                return evaluated.into_iter().map(|one| one.result).collect();
            }
            wanted = wanted.saturating_mul(2);
        }
    }

    fn epoch(&mut self, lists: &Lists, rounds: u64) {
        self.target.begin_epoch();
        let mut readings = Readings::begin(self.metronome, self.facts);
        for _ in 0..rounds {
            self.round(lists, Some(&mut readings));
        }
        // A metronome that makes no sense from the first epoch on is none.
        if !self.record.end_epoch(readings) && self.record.epochs() == 0 {
            self.metronome = None;
        }
    }

    /// Times the list and each of its subsets, in random order.
    fn round(&mut self, lists: &Lists, mut readings: Option<&mut Readings>) {
        let subsets = (0..lists.whole.len()).map(|group| lists.without(group));
        let mut samples: Vec<Vec<u64>> = std::iter::once(lists.whole.clone()).chain(subsets).collect();
        self.rng.shuffle(&mut samples);
        for counts in samples {
            let ticks = self.time(&counts);
            if let Some(readings) = &mut readings {
                readings.between_samples();
                self.record.push(&counts, Timing { ticks, ..Timing::default() });
            }
        }
    }

    /// What the samples so far say of each group.
    fn look(&self, lists: &Lists) -> Vec<Evaluated> {
        let groups = lists.whole.len();
        let chosen = self.record.counting(self.metronome, &self.facts);
        let differences = differences(&chosen.samples, groups);
        let each = differences.iter().zip(&lists.skipped).enumerate();
        each.map(|(group, (differences, &skipped))| Evaluated {
            result: self.cost(&chosen, differences, skipped as f64).ok_or_else(|| self.reason(lists, group)),
            skipped: skipped as f64,
        })
        .collect()
    }

    /// The cost that the differences say; none if it is not above zero.
    fn cost(&self, chosen: &Chosen, differences: &Samples, skipped: f64) -> Option<InputCost> {
        let mut per_call: Vec<f64> = differences.durations.iter().map(|ticks| ticks / skipped).collect();
        let samples = per_call.len() as u64;
        if samples == 0 {
            return None;
        }
        let fit = (samples >= self.params.min_mode_samples)
            .then(|| fit_differences(differences, &clock_prior(&self.facts)))
            .flatten();
        let (ticks, cycles) = match fit.map(|fit| fit.estimate(&[1.0])) {
            Some(estimate) => (figure(&estimate), figure(&estimate.in_cycles(&chosen.tempi))),
            None => {
                // A median of readings is one of the clock's steps, or between two.
                let ticks = widened(median_with_interval(&mut per_call), self.facts.step_ticks / (2.0 * skipped));
                (ticks, median_in_cycles(ticks, &chosen.tempi))
            }
        };
        let is_positive = ticks.value > 0.0;
        let spread_ticks = stats::median_absolute_deviation(&mut per_call);
        let deviation =
            ticks.interval.map_or(spread_ticks, |Interval { low, high }| (high - low) / (2.0 * HALF_WIDTH_TO_MAD));
        is_positive.then(|| InputCost {
            ticks,
            nanoseconds: scaled(ticks, 1e9 / self.facts.ticks_per_second),
            cycles: self.metronome.map(|_| cycles),
            variability: deviation / ticks.value,
            spread_ticks,
            samples,
            shared: chosen.shared,
        })
    }

    fn reason(&self, lists: &Lists, group: usize) -> Reason {
        let samples = self.record.all().samples;
        let median_of = |counts: &[u64]| {
            let is_one = |index: &usize| samples.sample(*index).iter().zip(counts).all(|(a, b)| *a == *b as f64);
            let found = (0..samples.durations.len()).filter(is_one).map(|index| samples.durations[index]);
            let mut ticks: Vec<f64> = found.collect();
            (!ticks.is_empty()).then(|| stats::median(&mut ticks))
        };
        match (median_of(&lists.whole), median_of(&lists.without(group))) {
            (Some(total_ticks), Some(without_ticks)) if total_ticks > 0.0 => {
                Reason::TotalNotLarger { total_ticks, without_ticks }
            }
            _ => Reason::NothingSeen,
        }
    }

    fn is_stable(&self, evaluated: &Evaluated) -> bool {
        let Ok(cost) = &evaluated.result else { return false };
        let deviation = cost.variability * cost.ticks.value * evaluated.skipped;
        cost.variability <= self.params.target_rel_mad
            || deviation <= NEGLIGIBLE_RESOLUTION * self.facts.resolution_ticks()
    }

    fn show(&mut self, evaluated: &[Evaluated], evaluation: u32) {
        for Evaluated { result, skipped } in evaluated {
            match result {
                Ok(cost) => self.say(format_args!(
                    "{:>6} samples => {:>5.0} (abs_mad={:>4.0}, rel_mad={:>4.2}%)",
                    cost.samples,
                    cost.ticks.value * skipped,
                    cost.variability * cost.ticks.value * skipped,
                    100.0 * cost.variability
                )),
                Err(reason) => self.say(format_args!("{reason} (evaluation {evaluation})")),
            }
        }
    }

    fn warn(&mut self, evaluated: &[Evaluated]) {
        let limit = 100.0 * self.params.target_rel_mad;
        for one in evaluated.iter().filter(|one| !self.is_stable(one)).collect::<Vec<_>>() {
            if let Ok(cost) = &one.result {
                let percent = 100.0 * cost.variability;
                self.say(format_args!(
                    "WARNING: rel_mad={percent:.2}% still exceeds {limit:.2}% after {:>6} samples.",
                    cost.samples
                ));
            }
        }
    }

    fn say(&mut self, line: fmt::Arguments) {
        if let Some(log) = &mut self.log {
            log(line);
        }
    }
}

fn figure(estimate: &Estimate) -> Figure {
    let cost = estimate.cost;
    // No cost is less than nothing.
    let interval = |half_width: f64| Interval { low: (cost - half_width).max(0.0), high: cost + half_width };
    Figure { value: cost, interval: estimate.half_width().map(interval) }
}

fn scaled(Figure { value, interval }: Figure, factor: f64) -> Figure {
    let interval = interval.map(|Interval { low, high }| Interval { low: low * factor, high: high * factor });
    Figure { value: value * factor, interval }
}

/// The same with an interval that allows for a further error of the size `by`, which has nothing to do with the others.
fn widened(Figure { value, interval }: Figure, by: f64) -> Figure {
    let widened = |Interval { low, high }: Interval| Interval {
        low: (value - by.hypot(value - low)).max(0.0),
        high: value + by.hypot(high - value),
    };
    Figure { value, interval: interval.map(widened) }
}

/// A median in core cycles. How long a cycle takes is not known exactly either.
fn median_in_cycles(ticks: Figure, tempi: &[Tempo]) -> Figure {
    let cycles = scaled(ticks, 1.0 / mean_ticks_per_cycle(tempi));
    match Estimate::exact(ticks.value, tempi.len()).in_cycles(tempi).half_width() {
        Some(of_tempo) => widened(cycles, of_tempo),
        None => Figure { interval: None, ..cycles },
    }
}

/// The median with the interval that two of the values make, so that it holds the median of the distribution in at least 95 % of all
/// cases; none if there are too few values for that. Sorts the values.
///
/// Source: H. David and H. Nagaraja, "Order Statistics", 3rd edition, 2003, section 7.1.
fn median_with_interval(values: &mut [f64]) -> Figure {
    stats::sort(values);
    let count = values.len();
    // How likely it is that exactly `below` of the values lie below the median of the distribution.
    let mut probability = 0.5_f64.powi(count as i32);
    let (mut tail, mut below) = (0.0, 0);
    while tail + probability <= 0.025 {
        tail += probability;
        probability *= (count - below) as f64 / (below + 1) as f64;
        below += 1;
    }
    let low = below.checked_sub(1).map(|index| values[index].max(0.0));
    let interval = low.map(|low| Interval { low, high: values[count - below] });
    Figure { value: stats::median_of_sorted(values), interval }
}

#[cfg(test)]
mod tests;
