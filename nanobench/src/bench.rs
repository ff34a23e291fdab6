//! `Bench`: benchmarks written in code.

use std::io::{self, IsTerminal, Write};
use std::sync::Once;
use std::time::Duration;

use termcolor::{ColorChoice, NoColor, StandardStream};

use crate::closure::{Plain, WithInput, WithInputRef, WithState};
use crate::comparison::Comparison;
use crate::complexity::{Class, Complexity, Point};
use crate::config::{Config, Overhead, Overrides, TimeUnit};
use crate::engine;
use crate::machine::MachineClock;
use crate::measurement::Measurement;
use crate::printable::{complain, printable};
use crate::report::table::{Column, Table};
use crate::report::template::{self, RenderError, TemplateResult};
use crate::report::{self, Report};
use crate::stability;
use crate::target::{Mode, Target};

/// The variable that names a benchmark to be run for ever.
pub(crate) const ENDLESS: &str = "NANOBENCH_ENDLESS";

/// Benchmarks written in code: in a test, a program or a loop, rather than under [`#[nanobench]`](macro@crate::nanobench).
///
/// It measures closures one after the other, in the same way as the attribute does, prints a row for each as soon as it is known,
/// and keeps the [`results`](Self::results). Settings hold for all that follow; those that the environment gives, such as
/// `NANOBENCH_MAX_TIME=1s` or `NANOBENCH_CONFIG="epochs=51,min_epoch_time=5ms"`, win over those in code, so that a program need
/// not be compiled anew. A value there that cannot be used is named on standard error and left out.
///
/// Methods that set something panic if the value is out of range. A panic in a closure goes on to the caller; the results so far
/// stay. Where the output cannot be written, measuring goes on without it: see [`output_error`](Self::output_error).
///
/// # Examples
///
/// ```
/// use nanobench::{Bench, black_box};
///
/// let mut bench = Bench::new();
/// bench.title("text to number").unit("digit").relative(true);
/// for text in ["7", "4711", "1234567890123456789"] {
///     bench.batch(text.len() as f64).run(text, || black_box(text).parse::<u64>());
/// }
/// assert_eq!(bench.results().len(), 3);
/// ```
///
/// ```text
/// | relative |            ns/digit |                          95% CI |             digit/s |    err% |       cyc/digit |     total | text to number
/// |---------:|--------------------:|--------------------------------:|--------------------:|--------:|----------------:|----------:|:---------------
/// ```
pub struct Bench {
    config: Config,
    /// None if nobody wants to see it.
    table: Option<Table<'static>>,
    output_error: Option<io::Error>,
    results: Vec<Measurement>,
}

impl Default for Bench {
    fn default() -> Self {
        Self::new()
    }
}

impl Bench {
    /// A bench with the default settings, which prints to standard output, in colours if that is a terminal.
    #[must_use]
    pub fn new() -> Self {
        let stdout = StandardStream::stdout(terminal_colors());
        Self {
            config: Config::default(),
            table: Some(Table::new(stdout, false)),
            output_error: None,
            results: Vec::new(),
        }
    }

    /// What the benchmarks have in common. Another title starts a new table, and forgets the results.
    pub fn title(&mut self, title: impl Into<String>) -> &mut Self {
        let title = title.into();
        if title != self.config.title {
            self.config.title = title;
            self.start_afresh();
        }
        self
    }

    /// What one unit of work is called, in the singular: `op` by default. Another one starts a new table, and forgets the results.
    ///
    /// # Panics
    ///
    /// If it is empty or contains control characters.
    #[track_caller]
    pub fn unit(&mut self, unit: impl Into<String>) -> &mut Self {
        let unit = unit.into();
        if unit != self.config.unit {
            self.set(Overrides { unit: Some(unit), ..Overrides::default() });
            self.start_afresh();
        }
        self
    }

    /// How many units of work a call does: 1 by default. All figures are per unit.
    ///
    /// # Panics
    ///
    /// If it is not a number above zero.
    #[track_caller]
    pub fn batch(&mut self, batch: f64) -> &mut Self {
        self.set(Overrides { batch: Some(batch), ..Overrides::default() })
    }

    /// Whether a column compares each benchmark of a table with the first: 200 % is twice as fast. Off by default.
    ///
    /// That compares figures which were measured one after the other; [`compare`](Self::compare) is better at it.
    pub fn relative(&mut self, relative: bool) -> &mut Self {
        self.config.relative = relative;
        self
    }

    /// In which unit the table gives times: nanoseconds by default.
    ///
    /// # Panics
    ///
    /// If the length is zero.
    #[track_caller]
    pub fn time_unit(&mut self, length: Duration, name: impl Into<String>) -> &mut Self {
        self.config.time_unit = TimeUnit::new(length, name);
        self
    }

