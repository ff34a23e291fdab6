//! The run of a bench target, from its arguments to its exit code.

use std::any::Any;
use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::time::Instant;

use nanobench_timer::affinity::Pinned;
use termcolor::{ColorChoice, StandardStream};

use crate::bench::{ENDLESS, terminal_colors};
use crate::cli::{self, Action, Arguments, Choice, Color, Format, Request, UsageError};
use crate::complexity::{Complexity, Point};
use crate::config::{CONFIG_VARIABLE, Config, Overrides, SETTINGS, SettingError};
use crate::cpus::{self, PlacementError};
use crate::engine;
use crate::machine::{self, MachineClock};
use crate::measurement::{Figure, Interval, Measurement};
use crate::printable::{complain, printable};
use crate::registry::{self, Benchmark, RegistryError};
use crate::report::Report;
use crate::report::json_lines::JsonLines;
use crate::report::sweep::SweepTable;
use crate::report::table::Table;
use crate::stability;
use crate::target::{Mode, Target, WithAmounts};

/// The benchmarks cannot be run, or the output cannot be written.
const FAILURE: u8 = 1;
/// The command line or a variable is wrong. The number is the one that most programs use.
const USAGE: u8 = 2;
/// A benchmark panicked. The number is that of a Rust program that panics.
const PANICKED: u8 = 101;

/// From which share of the time on that the hypervisor took it is worth mentioning.
const MENTIONED_STOLEN_SHARE: f64 = 0.02;

/// The variable that says what `--mode` says. It is no setting of the engine, since it is about which measurements there are
/// and not about how one is made.
const MODE: &str = "NANOBENCH_MODE";
/// The variable that says what `--threads` says.
const THREADS: &str = "NANOBENCH_THREADS";
/// The variable that says what `--cpu` says.
const CPU: &str = "NANOBENCH_CPU";

