//! What a benchmark found out: the one thing that reports read.

use std::fmt;
use std::str::FromStr;

use crate::allocations::Allocations;
use crate::amounts::Counted;
use crate::clock::ClockFacts;
use crate::config::{Config, Estimator, Overhead};
use crate::stats;
use crate::target::{Mode, Timed};

/// The result of one benchmark.
///
/// [`nanoseconds`](Self::nanoseconds) is the figure that the table shows, with its interval. Beside it there is what each epoch
/// saw, with the usual statistics.
///
/// ```
/// use nanobench::{Bench, Measure, black_box};
///
/// let mut bench = Bench::new();
/// bench.no_output().run("add", || black_box(1) + black_box(2));
/// let measurement = &bench.results()[0];
/// assert_eq!(measurement.name(), "add");
/// let seconds_per_call = measurement.median(Measure::Elapsed).unwrap();
/// assert!(seconds_per_call > 0.0 && seconds_per_call < 1.0);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// The benchmark's name.
    pub(crate) id: String,
    /// Which question was asked.
    pub(crate) mode: Mode,
    /// How it was measured; none where it did not come to that.
    pub(crate) config: Option<Config>,
    /// The figure for the benchmark as a whole, then one for each group of inputs where there are groups, and at
    /// last one for the empty loop where it was timed.
    pub(crate) rows: Vec<Row>,
    /// What each epoch saw.
    pub(crate) epochs: Vec<Epoch>,
    /// The shortest time that the clock can tell from none, in seconds.
    pub(crate) clock_resolution_seconds: f64,
    /// How many samples the epochs were made of.
    pub(crate) samples: u64,
    /// How many calls were timed.
    pub(crate) calls: u64,
    /// How many times as fast as the baseline of its module it is; none where there is none.
    pub(crate) relative: Option<Figure>,
    /// How fast the core was; none where there is no metronome.
    pub(crate) core_clock: Option<CoreClock>,
    /// How many independent additions in a cycle the core could make in its best moments; none where too little was seen.
    pub(crate) adds_per_cycle: Option<f64>,
    /// How many times as long as the fastest thread the slowest one took for its calls; none where there is one thread.
    pub(crate) unfairness: Option<f64>,
    /// How many inputs had too many distinct values for rows of their own; none if that was not so.
    pub(crate) ungrouped_inputs: Option<usize>,
}

impl Measurement {
    /// That of a benchmark that panicked, and so has no figures.
    pub(crate) fn panicked(id: &str, mode: Mode, message: String) -> Self {
        Self {
            id: id.to_owned(),
            mode,
            config: None,
            rows: vec![Row {
                label: None,
                is_repeated: false,
                is_empty_loop: false,
                left_out: 0.0,
                outcome: Outcome::Panicked { message },
                cost: None,
                amounts: Vec::new(),
                allocations: None,
            }],
            epochs: Vec::new(),
            clock_resolution_seconds: f64::NAN,
            samples: 0,
            calls: 0,
            relative: None,
            core_clock: None,
            adds_per_cycle: None,
            unfairness: None,
            ungrouped_inputs: None,
        }
    }