    /// How many epochs at least are measured before the precision decides: 11 by default.
    ///
    /// # Panics
    ///
    /// If it is zero.
    #[track_caller]
    pub fn epochs(&mut self, epochs: u64) -> &mut Self {
        self.set(Overrides { epochs: Some(epochs), ..Overrides::default() })
    }

    /// How many times the clock's resolution an epoch should take: 1000 by default.
    ///
    /// # Panics
    ///
    /// If it is zero.
    #[track_caller]
    pub fn clock_resolution_multiple(&mut self, multiple: u64) -> &mut Self {
        self.set(Overrides { clock_resolution_multiple: Some(multiple), ..Overrides::default() })
    }

    /// The least time of an epoch, 100 us by default. It wins over [`max_epoch_time`](Self::max_epoch_time).
    pub fn min_epoch_time(&mut self, time: Duration) -> &mut Self {
        self.set(Overrides { min_epoch_time: Some(time), ..Overrides::default() })
    }

    /// The most time of an epoch, 100 ms by default.
    ///
    /// # Panics
    ///
    /// If it is zero.
    #[track_caller]
    pub fn max_epoch_time(&mut self, time: Duration) -> &mut Self {
        self.set(Overrides { max_epoch_time: Some(time), ..Overrides::default() })
    }

    /// The least number of calls in an epoch: 1 by default, and the same as 1 if it is zero.
    pub fn min_epoch_iterations(&mut self, iterations: u64) -> &mut Self {
        self.set(Overrides { min_epoch_iterations: Some(iterations), ..Overrides::default() })
    }

    /// The exact number of calls in an epoch, which wins over every other setting; 0, the default, leaves it to the engine.
    pub fn epoch_iterations(&mut self, iterations: u64) -> &mut Self {
        self.set(Overrides { epoch_iterations: Some(iterations), ..Overrides::default() })
    }

    /// How many calls are made before anything is measured: none by default.
    pub fn warmup(&mut self, calls: u64) -> &mut Self {
        self.set(Overrides { warmup: Some(calls), ..Overrides::default() })
    }

    /// Measuring ends when the 95 % interval is within this share of the figure: 0.005 by default.
    ///
    /// # Panics
    ///
    /// If it is not between zero and one.
    #[track_caller]
    pub fn precision(&mut self, share: f64) -> &mut Self {
        self.set(Overrides { precision: Some(share), ..Overrides::default() })
    }

    /// The most time that a benchmark may take, by default 50 ms, or 500 ms if it is [cold](Self::cold); the call that is running then still ends.
    ///
    /// # Panics
    ///
    /// If it is zero.
    #[track_caller]
    pub fn max_time(&mut self, time: Duration) -> &mut Self {
        self.set(Overrides { max_time: Some(time), ..Overrides::default() })
    }

    /// Whether each call finds its data out of the caches. Off by default.
    ///
    /// Before each call a buffer of twice the size of all caches is walked, which takes milliseconds. So calls are timed one by one,
    /// `max_time` is 500 ms where it is not set (longer where the caches are larger than 32 MiB), the times of an epoch have no say,
    /// and there are no cycles. How calls are made cold, and what stays warm, is on [the page about figures](crate::estimator).
    ///
    /// ```
    /// use nanobench::{Bench, black_box};
    ///
    /// let numbers: Vec<u64> = (0..100_000).collect();
    /// let mut bench = Bench::new();
    /// # bench.max_time(std::time::Duration::from_millis(1)).epochs(1);
    /// for is_cold in [false, true] {
    ///     bench.cold(is_cold).run("search", || numbers.binary_search(&black_box(4_711)));
    /// }
    /// ```
    pub fn cold(&mut self, cold: bool) -> &mut Self {
        self.set(Overrides { cold: Some(cold), ..Overrides::default() })
    }

    /// What becomes of the cost of the loop that makes the calls: it is a part of the figures by default, can be
    /// [shown](Overhead::Show) in a row of its own, and can be [taken off](Overhead::Subtract).
    ///
    /// The loop around nothing is timed beside every sample of the function, with as many calls; where inputs are made for these, it
    /// gets some that are made for it. [`compare`](Self::compare) compares what calls cost with the loop. Why a cost without it may be
    /// too low is on [the page about figures](crate::estimator).
    ///
    /// ```
    /// use nanobench::{Bench, Overhead, black_box};
    ///
    /// let mut bench = Bench::new();
    /// # bench.max_time(std::time::Duration::from_millis(1));
    /// bench.overhead(Overhead::Subtract).run("divide", || black_box(1_000_000_007u64) / black_box(13));
    /// assert!(bench.results()[0].empty_loop_nanoseconds().is_some());
    /// ```
    pub fn overhead(&mut self, overhead: Overhead) -> &mut Self {
        self.config.overhead = overhead;
        self
    }