/// Runs the benchmarks of this program as its arguments and the environment ask. [`main!`](crate::main) calls it.
#[must_use]
pub fn main() -> ExitCode {
    let code = match run() {
        Ok(code) => code,
        // Whoever read the output has seen enough, as `head` does.
        Err(Error::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => 0,
        Err(error) => {
            complain(&error.to_string());
            error.exit_code()
        }
    };
    ExitCode::from(code)
}

/// Why a run ended early.
#[derive(Debug)]
enum Error {
    Usage(UsageError),
    Setting(SettingError),
    /// The flag or the variable that asks for it, and what is wrong.
    Placement(&'static str, PlacementError),
    Registry(RegistryError),
    Output(io::Error),
}

impl Error {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) | Self::Setting(_) | Self::Placement(..) => USAGE,
            Self::Registry(_) | Self::Output(_) => FAILURE,
        }
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Usage(error) => error.fmt(f),
            Self::Setting(error) => error.fmt(f),
            Self::Placement(place, error) => write!(f, "{place}: {error}"),
            Self::Registry(error) => error.fmt(f),
            Self::Output(error) => write!(f, "cannot write the results: {error}"),
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

fn run() -> Result<u8, Error> {
    let arguments = match cli::parse(std::env::args_os().skip(1)).map_err(Error::Usage)? {
        Request::Run(arguments) => arguments,
        Request::Help => {
            write!(io::stdout(), "{}", cli::help())?;
            return Ok(0);
        }
        Request::Version => {
            writeln!(io::stdout(), "nanobench {}", env!("CARGO_PKG_VERSION"))?;
            return Ok(0);
        }
    };
    let threads = match (&arguments.threads, std::env::var_os(THREADS)) {
        (None, Some(value)) => Some(cli::parse_threads(THREADS, value.to_string_lossy().into()).map_err(Error::Usage)?),
        (threads, _) => threads.clone(),
    };
    let benchmarks = registry::benchmarks(threads.as_deref()).map_err(Error::Registry)?;
    let chosen = Chosen::new(benchmarks, &arguments);
    match arguments.action {
        Action::List => list(&chosen),
        Action::RunOnce => run_once(&chosen),
        Action::Measure => measure(&chosen, &arguments),
    }
}

/// The benchmarks that the command line means.
struct Chosen {
    /// In source order, each with whether it is only there to be counted, because it is marked `ignore`.
    benchmarks: Vec<(Benchmark, bool)>,
    /// What is not meant, but others may be compared with.
    other_baselines: Vec<Benchmark>,
    filtered_out: usize,
}

impl Chosen {
    fn new(benchmarks: Vec<Benchmark>, arguments: &Arguments) -> Self {
        let mut chosen = Self { benchmarks: Vec::new(), other_baselines: Vec::new(), filtered_out: 0 };
        for benchmark in benchmarks {
            match arguments.selection.choose(&benchmark.id, benchmark.is_ignored()) {
                Choice::Selected => chosen.benchmarks.push((benchmark, false)),
                Choice::Ignored => chosen.benchmarks.push((benchmark, true)),
                Choice::FilteredOut => {
                    chosen.filtered_out += 1;
                    if benchmark.entry.baseline {
                        chosen.other_baselines.push(benchmark);
                    }
                }
            }
        }
        chosen
    }

    /// Those that are to run.
    fn selected(&self) -> impl Iterator<Item = &Benchmark> {
        self.benchmarks.iter().filter(|(_, is_ignored)| !is_ignored).map(|(benchmark, _)| benchmark)
    }

    fn ignored(&self) -> usize {
        self.benchmarks.iter().filter(|(_, is_ignored)| *is_ignored).count()
    }

    /// Says so if there is nothing to do, and why.
    fn complain_if_empty(&self) {
        if self.benchmarks.is_empty() {
            let plural = if self.filtered_out == 1 { "" } else { "s" };
            complain(&format!("nothing matches: {} benchmark{plural} left out; --list names them", self.filtered_out));
        } else if self.selected().next().is_none() {
            complain(&format!("nothing to run: {} ignored; --include-ignored runs them too", self.ignored()));
        }
    }
}

/// Prints the names in the form that libtest has given them, for cargo and nextest to read.
fn list(chosen: &Chosen) -> Result<u8, Error> {
    let mut out = io::stdout().lock();
    for (benchmark, _is_ignored) in &chosen.benchmarks {
        writeln!(out, "{}: benchmark", benchmark.id)?;
    }
    out.flush()?;
    Ok(0)
}

/// Calls each benchmark once, and reports in the form of libtest, since it is run among tests.
fn run_once(chosen: &Chosen) -> Result<u8, Error> {
    chosen.complain_if_empty();
    let begin = Instant::now();
    let (mut passed, mut failed) = (0, 0);
    let count = chosen.benchmarks.len();
    writeln!(io::stdout(), "\nrunning {count} benchmark{}, once each", if count == 1 { "" } else { "s" })?;
    for (benchmark, is_ignored) in &chosen.benchmarks {
        let verdict = if *is_ignored {
            "ignored"
        } else if catching_panics(|| benchmark.visit(&mut |target| engine::call_once(target))).is_ok() {
            passed += 1;
            "ok"
        } else {
            failed += 1;
            "FAILED"
        };
        writeln!(io::stdout(), "test {} ... {verdict}", benchmark.id)?;
    }
    writeln!(
        io::stdout(),
        "\ntest result: {}. {passed} passed; {failed} failed; {} ignored; 0 measured; {} filtered out; finished in {:.2}s\n",
        if failed == 0 { "ok" } else { "FAILED" },
        chosen.ignored(),
        chosen.filtered_out,
        begin.elapsed().as_secs_f64(),
    )?;
    Ok(if failed == 0 { 0 } else { PANICKED })
}

/// A benchmark with its configuration, or with the message of a panic in one of its settings.
type Configured<'a> = (&'a Benchmark, Result<Config, String>);

