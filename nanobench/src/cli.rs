//! The command line: what is asked for, in the words of cargo, libtest and nextest where they have some.

use std::ffi::OsString;
use std::fmt;

use lexopt::prelude::*;
use regex_lite::Regex;

use crate::config::{Overrides, SETTINGS, SettingError};
use crate::cpus::Placement;
use crate::target::Mode;

/// What the command line asks for.
#[derive(Debug)]
pub(crate) enum Request {
    /// Deal with benchmarks.
    Run(Box<Arguments>),
    /// Print the help text.
    Help,
    /// Print the version.
    Version,
}

/// What to do with which benchmarks, and how.
#[derive(Debug)]
pub(crate) struct Arguments {
    pub(crate) action: Action,
    pub(crate) selection: Selection,
    /// Which modes to measure in, whatever the attributes say; none if they decide.
    pub(crate) modes: Option<&'static [Mode]>,
    /// With how many threads to measure, whatever the attributes say; none if they decide.
    pub(crate) threads: Option<Vec<usize>>,
    /// Where to measure; wherever the system likes if none.
    pub(crate) cpu: Option<Placement>,
    pub(crate) color: Color,
    pub(crate) format: Format,
    /// Measure with more and more calls in a sample, instead of as many as are best.
    pub(crate) sweep: bool,
    /// Print results and nothing else.
    pub(crate) quiet: bool,
    /// The engine's settings.
    pub(crate) overrides: Overrides,
}

/// What to do with the selected benchmarks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Measure them: `cargo bench`.
    Measure,
    /// Call each once, to see that it works: `cargo test --benches`.
    RunOnce,
    /// Print their names.
    List,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Color {
    /// On a terminal.
    Auto,
    Always,
    Never,
}

/// How results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// As a Markdown table.
    Table,
    /// As JSON Lines.
    JsonLines,
}

/// Which benchmarks are meant.
#[derive(Debug)]
pub(crate) struct Selection {
    /// One of these must match, unless there are none.
    filters: Vec<Filter>,
    /// None of these may match.
    skips: Vec<Filter>,
    ignored: Ignored,
}

/// What becomes of benchmarks that are marked `ignore`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ignored {
    LeftOut,
    Included,
    Only,
}

#[derive(Debug)]
enum Filter {
    Exact(String),
    Pattern(Regex),
}

impl Filter {
    fn matches(&self, id: &str) -> bool {
        match self {
            Self::Exact(name) => name == id,
            Self::Pattern(pattern) => pattern.is_match(id),
        }
    }
}

/// Whether a benchmark is to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Selected,
    /// It would be, were it not marked `ignore`.
    Ignored,
    FilteredOut,
}

impl Selection {
    /// Whether the benchmark of this name is to run.
    pub(crate) fn choose(&self, id: &str, is_ignored: bool) -> Choice {
        let is_wanted = self.filters.is_empty() || self.filters.iter().any(|filter| filter.matches(id));
        let is_skipped = self.skips.iter().any(|filter| filter.matches(id));
        if !is_wanted || is_skipped || (self.ignored == Ignored::Only && !is_ignored) {
            Choice::FilteredOut
        } else if is_ignored && self.ignored == Ignored::LeftOut {
            Choice::Ignored
        } else {
            Choice::Selected
        }
    }
}

/// A command line that cannot be understood.
#[derive(Debug)]
pub(crate) enum UsageError {
    UnknownOption(String),
    /// What lexopt says: a value is missing, or there is one too many, or it is not UTF-8.
    Malformed(lexopt::Error),
    BadFilter {
        filter: String,
        error: regex_lite::Error,
    },
    BadChoice {
        option: &'static str,
        value: String,
        choices: &'static str,
    },
    BadSetting(SettingError),
    /// There are only tables of it.
    SweepFormat,
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownOption(option) => write!(
                f,
                "unknown option {option}; --help lists those there are. (If it is another program of this package that \
                 refuses nanobench's options, it is the test harness of a library or binary: give that one `bench = false` \
                 in Cargo.toml, for example under `[lib]`.)"
            ),
            Self::Malformed(error) => write!(f, "{error}; --help says how options are written"),
            Self::BadFilter { filter, error } => {
                write!(f, "{filter:?} is not a regular expression: {error}. With --exact, filters are plain names")
            }
            Self::BadChoice { option, value, choices } => write!(f, "{option}: {value:?} should be one of {choices}"),
            Self::BadSetting(error) => error.fmt(f),
            Self::SweepFormat => f.write_str("--sweep prints tables only: leave out --format jsonl"),
        }
    }
}

