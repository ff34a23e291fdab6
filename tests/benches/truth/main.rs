//! Do the figures agree with what is known to be true?
//!
//! ```sh
//! cargo bench -p nanobench-tests --bench truth                      # one process, every row in full
//! cargo bench -p nanobench-tests --bench truth -- --runs 20         # twenty processes, and what lies between them
//! cargo bench -p nanobench-tests --bench truth -- --max-time 5ms add imul   # filters and settings are passed on
//! ```
//!
//! Chains of instructions whose cost no one doubts are measured like anything else and set beside it, in core cycles. Which
//! costs are certain is decided by the kind of processor; on an unknown one the estimates stand alone. For functions whose cost
//! depends on the input, the costs are to predict what multisets cost that they have not seen.
//!
//! An estimate is within the limit when it is off by at most 0.1 cycle or 0.5 %, whichever is more. This is a benchmark: it
//! reports, and no figure makes it fail.
//!
//! The program measures in processes of its own, which are the same program with a `--format`. So with `--format jsonl` it
//! writes the rows themselves, and without `--bench`, as under `cargo test --benches`, it calls everything once.

mod chains;
mod held_out;
mod processor;
mod report;
mod rows;

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Instant;

use tinyjson::JsonValue;

use held_out::Prediction;

/// The program as `nanobench::main!` makes it.
mod runner {
    nanobench::main!();

    pub(crate) fn run() -> std::process::ExitCode {
        main()
    }
}

fn main() -> ExitCode {
    let arguments = std::env::args_os().skip(1);
    match Request::read(arguments) {
        Ok(Request::Runner) => runner::run(),
        Ok(Request::Compare { runs, passed_on }) => compare(runs, &passed_on),
        Err(message) => {
            eprintln!("truth: {message}");
            ExitCode::from(2)
        }
    }
}

/// What the command line asks for.
enum Request {
    /// What every bench target does.
    Runner,
    /// To measure in so many processes with these arguments, and to compare.
    Compare { runs: usize, passed_on: Vec<OsString> },
}

impl Request {
    fn read(arguments: impl Iterator<Item = OsString>) -> Result<Self, String> {
        let (mut runs, mut passed_on) = (1, Vec::new());
        let (mut is_bench, mut is_for_runner) = (false, false);
        let mut arguments = arguments;
        while let Some(argument) = arguments.next() {
            let text = argument.to_string_lossy();
            match text.split_once('=').map_or((&*text, None), |(name, value)| (name, Some(value))) {
                ("--runs", value) => {
                    let value = value.map(str::to_owned).or_else(|| arguments.next()?.into_string().ok());
                    runs = number_of_runs(value.as_deref())?;
                    continue;
                }
                ("--bench", _) => {
                    is_bench = true;
                    continue;
                }
                ("--format" | "--list" | "--test" | "--help" | "-h" | "--version" | "-V", _) => is_for_runner = true,
                _ => {}
            }
            passed_on.push(argument);
        }
        Ok(if is_bench && !is_for_runner { Self::Compare { runs, passed_on } } else { Self::Runner })
    }
}

fn number_of_runs(value: Option<&str>) -> Result<usize, String> {
    let runs = value.and_then(|value| value.parse().ok()).filter(|&runs| runs > 0);
    runs.ok_or_else(|| "--runs takes how many processes to measure in, for example --runs 20".to_owned())
}

/// What one process said.
#[derive(Default)]
struct Run {
    rows: Vec<Row>,
    predictions: Vec<Prediction>,
    /// The name of the processor.
    processor: String,
}

/// A row, as far as it matters here.
struct Row {
    id: String,
    /// The label of a group of inputs.
    group: Option<String>,
    mode: String,
    /// With the cause, if it is unstable.
    outcome: String,
    estimate: Option<Estimate>,
    /// What the timed calls took together.
    timed_seconds: Option<f64>,
    /// What passed since the row before. None for the first, whose time has the start of the process in it.
    wall_seconds: Option<f64>,
}

