//! The settings of a benchmark: their names, their defaults, and which source wins.
//!
//! A setting has one name everywhere: `min_epoch_time` in the attribute, `--min-epoch-time` on the command line,
//! `NANOBENCH_MIN_EPOCH_TIME` in the environment. Later sources win in this order: default, attribute, environment,
//! command line.

use std::time::Duration;

mod settings;

pub(crate) use settings::{CONFIG_VARIABLE, SETTINGS, SettingError};
use settings::{NUMBER, SHARE};

/// What a unit of work is called where nobody says otherwise.
pub(crate) const DEFAULT_UNIT: &str = "op";

/// What the column of names is called where nobody says otherwise.
pub(crate) const DEFAULT_TITLE: &str = "benchmark";

/// The most time of a benchmark where nobody says otherwise, unless it is a cold one.
const DEFAULT_MAX_TIME: Duration = Duration::from_millis(50);

/// The time for each row of a benchmark, where that is more.
const DEFAULT_MAX_TIME_OF_ROW: Duration = Duration::from_millis(10);

/// The unit of time in which a table gives costs.
///
/// ```
/// use std::time::Duration;
/// use nanobench::TimeUnit;
///
/// let unit = TimeUnit::new(Duration::from_millis(1), "ms");
/// assert_eq!((unit.name(), unit.nanoseconds()), ("ms", 1e6));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TimeUnit {
    name: String,
    nanoseconds: f64,
}

impl TimeUnit {
    /// The units that have a name of their own in settings.
    const NAMED: [(&'static str, f64); 4] = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];

    /// A unit of the given length.
    ///
    /// # Panics
    ///
    /// If the length is zero.
    #[must_use]
    pub fn new(length: Duration, name: impl Into<String>) -> Self {
        assert!(!length.is_zero(), "a unit of time cannot be zero long");
        Self { name: name.into(), nanoseconds: length.as_secs_f64() * 1e9 }
    }

    /// What it is called in the head of a column.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How long it is, in nanoseconds.
    #[must_use]
    pub fn nanoseconds(&self) -> f64 {
        self.nanoseconds
    }

    fn named(name: &str) -> Option<Self> {
        let &(name, nanoseconds) = Self::NAMED.iter().find(|(known, _)| *known == name)?;
        Some(Self { name: name.to_owned(), nanoseconds })
    }
}

impl Default for TimeUnit {
    /// Nanoseconds.
    fn default() -> Self {
        Self { name: "ns".to_owned(), nanoseconds: 1.0 }
    }
}

/// How the costs of inputs are told apart.
///
/// It matters where a benchmark has several groups of inputs; without them there is only least squares.
/// [`estimator`](crate::estimator) says more.
///
/// ```
/// use nanobench::{Config, Estimator};
///
/// assert_eq!(Config::default().estimator, Estimator::LeastSquares);
/// assert_eq!(Estimator::LeaveOneOut.name(), "leave-one-out");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Estimator {
    /// Every sample runs a fresh random multiset of the inputs, and the costs are solved for.
    #[default]
    LeastSquares,
    /// The cost of a group is what a list of inputs takes less without half of the group's. Every list is shuffled afresh.
    LeaveOneOut,
    /// The same with one list that is shuffled once and then replayed, which shows how much a branch predictor learns of it.
    Replay,
}

impl Estimator {
    const ALL: [Self; 3] = [Self::LeastSquares, Self::LeaveOneOut, Self::Replay];

    /// The name, as settings and results use it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::LeastSquares => "least-squares",
            Self::LeaveOneOut => "leave-one-out",
            Self::Replay => "replay",
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|estimator| estimator.name() == name)
    }
}