    /// The size of the input of what follows, for [`complexity_big_o`](Self::complexity_big_o).
    ///
    /// # Panics
    ///
    /// If it is not a number above zero.
    #[track_caller]
    pub fn complexity_n(&mut self, n: f64) -> &mut Self {
        assert!(n > 0.0 && n.is_finite(), "complexity_n should be a number above zero");
        self.config.complexity_n = Some(n);
        self
    }

    /// Says what else is to be known of the benchmarks that follow, for [templates](crate::templates) and
    /// [columns](Self::context_column). A name that has a value gets the new one.
    pub fn context(&mut self, name: impl Into<String>, value: impl Into<String>) -> &mut Self {
        let name = name.into();
        self.config.context.retain(|(known, _)| *known != name);
        self.config.context.push((name, value.into()));
        self
    }

    /// Forgets the context.
    pub fn clear_context(&mut self) -> &mut Self {
        self.config.context.clear();
        self
    }

    /// Gives what the [context](Self::context) says of a name a column of the table, to the left of the others.
    pub fn context_column(&mut self, name: impl Into<String>) -> &mut Self {
        let name = name.into();
        if let Some(table) = &mut self.table {
            table.context_columns().retain(|known| *known != name);
            table.context_columns().push(name);
        }
        self
    }

    /// Takes the columns of the context out of the table.
    pub fn clear_context_columns(&mut self) -> &mut Self {
        if let Some(table) = &mut self.table {
            table.context_columns().clear();
        }
        self
    }

    /// Leaves a column out of the table.
    pub fn hide_column(&mut self, column: Column) -> &mut Self {
        self.set_visible(column, false)
    }

    /// Puts a column that was hidden back into the table.
    pub fn show_column(&mut self, column: Column) -> &mut Self {
        self.set_visible(column, true)
    }

    /// Whether a column is shown where it has something to say. No column is, without an output.
    #[must_use]
    pub fn is_column_visible(&self, column: Column) -> bool {
        self.table.as_ref().is_some_and(|table| table.is_visible(column))
    }

    fn set_visible(&mut self, column: Column, is_visible: bool) -> &mut Self {
        if let Some(table) = &mut self.table {
            table.set_visible(column, is_visible);
        }
        self
    }

    /// Prints to `writer` from now on, without colours, and with all columns.
    ///
    /// ```
    /// use std::io;
    /// use nanobench::Bench;
    ///
    /// let mut bench = Bench::new();
    /// bench.output(io::stderr()).run("nothing", || ());
    /// ```
    pub fn output(&mut self, writer: impl Write + 'static) -> &mut Self {
        self.table = Some(Table::new(NoColor::new(writer), false));
        self
    }

    /// Prints nothing from now on, warnings included.
    pub fn no_output(&mut self) -> &mut Self {
        self.table = None;
        self
    }

    /// Why the output could not be written, the first time that this was so. Nothing is written after that.
    #[must_use]
    pub fn output_error(&self) -> Option<&io::Error> {
        self.output_error.as_ref()
    }

    /// The settings, without what the environment says.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Takes over all settings of another bench: `bench.set_config(other.config().clone())`. Another title or unit starts a new
    /// table, and forgets the results.
    pub fn set_config(&mut self, config: Config) -> &mut Self {
        let is_same_table = (&config.title, &config.unit) == (&self.config.title, &self.config.unit);
        self.config = config;
        if !is_same_table {
            self.start_afresh();
        }
        self
    }

    /// What was measured since the title or the unit changed.
    #[must_use]
    pub fn results(&self) -> &[Measurement] {
        &self.results
    }

    /// Measures what a call of `function` costs, prints a row, and adds it to the results.
    ///
    /// What it returns goes through [`black_box`](crate::black_box), and is dropped outside the timed region if it owns
    /// something. Values that it captures are known to the compiler: hide them with `black_box` where that would be cheating.
    ///
    /// ```
    /// use nanobench::{Bench, black_box};
    ///
    /// let numbers = [3.0, 1.0, 2.0f64];
    /// Bench::new().run("sum", || black_box(&numbers).iter().sum::<f64>());
    /// ```
    pub fn run<R>(&mut self, name: impl Into<String>, function: impl FnMut() -> R) -> &mut Self {
        self.measure(name.into(), &mut Plain::new(function))
    }