impl From<lexopt::Error> for UsageError {
    fn from(error: lexopt::Error) -> Self {
        Self::Malformed(error)
    }
}

impl From<SettingError> for UsageError {
    fn from(error: SettingError) -> Self {
        Self::BadSetting(error)
    }
}

/// Reads the arguments, without the program's name.
///
/// # Errors
///
/// If an option is unknown, or a value cannot be used.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Request, UsageError> {
    let mut parser = lexopt::Parser::from_args(arguments);
    let (mut is_bench, mut is_test, mut is_list, mut is_exact) = (false, false, false, false);
    let (mut filters, mut skips) = (Vec::new(), Vec::new());
    let mut ignored = Ignored::LeftOut;
    let mut modes = None;
    let mut threads = None;
    let mut cpu = None;
    let mut color = Color::Auto;
    let mut format = Format::Table;
    let (mut sweep, mut quiet) = (false, false);
    let mut overrides = Overrides::default();
    while let Some(argument) = parser.next()? {
        match argument {
            Value(filter) => filters.push(filter.string()?),
            Long("skip") => skips.push(parser.value()?.string()?),
            Long("exact") => is_exact = true,
            Long("bench") => is_bench = true,
            Long("test") => is_test = true,
            Long("list") => is_list = true,
            Long("ignored") => ignored = if ignored == Ignored::LeftOut { Ignored::Only } else { ignored },
            Long("include-ignored") => ignored = Ignored::Included,
            Short('q') | Long("quiet") => quiet = true,
            Long("threads") => threads = Some(parse_threads("--threads", parser.value()?.string()?)?),
            Long("cpu") => cpu = Some(parse_cpu("--cpu", parser.value()?.string()?)?),
            Long("mode") => modes = Some(parse_modes("--mode", parser.value()?.string()?)?),
            Long("color" | "colour") => color = parse_color(parser.value()?.string()?)?,
            Long("format") => format = parse_format(parser.value()?.string()?)?,
            Long("sweep") => sweep = true,
            Short('h') | Long("help") => return Ok(Request::Help),
            Short('V') | Long("version") => return Ok(Request::Version),
            // The rest of libtest's options. Scripts and runners give them to every target alike, and for a benchmark there
            // is nothing to do: it is never captured, and runs alone, in order and in its own process.
            Short('Z') | Long("test-threads" | "logfile" | "shuffle-seed") => drop(parser.value()?),
            Long("report-time") => drop(parser.optional_value()),
            Long(
                "fail-fast"
                | "nocapture"
                | "no-capture"
                | "show-output"
                | "exclude-should-panic"
                | "ensure-time"
                | "force-run-in-process"
                | "shuffle",
            ) => {}
            Long(name) => {
                let flag = format!("--{name}");
                let Some(setting) = SETTINGS.iter().find(|setting| setting.flag() == name) else {
                    return Err(UsageError::UnknownOption(flag));
                };
                // What is either on or off is switched on by its name alone.
                let text = match parser.optional_value() {
                    Some(text) => text.string()?,
                    None if setting.value == "BOOL" => "true".to_owned(),
                    None => parser.value()?.string()?,
                };
                setting.read(&mut overrides, &text, &flag)?;
            }
            Short(letter) => return Err(UsageError::UnknownOption(format!("-{letter}"))),
        }
    }
    if sweep && format == Format::JsonLines {
        return Err(UsageError::SweepFormat);
    }
    let to_filters =
        |texts: Vec<String>| texts.into_iter().map(|text| filter(text, is_exact)).collect::<Result<Vec<_>, _>>();
    Ok(Request::Run(Box::new(Arguments {
        action: match (is_list, is_bench && !is_test) {
            (true, _) => Action::List,
            (false, true) => Action::Measure,
            (false, false) => Action::RunOnce,
        },
        selection: Selection { filters: to_filters(filters)?, skips: to_filters(skips)?, ignored },
        modes,
        threads,
        cpu,
        color,
        format,
        sweep,
        quiet,
        overrides,
    })))
}