/// What becomes of the cost of the loop that makes the calls.
///
/// It is about throughput: latency is that of a chain, whose link is taken off in any case. [`estimator`](crate::estimator) says
/// more.
///
/// ```
/// use nanobench::{Config, Overhead};
///
/// assert_eq!(Config::default().overhead, Overhead::Raw);
/// assert_eq!(Overhead::Subtract.name(), "subtract");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Overhead {
    /// It is a part of every figure. A processor that works on several things at once may run the loop beside the function, at no
    /// cost.
    #[default]
    Raw,
    /// The same, with a row for what the loop costs around nothing.
    Show,
    /// What it costs around nothing is taken off every figure, and has a row.
    Subtract,
}

impl Overhead {
    const ALL: [Self; 3] = [Self::Raw, Self::Show, Self::Subtract];

    /// The name, as settings and results use it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Show => "show",
            Self::Subtract => "subtract",
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|overhead| overhead.name() == name)
    }
}

/// How a benchmark is measured, and how its figures are shown.
///
/// ```
/// let config = nanobench::Config::default();
/// assert_eq!((config.epochs, config.unit.as_str(), config.batch), (11, "op", 1.0));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Config {
    /// How many epochs at least are measured before the precision decides.
    pub epochs: u64,
    /// How many times the clock's resolution an epoch should take.
    pub clock_resolution_multiple: u64,
    /// The least time that an epoch should take. It wins over `max_epoch_time`.
    pub min_epoch_time: Duration,
    /// The most time that an epoch should take.
    pub max_epoch_time: Duration,
    /// The least number of calls in an epoch.
    pub min_epoch_iterations: u64,
    /// The exact number of calls in an epoch; 0 leaves it to the engine. It wins over every other setting.
    pub epoch_iterations: u64,
    /// How many calls are made before anything is measured.
    pub warmup: u64,
    /// Half of the width of the 95 % interval, as a share of the figure, at which measuring ends.
    pub precision: f64,
    /// The most time that a benchmark may take; the call that is running when it is over still ends. Those of more than
    /// five rows and cold ones have another default.
    pub max_time: Duration,
    /// Whether each group of inputs gets a second row, for one input over and over. Each such row may take `max_time` as well.
    pub compare_repeated: bool,
    /// Whether each call finds its data out of the caches; see [`Bench::cold`](crate::Bench::cold).
    pub cold: bool,
    /// How the costs of groups of inputs are told apart.
    pub estimator: Estimator,
    /// What becomes of the cost of the loop that makes the calls; see [`Bench::overhead`](crate::Bench::overhead).
    pub overhead: Overhead,
    /// What one unit of work is called in the table.
    pub unit: String,
    /// How many units of work one call does.
    pub batch: f64,
    /// How many bytes a call works on, for a column of bytes per second.
    pub bytes: Option<f64>,
    /// How many items a call works on, likewise.
    pub items: Option<f64>,
    /// How many characters a call works on, likewise.
    pub chars: Option<f64>,
    /// The unit of time in the table.
    pub time_unit: TimeUnit,
    /// What the benchmarks of a table have in common: the head of the column of names.
    pub title: String,
    /// Whether the table compares each benchmark with the first one.
    pub relative: bool,
    /// The size of the input, for [`Bench::complexity_big_o`](crate::Bench::complexity_big_o).
    pub complexity_n: Option<f64>,
    /// What else is to be known of the benchmark: names and values, for templates and columns.
    pub context: Vec<(String, String)>,
    /// Whether `max_time` was given by one of the sources, and is not to be replaced with another default.
    pub(crate) is_max_time_given: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            epochs: 11,
            clock_resolution_multiple: 1_000,
            min_epoch_time: Duration::from_micros(100),
            max_epoch_time: Duration::from_millis(100),
            min_epoch_iterations: 1,
            epoch_iterations: 0,
            warmup: 0,
            precision: 0.005,
            max_time: DEFAULT_MAX_TIME,
            compare_repeated: false,
            cold: false,
            estimator: Estimator::LeastSquares,
            overhead: Overhead::Raw,
            unit: DEFAULT_UNIT.to_owned(),
            batch: 1.0,
            bytes: None,
            items: None,
            chars: None,
            time_unit: TimeUnit::default(),
            title: DEFAULT_TITLE.to_owned(),
            relative: false,
            complexity_n: None,
            context: Vec::new(),
            is_max_time_given: false,
        }
    }
}