    /// Has `make` called before each epoch, for a state that the measured calls change.
    ///
    /// ```
    /// use nanobench::Bench;
    ///
    /// let mut bench = Bench::new();
    /// // The vector never grows for longer than an epoch.
    /// bench.setup(Vec::new).run("push", |numbers: &mut Vec<u64>| numbers.push(1));
    /// ```
    pub fn setup<S, M: FnMut() -> S>(&mut self, make: M) -> Setup<'_, M> {
        Setup { bench: self, make }
    }

    /// Has an input made by `make` for each call, while the clock stands still. Inputs are dropped while it does as well, unless the
    /// call consumes them.
    ///
    /// ```
    /// use nanobench::Bench;
    ///
    /// let mut bench = Bench::new();
    /// let mut random = nanobench::Rng::new(1);
    /// bench
    ///     .with_inputs(|| [(); 64].map(|()| random.bounded(1_000)))
    ///     .run_refs("sort 64 numbers", |numbers| numbers.sort_unstable());
    /// ```
    pub fn with_inputs<X, M: FnMut() -> X>(&mut self, make: M) -> WithInputs<'_, M> {
        WithInputs { bench: self, make }
    }

    /// Measures several functions together and says which is faster, by how much, and how sure that is.
    ///
    /// They take turns in short rounds, so that what happens to the machine meanwhile happens to all of them: this sees differences
    /// that [`run`](Self::run), one after the other, does not. `max_time` holds for each of them. Prints a table and a sentence, which
    /// do not become part of the [`results`](Self::results).
    ///
    /// ```
    /// use nanobench::{Bench, Case, black_box};
    ///
    /// let x = 1.5f64;
    /// let comparison = Bench::new().compare([
    ///     Case::new("powi", || black_box(x).powi(3)),
    ///     Case::new("product", || black_box(x) * black_box(x) * black_box(x)),
    /// ]);
    /// println!("{}", comparison.verdict());
    /// ```
    ///
    /// # Panics
    ///
    /// If there are fewer than two cases.
    pub fn compare<'a>(&mut self, cases: impl IntoIterator<Item = Case<'a>>) -> Comparison {
        let mut cases: Vec<Case> = cases.into_iter().collect();
        let mut targets: Vec<(&str, &mut dyn Target)> = Vec::new();
        for Case { name, target } in &mut cases {
            targets.push((name, &mut **target));
        }
        let config = self.begin();
        let comparison = engine::compare(&mut targets, Mode::Throughput, &config, &MachineClock::new());
        self.write(|table| {
            table.start_afresh();
            report::comparison::write(table.out(), &comparison)
        });
        comparison
    }

    /// How the cost of the results depends on [`complexity_n`](Self::complexity_n): which of the usual classes fits best, and whether
    /// it is clearly the best. Costs are per unit; results without a size or a cost are left out.
    ///
    /// ```
    /// use nanobench::{Bench, black_box};
    ///
    /// let mut bench = Bench::new();
    /// for n in [16, 64, 256, 1_024] {
    ///     let numbers: Vec<u64> = (0..n).collect();
    ///     bench.complexity_n(n as f64).run(format!("sum {n}"), || black_box(&numbers).iter().sum::<u64>());
    /// }
    /// println!("{}", bench.complexity_big_o());
    /// ```
    #[must_use]
    pub fn complexity_big_o(&self) -> Complexity {
        Complexity::new(&self.points())
    }

    /// The same with classes of your own; [`Class::standard`] are the usual ones.
    #[must_use]
    pub fn complexity_of(&self, classes: &[Class]) -> Complexity {
        Complexity::with_classes(&self.points(), classes)
    }

    fn points(&self) -> Vec<Point> {
        self.results.iter().filter_map(Point::of).collect()
    }

    /// Fills in a template with the results and writes what comes out; see [`templates`](crate::templates) for the language, and for
    /// templates that are there already.
    ///
    /// ```
    /// use nanobench::{Bench, templates};
    ///
    /// let mut bench = Bench::new();
    /// bench.no_output().run("nothing", || ());
    /// let mut csv = Vec::new();
    /// bench.render(templates::csv(), &mut csv)?;
    /// assert!(csv.starts_with(b"\"title\";\"name\";"));
    /// # Ok::<(), nanobench::templates::RenderError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the template is wrong, in which case nothing is written, or if writing fails.
    pub fn render(&self, template: &str, mut out: impl Write) -> Result<(), RenderError> {
        let results: Vec<TemplateResult> = self.results.iter().map(TemplateResult::from).collect();
        template::render(template, &results, &mut out)
    }

    /// The settings with those of the environment, and all that there is to say before a measurement.
    fn begin(&self) -> Config {
        static COMPLAINED: Once = Once::new();
        let (environment, errors) = Overrides::from_environment(&|name| std::env::var(name));
        COMPLAINED.call_once(|| errors.iter().for_each(|error| complain(&error.to_string())));
        if self.table.is_some() {
            stability::warn_once();
        }
        self.config.clone().overridden(&[&environment])
    }

    fn measure(&mut self, name: String, target: &mut dyn Target) -> &mut Self {
        let config = self.begin();
        let clock = MachineClock::new();
        if std::env::var_os(ENDLESS).is_some_and(|endless| *endless == *name) {
            complain(&format!("{ENDLESS} set: running '{}' endlessly", printable(&name)));
            engine::run_endlessly(target, &config, &clock);
        }
        let measurement = engine::measure(&name, Mode::Throughput, target, &config, &clock);
        if let Some(adds_per_cycle) = measurement.adds_per_cycle {
            clock.learn(adds_per_cycle);
        }
        self.write(|table| table.measurement(&measurement));
        self.results.push(measurement);
        self
    }

    fn write(&mut self, write: impl FnOnce(&mut Table) -> io::Result<()>) {
        let Some(table) = self.table.as_mut().filter(|_| self.output_error.is_none()) else { return };
        self.output_error = write(table).err();
    }

    /// Applies settings that are checked in the same way as those of the other sources.
    #[track_caller]
    fn set(&mut self, overrides: Overrides) -> &mut Self {
        if let Err((name, expected)) = overrides.check() {
            panic!("{name} should be {expected}");
        }
        self.config = std::mem::take(&mut self.config).overridden(&[&overrides]);
        self
    }

    fn start_afresh(&mut self) {
        self.results.clear();
        if let Some(table) = &mut self.table {
            table.start_afresh();
        }
    }
}