/// Measures each benchmark and prints its rows as soon as they are known.
fn measure(chosen: &Chosen, arguments: &Arguments) -> Result<u8, Error> {
    let (environment, errors) = Overrides::from_environment(&|name| std::env::var(name));
    if let Some(error) = errors.into_iter().next() {
        return Err(Error::Setting(error));
    }
    let modes = match (arguments.modes, std::env::var_os(MODE)) {
        (None, Some(value)) => Some(cli::parse_modes(MODE, value.to_string_lossy().into()).map_err(Error::Usage)?),
        (modes, _) => modes,
    };
    // All settings are checked before anything runs, so that a mistake in the last does not cost the time of the others.
    let configured = chosen
        .selected()
        .map(|benchmark| {
            let config = configure(benchmark, &environment, &arguments.overrides)?;
            Ok((benchmark, config.map(|config| Config { complexity_n: benchmark.complexity_n(), ..config })))
        })
        .collect::<Result<Vec<_>, _>>()
        .map_err(Error::Setting)?;
    let pinned = pin(arguments)?;
    let cpu = pinned.as_ref().and_then(Pinned::cpu);
    if !arguments.quiet {
        complain_of_unknown_variables();
    }
    if let Some(name) = std::env::var_os(ENDLESS) {
        match configured.iter().find(|(benchmark, _)| *benchmark.id == *name) {
            Some((benchmark, Ok(config))) => run_endlessly(benchmark, config),
            Some((_, Err(message))) => complain(&format!("{ENDLESS}: {name:?} panicked: {message}")),
            None => complain(&format!("{ENDLESS}: no selected benchmark is named {name:?}; --list names them")),
        }
    }
    if !arguments.quiet {
        stability::warn_once();
    }
    chosen.complain_if_empty();
    complain_of_missing_modes(chosen, modes);
    if arguments.sweep {
        return sweep(&configured, modes.unwrap_or(&[Mode::Throughput, Mode::Latency]), arguments, cpu);
    }
    let mut measurements = Vec::new();
    for (benchmark, config) in &configured {
        let modes = modes.unwrap_or(benchmark.entry.modes).iter().filter(|mode| benchmark.entry.can_measure(**mode));
        measurements.extend(modes.map(|mode| (*benchmark, *mode, config)));
    }
    if measurements.is_empty() {
        return Ok(0);
    }
    let mut report: Box<dyn Report> = match arguments.format {
        Format::Table => Box::new(Table::new(StandardStream::stdout(color_choice(arguments.color)), arguments.quiet)),
        Format::JsonLines => Box::new(JsonLines::new(io::stdout())),
    };
    report.begin(&machine::facts(cpu))?;
    let clock = MachineClock::new();
    let (begin, stolen_before) = (Instant::now(), machine::stolen_seconds());
    let mut code = 0;
    let mut hinted = "";
    let mut curves: Vec<Curve> = Vec::new();
    let batch_of = |benchmark: &Benchmark| {
        let config = configure(benchmark, &environment, &arguments.overrides).ok()?.ok()?;
        Some(config.batch)
    };
    for (benchmark, mode, config) in measurements {
        let is_curve = benchmark.entry.complexity;
        let series = benchmark.series();
        // The cases of a function follow each other, in each mode by turns.
        if curves.first().is_some_and(|curve| !is_curve || curve.series != series) {
            for curve in curves.drain(..) {
                report.complexity(&curve.series, curve.mode, &Complexity::new(&curve.points))?;
            }
        }
        let measured = config.as_ref().map_err(String::clone).and_then(|config| {
            catching_panics(|| {
                let mut measurement = None;
                benchmark.visit(&mut |target| {
                    measurement = Some(engine::measure(&benchmark.id, mode, target, config, &clock));
                });
                let measurement = measurement.expect("a benchmark that shows no target panics");
                Measurement { relative: relative(chosen, benchmark, mode, config, &batch_of, &clock), ..measurement }
            })
        });
        let measurement = measured.unwrap_or_else(|message| {
            code = PANICKED;
            Measurement::panicked(&benchmark.id, mode, message)
        });
        if let Some(adds_per_cycle) = measurement.adds_per_cycle {
            clock.learn(adds_per_cycle);
        }
        report.measurement(&measurement)?;
        if is_curve {
            let known = curves.iter().position(|curve| curve.mode == mode);
            let index = known.unwrap_or_else(|| {
                curves.push(Curve { series, mode, points: Vec::new() });
                curves.len() - 1
            });
            curves[index].points.extend(Point::of(&measurement));
        }
        // What there is to say about a benchmark is the same in each of its modes.
        if !arguments.quiet && hinted != benchmark.id {
            hint(&measurement);
            hinted = &benchmark.id;
        }
    }
    for curve in curves {
        report.complexity(&curve.series, curve.mode, &Complexity::new(&curve.points))?;
    }
    report.finish()?;
    if let (Some(before), Some(after), false) = (stolen_before, machine::stolen_seconds(), arguments.quiet) {
        let share = (after - before) / begin.elapsed().as_secs_f64();
        // One step of the count may be an old debt.
        if after - before > 0.025 && share > MENTIONED_STOLEN_SHARE {
            complain(&format!(
                "the hypervisor ran other machines for {:.0} % of the time (steal time): figures of slow functions hold a part of it",
                100.0 * share
            ));
        }
    }
    Ok(code)
}