/// The settings that one source gives; `None` leaves a setting to the sources before it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    /// See `Config::epochs`.
    pub epochs: Option<u64>,
    /// See `Config::clock_resolution_multiple`.
    pub clock_resolution_multiple: Option<u64>,
    /// See `Config::min_epoch_time`.
    pub min_epoch_time: Option<Duration>,
    /// See `Config::max_epoch_time`.
    pub max_epoch_time: Option<Duration>,
    /// See `Config::min_epoch_iterations`.
    pub min_epoch_iterations: Option<u64>,
    /// See `Config::epoch_iterations`.
    pub epoch_iterations: Option<u64>,
    /// See `Config::warmup`.
    pub warmup: Option<u64>,
    /// See `Config::precision`.
    pub precision: Option<f64>,
    /// See `Config::max_time`.
    pub max_time: Option<Duration>,
    /// See `Config::compare_repeated`.
    pub compare_repeated: Option<bool>,
    /// See `Config::cold`.
    pub cold: Option<bool>,
    /// See `Config::estimator`; its name.
    pub estimator: Option<String>,
    /// See `Config::overhead`; its name.
    pub overhead: Option<String>,
    /// See `Config::unit`.
    pub unit: Option<String>,
    /// See `Config::batch`.
    pub batch: Option<f64>,
    /// See `Config::bytes`.
    pub bytes: Option<f64>,
    /// See `Config::items`.
    pub items: Option<f64>,
    /// See `Config::chars`.
    pub chars: Option<f64>,
    /// See `Config::time_unit`; the name of the unit.
    pub time_unit: Option<String>,
}

impl Overrides {
    /// Finds the first setting whose value is out of range: its name, and what would have been right.
    pub(crate) fn check(&self) -> Result<(), (&'static str, &'static str)> {
        let at_least_one = |value: Option<u64>| value.is_none_or(|value| value > 0);
        let positive_time = |value: Option<Duration>| value.is_none_or(|value| !value.is_zero());
        if !at_least_one(self.epochs) {
            return Err(("epochs", "at least 1"));
        }
        if !at_least_one(self.clock_resolution_multiple) {
            return Err(("clock_resolution_multiple", "at least 1"));
        }
        if !positive_time(self.max_epoch_time) {
            return Err(("max_epoch_time", "longer than zero"));
        }
        if !positive_time(self.max_time) {
            return Err(("max_time", "longer than zero"));
        }
        if !self.precision.is_none_or(|share| share > 0.0 && share < 1.0) {
            return Err(("precision", SHARE));
        }
        let amounts = [("batch", self.batch), ("bytes", self.bytes), ("items", self.items), ("chars", self.chars)];
        for (name, amount) in amounts {
            if !amount.is_none_or(|amount| amount > 0.0 && amount.is_finite()) {
                return Err((name, NUMBER));
            }
        }
        if !self.unit.as_ref().is_none_or(|unit| !unit.is_empty() && !unit.contains(char::is_control)) {
            return Err(("unit", "a name that can be printed, such as byte"));
        }
        if self.estimator.as_ref().is_some_and(|name| Estimator::named(name).is_none()) {
            return Err(("estimator", "least-squares, leave-one-out or replay"));
        }
        if self.overhead.as_ref().is_some_and(|name| Overhead::named(name).is_none()) {
            return Err(("overhead", "raw, show or subtract"));
        }
        if self.time_unit.as_ref().is_some_and(|name| TimeUnit::named(name).is_none()) {
            return Err(("time_unit", "ns, us, ms or s"));
        }
        Ok(())
    }
}