    /// The benchmark's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.id
    }

    /// Which question was asked.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// How it was measured and shown; none where it did not come to that because the benchmark panicked.
    #[must_use]
    pub fn config(&self) -> Option<&Config> {
        self.config.as_ref()
    }

    /// Whether each call found its data out of the caches.
    pub(crate) fn is_cold(&self) -> bool {
        self.config.as_ref().is_some_and(|config| config.cold)
    }

    /// What kind of answer this is.
    #[must_use]
    pub fn outcome(&self) -> &Outcome {
        &self.whole().outcome
    }

    /// Nanoseconds per unit of work, with the interval; none where there is no cost. Neither is ever below zero.
    #[must_use]
    pub fn nanoseconds(&self) -> Option<Figure> {
        Some(self.whole().cost?.nanoseconds)
    }

    /// Core cycles per unit of work; none where there is no cost, or nothing tells cycles.
    #[must_use]
    pub fn cycles(&self) -> Option<Figure> {
        self.whole().cost?.cycles
    }

    /// What the empty loop costs, in nanoseconds per unit of work; none where it was not timed. See
    /// [`Bench::overhead`](crate::Bench::overhead).
    #[must_use]
    pub fn empty_loop_nanoseconds(&self) -> Option<Figure> {
        let row = self.rows.iter().find(|row| row.is_empty_loop)?;
        Some(row.cost?.nanoseconds)
    }

    /// What a unit of work asks of the allocator; none where [`Allocator`](crate::Allocator) is not installed or the benchmark
    /// panicked.
    #[must_use]
    pub fn allocations(&self) -> Option<Allocations> {
        self.whole().allocations
    }

    /// What each epoch saw, in the order in which they were measured.
    #[must_use]
    pub fn epochs(&self) -> &[Epoch] {
        &self.epochs
    }

    /// The value that the context gives to a name; see [`Bench::context`](crate::Bench::context).
    #[must_use]
    pub fn context(&self, name: &str) -> Option<&str> {
        let (_, value) = self.config.as_ref()?.context.iter().find(|(known, _)| known == name)?;
        Some(value)
    }

    /// Whether there are values of `measure`.
    #[must_use]
    pub fn has(&self, measure: Measure) -> bool {
        self.values(measure).next().is_some()
    }

    /// The value of `measure` in an epoch; none if there is no such value or no such epoch.
    #[must_use]
    pub fn get(&self, epoch: usize, measure: Measure) -> Option<f64> {
        self.epochs.get(epoch)?.value(measure)
    }

    /// The values of `measure`, epoch by epoch.
    pub fn values(&self, measure: Measure) -> impl Iterator<Item = f64> + '_ {
        self.epochs.iter().filter_map(move |epoch| epoch.value(measure))
    }

    /// The median over the epochs; none if there are no values, here and in the following.
    #[must_use]
    pub fn median(&self, measure: Measure) -> Option<f64> {
        self.over(measure, stats::median)
    }

    /// The median over the epochs of `|x - median| / x`, a share of 1. Epochs of zero are left out.
    #[must_use]
    pub fn median_absolute_percent_error(&self, measure: Measure) -> Option<f64> {
        self.over(measure, |values| stats::mdape(values))
    }

    /// The arithmetic mean over the epochs.
    #[must_use]
    pub fn average(&self, measure: Measure) -> Option<f64> {
        self.over(measure, |values| values.iter().sum::<f64>() / values.len() as f64)
    }

    /// The sum over the epochs.
    #[must_use]
    pub fn sum(&self, measure: Measure) -> Option<f64> {
        self.over(measure, |values| values.iter().sum())
    }

    /// The sum over the epochs of the products of two measures. That of elapsed time and iterations is the time in all.
    #[must_use]
    pub fn sum_product(&self, first: Measure, second: Measure) -> Option<f64> {
        let products = self.epochs.iter().filter_map(|epoch| Some(epoch.value(first)? * epoch.value(second)?));
        (self.has(first) && self.has(second)).then(|| products.sum())
    }

    /// The least over the epochs.
    #[must_use]
    pub fn minimum(&self, measure: Measure) -> Option<f64> {
        self.values(measure).min_by(f64::total_cmp)
    }

    /// The most over the epochs.
    #[must_use]
    pub fn maximum(&self, measure: Measure) -> Option<f64> {
        self.values(measure).max_by(f64::total_cmp)
    }

    fn over(&self, measure: Measure, statistic: impl Fn(&mut [f64]) -> f64) -> Option<f64> {
        let mut values: Vec<f64> = self.values(measure).collect();
        (!values.is_empty()).then(|| statistic(&mut values))
    }

    /// Whether the cost of the empty loop was taken off the figures of a row.
    pub(crate) fn is_loop_subtracted(&self, row: &Row) -> bool {
        let overhead = self.config.as_ref().map(|config| applied_overhead(config, self.mode));
        overhead == Some(Overhead::Subtract) && !row.is_empty_loop
    }

    /// How the figures of a row were made: where there are no groups to tell apart, by least squares in any case.
    pub(crate) fn estimator(&self, row: &Row) -> Estimator {
        let has_groups = self.rows.iter().any(|row| row.label.is_some());
        let chosen = self
            .config
            .as_ref()
            .filter(|_| has_groups && !row.is_repeated && !row.is_empty_loop)
            .map(Config::applied_estimator);
        chosen.unwrap_or_default()
    }

    /// The row of the benchmark as a whole, which is always there.
    pub(crate) fn whole(&self) -> &Row {
        &self.rows[0]
    }
}