/// Pins this thread to the CPU that the command line or the environment asks for, until the result is dropped.
fn pin(arguments: &Arguments) -> Result<Option<Pinned>, Error> {
    let (place, placement) = match (arguments.cpu, std::env::var_os(CPU)) {
        (Some(placement), _) => ("--cpu", placement),
        (None, Some(value)) => (CPU, cli::parse_cpu(CPU, value.to_string_lossy().into()).map_err(Error::Usage)?),
        (None, None) => return Ok(None),
    };
    let pinned = cpus::pin(placement).map_err(|error| Error::Placement(place, error))?;
    if pinned.is_none() {
        complain(&format!("{place}: this system cannot keep a thread on a CPU"));
    }
    Ok(pinned)
}

/// How many times as fast as the baseline of its module a benchmark is, per unit of work; none if there is no baseline.
fn relative(
    chosen: &Chosen,
    benchmark: &Benchmark,
    mode: Mode,
    config: &Config,
    baseline_batch: &dyn Fn(&Benchmark) -> Option<f64>,
    clock: &MachineClock,
) -> Option<Figure> {
    if benchmark.entry.baseline {
        return Some(Figure { value: 1.0, interval: None });
    }
    let mut others = chosen.benchmarks.iter().map(|(other, _)| other).chain(&chosen.other_baselines);
    let baseline = others.find(|other| benchmark.has_baseline(other))?;
    if !baseline.entry.can_measure(mode) {
        return None;
    }
    let per_unit = config.batch / baseline_batch(baseline)?;
    let mut comparison = None;
    // The figure of the benchmark by itself is good, whatever becomes of the baseline.
    catching_panics(|| {
        baseline.visit(&mut |first| {
            benchmark.visit(&mut |second| {
                let mut first = WithAmounts { inner: &mut *first, amounts: Vec::new() };
                let mut second = WithAmounts { inner: second, amounts: Vec::new() };
                let mut targets: [(&str, &mut dyn Target); 2] =
                    [(&baseline.id, &mut first), (&benchmark.id, &mut second)];
                comparison = Some(engine::compare(&mut targets, mode, config, clock));
            });
        });
    })
    .ok()?;
    let entry = &comparison?.entries[1];
    let interval = Interval { low: per_unit * entry.relative_low, high: per_unit * entry.relative_high };
    Some(Figure { value: per_unit * entry.relative, interval: interval.high.is_finite().then_some(interval) })
}

/// The costs of one function over its argument.
struct Curve {
    series: String,
    mode: Mode,
    points: Vec<Point>,
}

/// Prints a table for each benchmark: what a call costs against the calls in a sample.
fn sweep(configured: &[Configured], modes: &[Mode], arguments: &Arguments, cpu: Option<usize>) -> Result<u8, Error> {
    let modes_of = |benchmark: &Benchmark| -> Vec<Mode> {
        modes.iter().copied().filter(|mode| benchmark.entry.can_measure(*mode)).collect()
    };
    let mut sweeps = configured
        .iter()
        .map(|(benchmark, config)| (benchmark, modes_of(benchmark), config))
        .filter(|(_, modes, _)| !modes.is_empty())
        .peekable();
    if sweeps.peek().is_none() {
        return Ok(0);
    }
    let mut report = SweepTable::new(StandardStream::stdout(color_choice(arguments.color)), arguments.quiet);
    report.begin(&machine::facts(cpu))?;
    let clock = MachineClock::new();
    let mut code = 0;
    for (benchmark, modes, config) in sweeps {
        let swept = config.as_ref().map_err(String::clone).and_then(|config| {
            catching_panics(|| {
                let mut swept = None;
                benchmark.visit(&mut |target| {
                    swept = Some(engine::sweep(target, &modes, config, &clock));
                });
                swept.expect("a benchmark that shows no target panics")
            })
        });
        match swept {
            Ok(swept) => report.sweep(&benchmark.id, &swept)?,
            Err(message) => {
                code = PANICKED;
                report.panicked(&benchmark.id, &message)?;
            }
        }
    }
    Ok(code)
}