fn filter(text: String, is_exact: bool) -> Result<Filter, UsageError> {
    if is_exact {
        return Ok(Filter::Exact(text));
    }
    match Regex::new(&text) {
        Ok(pattern) => Ok(Filter::Pattern(pattern)),
        Err(error) => Err(UsageError::BadFilter { filter: text, error }),
    }
}

/// Reads the value of `--mode`, or of the variable that stands for it.
pub(crate) fn parse_modes(option: &'static str, value: String) -> Result<&'static [Mode], UsageError> {
    match value.as_str() {
        "throughput" => Ok(&[Mode::Throughput]),
        "latency" => Ok(&[Mode::Latency]),
        "both" => Ok(&[Mode::Throughput, Mode::Latency]),
        _ => Err(UsageError::BadChoice { option, value, choices: "throughput, latency, both" }),
    }
}

/// Reads the value of `--threads`, or of the variable that stands for it.
pub(crate) fn parse_threads(option: &'static str, value: String) -> Result<Vec<usize>, UsageError> {
    let counts: Result<Vec<usize>, _> = value.split(',').map(|count| count.trim().parse()).collect();
    counts.map_err(|_| UsageError::BadChoice {
        option,
        value,
        choices: "numbers of threads such as 1,2,4, and 0 for as many as can run",
    })
}

/// Reads the value of `--cpu`, or of the variable that stands for it.
pub(crate) fn parse_cpu(option: &'static str, value: String) -> Result<Placement, UsageError> {
    match value.parse() {
        Ok(number) => Ok(Placement::On(number)),
        Err(_) if value == "auto" => Ok(Placement::Auto),
        Err(_) => Err(UsageError::BadChoice { option, value, choices: "auto and the numbers of CPUs such as 1" }),
    }
}

fn parse_color(value: String) -> Result<Color, UsageError> {
    match value.as_str() {
        "auto" => Ok(Color::Auto),
        "always" => Ok(Color::Always),
        "never" => Ok(Color::Never),
        _ => Err(UsageError::BadChoice { option: "--color", value, choices: "auto, always, never" }),
    }
}

/// The first two are libtest's, with which nextest asks for lists; here they change nothing.
fn parse_format(value: String) -> Result<Format, UsageError> {
    match value.as_str() {
        "pretty" | "terse" => Ok(Format::Table),
        "jsonl" => Ok(Format::JsonLines),
        _ => Err(UsageError::BadChoice { option: "--format", value, choices: "pretty, terse, jsonl" }),
    }
}

/// The help text.
pub(crate) fn help() -> String {
    use std::fmt::Write;
    let mut text = String::from(
        "\
Measures the benchmarks of this program: cargo bench --bench NAME -- [OPTIONS] [FILTER]...
Without --bench, which `cargo bench` adds, each is called once and nothing is measured.

  FILTER                 run only benchmarks whose name one of these regular expressions matches
  --exact                take FILTERs and --skip as whole names instead
  --skip FILTER          leave out what FILTER matches
  --ignored              run only benchmarks marked `ignore`
  --include-ignored      run those too
  --list                 print the names of the benchmarks
  --mode MODE            measure throughput, latency or both, instead of what each #[nanobench(..)] says; latency only of
                         functions marked `latency`
  --threads N,..         measure each benchmark with so many threads at once; 0 for as many as can run
  --cpu N                keep the measuring thread on CPU N, or with `auto` on one that serves few interrupts; those that it
                         starts stay there too, except for `threads`
  --color WHEN           auto, always or never
  --format FORMAT        pretty for a table, jsonl for one JSON object a row
  --sweep                print the raw cost of a call against the calls in a sample, 1, 10, 100 and so on until it stays the
                         same, with an empty loop beside it; latency of functions marked `latency`
  -q, --quiet            print only results: nothing about the machine, and no hints
  -h, --help             print this
  -V, --version          print the version

Settings of the engine; each also as an option of #[nanobench(..)] and as a variable, which the command line overrides:
",
    );
    for setting in &SETTINGS {
        let flag = format!("--{} {}", setting.flag(), setting.value);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {flag:<38} {}", setting.help);
        let _ = writeln!(text, "  {:<38}   [{}]", "", setting.variable());
    }
    text.push_str(
        "
Other variables:
  NANOBENCH_MODE=MODE    is like --mode, which overrides it
  NANOBENCH_CONFIG=LIST  holds any number of settings, such as epochs=51,min_epoch_time=5ms; single variables override it
  NANOBENCH_THREADS=N,.. is like --threads, which overrides it
  NANOBENCH_CPU=N        is like --cpu, which overrides it
  NANOBENCH_ENDLESS=NAME runs the benchmark of that name for ever, for a profiler
  NANOBENCH_SUPPRESS_WARNINGS=1
                         says nothing about what makes figures unsteady
  NO_COLOR               turns colours off

libtest's other options are accepted and do nothing here.

Exit code: 0 if all is well, 1 if the benchmarks cannot be run or the output cannot be written, 2 if the command line or a
variable is wrong, 101 if a benchmark panicked.
",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn arguments(line: &str) -> Arguments {
        match parse(line.split_whitespace().map(OsString::from)) {
            Ok(Request::Run(arguments)) => *arguments,
            other => panic!("{line}: {other:?}"),
        }
    }

    fn error(line: &str) -> String {
        match parse(line.split_whitespace().map(OsString::from)) {
            Err(error) => error.to_string(),
            Ok(request) => panic!("{line}: {request:?}"),
        }
    }

    fn selects(line: &str, id: &str) -> bool {
        arguments(line).selection.choose(id, false) == Choice::Selected
    }

    #[test]
    fn cargo_bench_measures_and_cargo_test_only_calls() {
        assert_eq!(arguments("--bench").action, Action::Measure);
        assert_eq!(arguments("").action, Action::RunOnce);
        assert_eq!(arguments("--bench --test").action, Action::RunOnce);
        assert_eq!(arguments("--bench --list").action, Action::List);
    }

    #[test]
    fn filters_are_regular_expressions_of_which_one_must_match() {
        assert!(selects("", "anything"));
        assert!(selects("copy", "memcopy_all"));
        assert!(selects("nothing ^copy$", "copy"));
        assert!(!selects("^copy$", "copy2"));
        assert!(!selects("copy --skip 2", "copy2"));
    }

    #[test]
    fn exact_filters_are_whole_names() {
        assert!(selects("--exact a.c", "a.c"));
        assert!(!selects("--exact a.c", "abc"));
        assert!(!selects("a.c --exact", "a.cc"));
        assert!(selects("--exact --skip b", "bb"));
        assert!(selects("--exact [", "["));
    }

    #[test]
    fn ignored_benchmarks_run_only_when_asked_for() {
        let choice = |line: &str, is_ignored| arguments(line).selection.choose("a", is_ignored);
        assert_eq!(choice("", true), Choice::Ignored);
        assert_eq!(choice("--ignored", true), Choice::Selected);
        assert_eq!(choice("--ignored", false), Choice::FilteredOut);
        assert_eq!(choice("--include-ignored", true), Choice::Selected);
        assert_eq!(choice("--include-ignored --ignored", false), Choice::Selected);
    }

    #[test]
    fn the_mode_is_what_the_attribute_says_unless_asked_for() {
        assert_eq!(arguments("--bench").modes, None);
        assert_eq!(arguments("--mode throughput").modes, Some([Mode::Throughput].as_slice()));
        assert_eq!(arguments("--mode both --mode=latency").modes, Some([Mode::Latency].as_slice()));
        assert_eq!(arguments("--mode both").modes, Some([Mode::Throughput, Mode::Latency].as_slice()));
        assert!(error("--mode fast").contains("\"fast\" should be one of throughput, latency, both"));
    }

    #[test]
    fn a_sweep_is_a_way_to_measure_that_has_only_tables() {
        assert!(!arguments("--bench").sweep);
        let swept = arguments("--bench --sweep --format pretty");
        assert!(swept.sweep && swept.action == Action::Measure);
        assert_eq!(arguments("--sweep").action, Action::RunOnce);
        for line in ["--sweep --format jsonl", "--bench --format=jsonl --sweep"] {
            assert_eq!(error(line), "--sweep prints tables only: leave out --format jsonl");
        }
    }

    #[test]
    fn every_setting_has_a_flag() {
        for setting in &SETTINGS {
            let value = setting.value_for_test();
            let read = arguments(&format!("--{}={value}", setting.flag())).overrides;
            assert_ne!(read, Overrides::default(), "{}", setting.name);
        }
        assert_eq!(arguments("--max-time 2s").overrides.max_time, Some(Duration::from_secs(2)));
    }

    #[test]
    fn threads_are_a_list_of_numbers() {
        assert_eq!(arguments("--bench").threads, None);
        assert_eq!(arguments("--threads 1,2").threads, Some(vec![1, 2]));
        assert_eq!(arguments("--threads=0").threads, Some(vec![0]));
        assert!(error("--threads many").contains("numbers of threads such as 1,2,4"));
        assert!(error("--threads 1,-2").starts_with("--threads"));
    }

    #[test]
    fn the_cpu_is_a_number_or_chosen() {
        assert_eq!(arguments("--bench").cpu, None);
        assert_eq!(arguments("--cpu auto").cpu, Some(Placement::Auto));
        assert_eq!(arguments("--cpu auto --cpu=12").cpu, Some(Placement::On(12)));
        for line in ["--cpu any", "--cpu=", "--cpu -1", "--cpu 0-1", "--cpu 99999999999999999999"] {
            let error = error(line);
            assert!(
                error.starts_with("--cpu: ") && error.ends_with("auto and the numbers of CPUs such as 1"),
                "{error}"
            );
        }
    }

    #[test]
    fn every_option_of_libtest_is_accepted() {
        let line = "--test-threads 1 --logfile path --format terse --shuffle-seed 3 --fail-fast -Z unstable-options --nocapture \
                    --no-capture --show-output --exclude-should-panic --ensure-time --force-run-in-process --shuffle \
                    --report-time --report-time=plain --color=always -q --include-ignored name";
        let arguments = arguments(line);
        assert!(arguments.quiet);
        assert_eq!(arguments.color, Color::Always);
        assert_eq!(arguments.selection.choose("other", false), Choice::FilteredOut);
    }

    #[test]
    fn an_unknown_option_is_named_and_the_usual_mistake_explained() {
        for line in ["--save-baseline", "--epoch=3", "-x"] {
            let option = line.split('=').next().unwrap();
            let error = error(line);
            assert!(error.contains(option) && error.contains("bench = false") && !error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn bad_values_say_what_would_be_right() {
        assert!(error("--epochs none").starts_with("--epochs: \"none\" should be a whole number"));
        assert!(error("--epochs 0").starts_with("--epochs: \"0\" should be at least 1"));
        assert!(error("--epochs").contains("missing argument"));
        assert!(error("--color blue").contains("auto, always, never"));
        assert!(error("--format xml").contains("pretty, terse, jsonl"));
        assert!(error("a(b").contains("regular expression"));
        assert!(error("--list=yes").contains("--list"));
    }

    #[test]
    fn the_help_text_names_every_setting_and_variable() {
        let help = help();
        for setting in &SETTINGS {
            assert!(help.contains(&setting.flag()) && help.contains(&setting.variable()), "{}", setting.name);
        }
    }
}