/// What becomes of the empty loop in a mode. What the loop of latency adds to a chain is the link, and its cost is known.
pub(crate) fn applied_overhead(config: &Config, mode: Mode) -> Overhead {
    if mode == Mode::Throughput { config.overhead } else { Overhead::Raw }
}

/// What was seen in an epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Epoch {
    /// How many calls were made.
    pub iterations: u64,
    /// Seconds that a call took, without the cost of reading the clock.
    pub seconds_per_call: f64,
    /// Core cycles that a call took; none where nothing tells them.
    pub cycles_per_call: Option<f64>,
}

impl Epoch {
    fn value(&self, measure: Measure) -> Option<f64> {
        match measure {
            Measure::Elapsed => Some(self.seconds_per_call),
            Measure::Iterations => Some(self.iterations as f64),
            Measure::CpuCycles => self.cycles_per_call,
        }
    }
}

/// What an epoch has values of.
///
/// ```
/// use nanobench::Measure;
///
/// assert_eq!("elapsed".parse(), Ok(Measure::Elapsed));
/// assert_eq!(Measure::CpuCycles.name(), "cpucycles");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Measure {
    /// Seconds per call.
    Elapsed,
    /// Calls.
    Iterations,
    /// Core cycles per call.
    CpuCycles,
}

impl Measure {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Elapsed, Self::Iterations, Self::CpuCycles];

    /// The name, as templates use it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Elapsed => "elapsed",
            Self::Iterations => "iterations",
            Self::CpuCycles => "cpucycles",
        }
    }
}

/// There is no measure of this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownMeasure {
    name: String,
}

impl fmt::Display for UnknownMeasure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = Measure::ALL.map(Measure::name).join(", ");
        write!(f, "there is no measure {:?}; there are {known}", self.name)
    }
}

impl std::error::Error for UnknownMeasure {}

impl FromStr for Measure {
    type Err = UnknownMeasure;

    fn from_str(name: &str) -> Result<Self, UnknownMeasure> {
        let found = Self::ALL.into_iter().find(|measure| measure.name() == name);
        found.ok_or_else(|| UnknownMeasure { name: name.to_owned() })
    }
}

/// One figure of a benchmark.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    /// The group of inputs; none for the benchmark as a whole.
    pub(crate) label: Option<String>,
    /// Whether it is not about the mix, but about the first input of the group over and over.
    pub(crate) is_repeated: bool,
    /// Whether it is not about the function at all, but about the loop around it.
    pub(crate) is_empty_loop: bool,
    /// The share of samples during which another hardware thread used the core, and which got no weight for that.
    pub(crate) left_out: f64,
    /// What kind of answer this is.
    pub(crate) outcome: Outcome,
    /// The cost, where there is one.
    pub(crate) cost: Option<Cost>,
    /// What a call does an amount of, and how much.
    pub(crate) amounts: Vec<(Counted, f64)>,
    /// What a unit of work asks of the allocator; none where nothing counts it.
    pub(crate) allocations: Option<Allocations>,
}

impl Row {
    /// Whether it is about the benchmark as a whole.
    pub(crate) fn is_whole(&self) -> bool {
        self.label.is_none() && !self.is_repeated && !self.is_empty_loop
    }
}

/// What a unit of work costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cost {
    /// Nanoseconds of wall-clock time per unit.
    pub(crate) nanoseconds: Figure,
    /// What it would have been had all samples counted; none if they all did, or had to.
    pub(crate) ungated_nanoseconds: Option<f64>,
    /// Core cycles per unit; none where nothing tells them.
    pub(crate) cycles: Option<Figure>,
    /// The median absolute percentage error of the epochs, a share of 1: how far they lie apart; none if there is only one.
    pub(crate) mdape: Option<f64>,
    /// How much time the timed calls took together, in seconds.
    pub(crate) total_seconds: f64,
}

/// The frequency of the core over the epochs of a run, in GHz.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoreClock {
    /// The lowest.
    pub least: f64,
    /// The median.
    pub median: f64,
    /// The highest.
    pub most: f64,
}

/// A number, and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// The estimate.
    pub value: f64,
    /// The 95 % interval; none if too little was measured to give one.
    pub interval: Option<Interval>,
}

impl Figure {
    /// Half the width of the interval, where there is one.
    #[must_use]
    pub fn half_width(&self) -> Option<f64> {
        self.interval.map(|interval| interval.high - self.value)
    }
}