/// The configuration of a benchmark, or the message of a panic in an expression that gives one of its settings.
fn configure(
    benchmark: &Benchmark,
    environment: &Overrides,
    flags: &Overrides,
) -> Result<Result<Config, String>, SettingError> {
    let groups = benchmark.groups.iter().map(|group| (group.settings, group.place()));
    let mut config = Config::default();
    for (settings, place) in groups.chain([(benchmark.entry.settings, benchmark.entry.place())]) {
        let attribute = match settings.map(catching_panics) {
            None => continue,
            Some(Ok(attribute)) => attribute,
            Some(Err(message)) => return Ok(Err(message)),
        };
        attribute.check().map_err(|(name, expected)| SettingError {
            place: format!("{place}: {name}"),
            value: None,
            expected,
        })?;
        config = config.overridden(&[&attribute]);
    }
    Ok(Ok(config.overridden(&[environment, flags])))
}

/// Names the benchmarks that cannot be measured in the modes asked for.
fn complain_of_missing_modes(chosen: &Chosen, modes: Option<&[Mode]>) {
    let is_missing = |benchmark: &&Benchmark| {
        modes.is_some_and(|modes| !modes.iter().all(|mode| benchmark.entry.can_measure(*mode)))
    };
    let missing: Vec<String> =
        chosen.selected().filter(is_missing).map(|benchmark| format!("`{}`", benchmark.id)).collect();
    if !missing.is_empty() {
        complain(&format!(
            "no latency of {}: not compiled for it; write #[nanobench(latency, inputs = ..)]",
            missing.join(", ")
        ));
    }
}

fn complain_of_unknown_variables() {
    for (name, _value) in std::env::vars_os() {
        let Some(name) = name.to_str().filter(|name| name.starts_with("NANOBENCH_")) else { continue };
        if ![ENDLESS, MODE, THREADS, CPU, CONFIG_VARIABLE, stability::SUPPRESS].contains(&name)
            && !SETTINGS.iter().any(|setting| setting.variable() == name)
        {
            complain(&format!("{} is not a setting and is ignored; --help lists those there are", printable(name)));
        }
    }
}

fn run_endlessly(benchmark: &Benchmark, config: &Config) -> ! {
    let _ = writeln!(io::stderr(), "{ENDLESS} set: running '{}' endlessly", benchmark.id);
    benchmark.visit(&mut |target| engine::run_endlessly(target, config, &MachineClock::new()));
    unreachable!("a benchmark that shows no target panics")
}

fn color_choice(color: Color) -> ColorChoice {
    match color {
        Color::Always => ColorChoice::Always,
        Color::Never => ColorChoice::Never,
        Color::Auto => terminal_colors(),
    }
}

fn hint(measurement: &Measurement) {
    if let Some(inputs) = measurement.ungrouped_inputs {
        complain(&format!(
            "`{}` has {inputs} inputs with too many distinct values for a row each; `by = |x| ..` puts them into groups",
            measurement.id
        ));
    }
}

/// Runs user code. A panic gives its message; the panic hook has printed it already, with its place.
fn catching_panics<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    panic::catch_unwind(AssertUnwindSafe(run)).map_err(|payload| {
        let message = message(&*payload);
        // The payload may be a value of the user whose drop panics in turn.
        if panic::catch_unwind(AssertUnwindSafe(|| drop(payload))).is_err() {
            complain("dropping the value of a panic panicked");
        }
        message
    })
}

fn message(payload: &(dyn Any + Send)) -> String {
    if let Some(text) = payload.downcast_ref::<&str>() {
        (*text).to_owned()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.clone()
    } else {
        "with a value that is not text".to_owned()
    }
}