impl Config {
    /// The same with a default of `max_time` for a benchmark of so many rows.
    pub(crate) fn with_rows(&self, rows: u32) -> Self {
        let mut config = self.clone();
        if !config.is_max_time_set() {
            config.max_time = DEFAULT_MAX_TIME.max(rows * DEFAULT_MAX_TIME_OF_ROW);
        }
        config
    }

    /// Whether `max_time` is not just the default.
    pub(crate) fn is_max_time_set(&self) -> bool {
        self.is_max_time_given || self.max_time != DEFAULT_MAX_TIME
    }

    /// The estimator where there are groups of inputs. Cold samples are single calls, of which nothing can be left out.
    pub(crate) fn applied_estimator(&self) -> Estimator {
        if self.cold { Estimator::LeastSquares } else { self.estimator }
    }

    /// The same, overridden by each of `sources` in turn.
    pub(crate) fn overridden(mut self, sources: &[&Overrides]) -> Self {
        let config = &mut self;
        for source in sources {
            // Every field is named here, so that a new setting cannot be forgotten.
            let Overrides {
                epochs,
                clock_resolution_multiple,
                min_epoch_time,
                max_epoch_time,
                min_epoch_iterations,
                epoch_iterations,
                warmup,
                precision,
                max_time,
                compare_repeated,
                cold,
                estimator,
                overhead,
                unit,
                batch,
                bytes,
                items,
                chars,
                time_unit,
            } = (*source).clone();
            override_with(&mut config.epochs, epochs);
            override_with(&mut config.clock_resolution_multiple, clock_resolution_multiple);
            override_with(&mut config.min_epoch_time, min_epoch_time);
            override_with(&mut config.max_epoch_time, max_epoch_time);
            override_with(&mut config.min_epoch_iterations, min_epoch_iterations);
            override_with(&mut config.epoch_iterations, epoch_iterations);
            override_with(&mut config.warmup, warmup);
            override_with(&mut config.precision, precision);
            config.is_max_time_given |= max_time.is_some();
            override_with(&mut config.max_time, max_time);
            override_with(&mut config.compare_repeated, compare_repeated);
            override_with(&mut config.cold, cold);
            override_with(&mut config.estimator, estimator.and_then(|name| Estimator::named(&name)));
            override_with(&mut config.overhead, overhead.and_then(|name| Overhead::named(&name)));
            override_with(&mut config.unit, unit);
            override_with(&mut config.batch, batch);
            config.bytes = bytes.or(config.bytes);
            config.items = items.or(config.items);
            config.chars = chars.or(config.chars);
            override_with(&mut config.time_unit, time_unit.and_then(|name| TimeUnit::named(&name)));
        }
        self
    }
}

fn override_with<T>(setting: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *setting = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_sources_win_and_leave_the_rest_alone() {
        let attribute = Overrides { epochs: Some(5), warmup: Some(3), ..Overrides::default() };
        let environment = Overrides { epochs: Some(6), ..Overrides::default() };
        let command_line = Overrides { epochs: Some(7), ..Overrides::default() };
        let config = Config::default().overridden(&[&attribute, &environment, &command_line]);
        assert_eq!((config.epochs, config.warmup), (7, 3));
        assert_eq!(config.precision, Config::default().precision);
    }

    #[test]
    fn many_rows_have_more_time_unless_somebody_said_how_much() {
        let max_time = |config: &Config| [1, 5, 6, 20].map(|rows| config.with_rows(rows).max_time.as_millis());
        assert_eq!(max_time(&Config::default()), [50, 50, 60, 200]);
        // The default may be asked for.
        for said in [20, 50, 70] {
            let flag = Overrides { max_time: Some(Duration::from_millis(said)), ..Overrides::default() };
            assert_eq!(max_time(&Config::default().overridden(&[&flag])), [u128::from(said); 4]);
        }
    }
}