/// A range, in the unit of the figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// What kind of answer a row is.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// The cost is what it says.
    Ok,
    /// The cost cannot be told from zero; it is below the upper end of the interval.
    BelowFloor,
    /// There is a cost, but not one to rely on.
    Unstable(Instability),
    /// No number of calls took any time.
    OptimizedAway,
    /// These inputs did not have their turn within the time that the benchmark may take.
    NotMeasured,
    /// The benchmark panicked.
    Panicked {
        /// What it panicked with.
        message: String,
    },
}

/// Why a cost is not to be relied on.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Instability {
    /// The epochs disagree with each other by more than 5 %.
    Spread {
        /// The mean number of calls in an epoch.
        calls_per_epoch: f64,
    },
    /// The interval is wider than 5 % to either side.
    WideInterval,
    /// The cost is steady in core cycles, and the core clock is not.
    Frequency(CoreClock),
    /// Another hardware thread used the core so often, or during such long samples, that its part cannot be left out.
    SharedCore {
        /// The share of the samples during which it did.
        share: f64,
    },
    /// Many samples took much longer than they should have.
    Interrupts {
        /// The share of them.
        share: f64,
    },
    /// The samples gather around two costs per unit, and hardly any is between them.
    Bimodal {
        /// The lower of the two.
        low_nanoseconds: f64,
        /// The higher of the two.
        high_nanoseconds: f64,
        /// The share of the samples that are at the higher one.
        share_of_high: f64,
    },
    /// Fewer epochs than an interval needs fit into the time that the benchmark may take.
    TooFewEpochs,
}

/// The spread of epochs, or half the width of an interval, from which on a figure is called unstable: a share of 1.
pub(crate) const MAX_SPREAD: f64 = 0.05;

/// The costs of a call over the calls of a sample.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sweep {
    /// What was timed, in the order of the figures in each row.
    pub(crate) series: Vec<Timed>,
    /// From few calls to many.
    pub(crate) rows: Vec<SweepRow>,
    /// Why there is no further row.
    pub(crate) end: SweepEnd,
}

/// The costs of a call in samples of one size.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SweepRow {
    /// How many calls a sample made.
    pub(crate) calls: u64,
    /// Nanoseconds per call, the clock and the loop included, for each series; none where the time was over before its first
    /// sample. A figure without interval comes from a few samples only.
    pub(crate) nanoseconds: Vec<Option<Figure>>,
}

impl SweepRow {
    /// Half the width of the interval in a column, as a share of the figure; none without interval.
    pub(crate) fn relative_half_width(&self, column: usize) -> Option<f64> {
        let figure = self.nanoseconds[column].as_ref()?;
        Some(figure.half_width()? / figure.value)
    }

    /// Whether the interval in a column is as narrow as that of a stable figure.
    pub(crate) fn is_stable(&self, column: usize) -> bool {
        self.relative_half_width(column).is_some_and(|share| share <= MAX_SPREAD)
    }
}

/// Why a sweep ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SweepEnd {
    /// The last two rows agree.
    Agreement,
    /// The time that the benchmark may take did not suffice for another row.
    OutOfTime,
    /// The target allows no more calls in a sample.
    OutOfCalls,
    /// Samples of cold calls are single calls.
    Cold,
}

impl Sweep {
    /// From how many calls in a sample on the figures stay the same; none if they do not.
    pub(crate) fn agree_from_calls(&self) -> Option<u64> {
        match (self.end, self.rows.as_slice()) {
            (SweepEnd::Agreement, [.., first, _]) => Some(first.calls),
            _ => None,
        }
    }
}

/// Where and with what a program measured.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Machine {
    /// The processor's name for itself.
    pub(crate) processor: String,
    /// How many processors the program may use.
    pub(crate) processors: usize,
    /// The one that the measuring thread is pinned to, if it is.
    pub(crate) cpu: Option<usize>,
    /// The clock.
    pub(crate) clock: ClockFacts,
    /// What the clock is called.
    pub(crate) clock_name: String,
    /// Where the clock's frequency is known from.
    pub(crate) frequency_source: String,
    /// By how much the frequency may be wrong, in millionths.
    pub(crate) frequency_error_ppm: f64,
    /// Why a better clock is not used, where that is so.
    pub(crate) clock_remark: Option<String>,
}