/// A figure in core cycles.
#[derive(Clone, Copy)]
struct Estimate {
    cycles: f64,
    interval: Option<(f64, f64)>,
}

impl Row {
    /// None if the row is about something else than what the truth is known of: inputs that are repeated over and over.
    fn read(json: &JsonValue, wall_seconds: Option<f64>) -> Option<Self> {
        if rows::is_true(json, &["repeated"]) {
            return None;
        }
        let outcome = rows::text(json, &["outcome"])?;
        let cause = rows::text(json, &["cause"]);
        Some(Self {
            id: rows::text(json, &["id"])?,
            group: rows::text(json, &["group"]),
            mode: rows::text(json, &["mode"])?,
            outcome: cause.map_or_else(|| outcome.clone(), |cause| format!("{outcome}: {cause}")),
            estimate: Estimate::read(json),
            timed_seconds: rows::number(json, &["total_seconds"]),
            wall_seconds,
        })
    }

    fn is_unstable(&self) -> bool {
        self.outcome.starts_with("unstable")
    }
}

impl Estimate {
    fn read(json: &JsonValue) -> Option<Self> {
        let low = rows::number(json, &["cycles", "low"]);
        let high = rows::number(json, &["cycles", "high"]);
        Some(Self { cycles: rows::number(json, &["cycles", "value"])?, interval: low.zip(high) })
    }
}

/// Measures, compares and prints. If a process fails, there is nothing to compare, and its exit code becomes ours.
fn compare(runs: usize, arguments: &[OsString]) -> ExitCode {
    let mut done = Vec::new();
    for number in 0..runs {
        match run(number, arguments) {
            Ok(run) => done.push(run),
            Err(Failure::Code(code)) => return code.map_or(ExitCode::FAILURE, ExitCode::from),
            Err(Failure::Io(error)) => {
                eprintln!("truth: cannot measure in a process of its own: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    report::print(&done);
    ExitCode::SUCCESS
}

/// Why there is nothing to compare.
enum Failure {
    /// The process ended so, with none if a signal ended it.
    Code(Option<u8>),
    Io(io::Error),
}

/// Measures in a fresh process, and then as many multisets that were not among its inputs, each in another one.
fn run(number: usize, arguments: &[OsString]) -> Result<Run, Failure> {
    let mut run = measure(Command::new(program()?), arguments)?;
    let ids: Vec<&str> = held_out::IDS.into_iter().filter(|id| run.rows.iter().any(|row| row.id == *id)).collect();
    let mut multisets = Vec::new();
    for multiset in number * held_out::MULTISETS..(number + 1) * held_out::MULTISETS {
        if ids.is_empty() {
            break;
        }
        let mut command = Command::new(program()?);
        command.env(held_out::VARIABLE, multiset.to_string()).arg("--exact").args(&ids);
        multisets.push((multiset, measure(command, arguments)?.rows));
    }
    run.predictions = held_out::predictions(&run.rows, &multisets);
    Ok(run)
}

fn program() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(Failure::Io)
}

/// Measures with one process.
fn measure(command: Command, arguments: &[OsString]) -> Result<Run, Failure> {
    let mut run = Run::default();
    let mut before = Instant::now();
    let status = rows::measure(command, arguments, |json| {
        // The rows of one measurement arrive together.
        let measurement = rows::text(json, &["id"]).zip(rows::text(json, &["mode"]));
        let last = run.rows.last().map(|last| (last.id.clone(), last.mode.clone()));
        let is_next = last.is_some() && measurement != last;
        let wall_seconds = is_next.then(|| before.elapsed().as_secs_f64());
        before = Instant::now();
        run.rows.extend(Row::read(json, wall_seconds));
        run.processor = rows::text(json, &["machine", "processor"]).unwrap_or_default();
    })
    .map_err(Failure::Io)?;
    if status.success() { Ok(run) } else { Err(Failure::Code(status.code().and_then(|code| u8::try_from(code).ok()))) }
}