/// Colours for a terminal only. termcolor itself honours `NO_COLOR` and `TERM=dumb`, but does not look whether there is one.
pub(crate) fn terminal_colors() -> ColorChoice {
    if io::stdout().is_terminal() { ColorChoice::Auto } else { ColorChoice::Never }
}

/// One of several functions that [`Bench::compare`] compares.
pub struct Case<'a> {
    name: String,
    target: Box<dyn Target + 'a>,
}

impl<'a> Case<'a> {
    /// A closure, as in [`Bench::run`].
    pub fn new<R>(name: impl Into<String>, function: impl FnMut() -> R + 'a) -> Self
    where
        R: 'a,
    {
        Self { name: name.into(), target: Box::new(Plain::new(function)) }
    }

    /// A closure that is given an input of its own in each call, as in [`WithInputs::run_values`].
    pub fn with_inputs<X: 'a, R: 'a>(
        name: impl Into<String>,
        make: impl FnMut() -> X + 'a,
        function: impl FnMut(X) -> R + 'a,
    ) -> Self {
        Self { name: name.into(), target: Box::new(WithInput::new(make, function)) }
    }
}

/// A benchmark with a state that is made before each epoch; see [`Bench::setup`].
#[must_use = "nothing is measured before `run`"]
pub struct Setup<'a, M> {
    bench: &'a mut Bench,
    make: M,
}

impl<'a, S, M: FnMut() -> S> Setup<'a, M> {
    /// Measures what a call of `function` costs, which is lent the state; see [`Bench::run`].
    pub fn run<R>(self, name: impl Into<String>, function: impl FnMut(&mut S) -> R) -> &'a mut Bench {
        self.bench.measure(name.into(), &mut WithState::new(self.make, function))
    }
}

/// A benchmark in which each call has an input of its own; see [`Bench::with_inputs`].
#[must_use = "nothing is measured before `run_values` or `run_refs`"]
pub struct WithInputs<'a, M> {
    bench: &'a mut Bench,
    make: M,
}

impl<'a, X, M: FnMut() -> X> WithInputs<'a, M> {
    /// Measures what a call of `function` costs, which is given the input; see [`Bench::run`]. If it drops it, that is part of the
    /// cost; what it returns is dropped outside the timed region.
    pub fn run_values<R>(self, name: impl Into<String>, function: impl FnMut(X) -> R) -> &'a mut Bench {
        self.bench.measure(name.into(), &mut WithInput::new(self.make, function))
    }

    /// Measures what a call of `function` costs, which is lent the input; see [`Bench::run`].
    pub fn run_refs<R>(self, name: impl Into<String>, function: impl FnMut(&mut X) -> R) -> &'a mut Bench {
        self.bench.measure(name.into(), &mut WithInputRef::new(self.make, function))
    }
}
