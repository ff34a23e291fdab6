//! How far apart are the figures of several processes?
//!
//! ```sh
//! cargo run -p nanobench-tests --example spread                                 # the examples, 20 processes each
//! cargo run -p nanobench-tests --example spread -- --runs 5 PROGRAM...          # these bench programs
//! cargo run -p nanobench-tests --example spread -- PROGRAM... -- --max-time 10ms copy   # with these arguments
//! cargo run -p nanobench-tests --example spread -- --each PROGRAM... -- mix   # each process by itself
//! ```
//!
//! A bench program is what `cargo bench --no-run` says it has built. The programs take turns, so that a disturbance of some
//! seconds does not hit all runs of one of them. The table is Markdown: for each row the standard deviation over the mean of
//! the cost in core cycles and in nanoseconds, of the runs that are `ok` and, beside it, of all that have a figure; then that of
//! the nanoseconds which all samples together would have given, and the mean share of the samples that were left out since
//! the core was shared. With `--each` it has a line for each figure instead.

#[path = "../benches/truth/rows.rs"]
mod rows;

use std::error::Error;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use nanobench_tests::markdown::Align::{Left, Right};
use nanobench_tests::markdown::Table;
use nanobench_tests::statistics::{mean, median, most, relative_deviation};
use tinyjson::JsonValue;

fn main() -> Result<(), Box<dyn Error>> {
    let request = Request::read(std::env::args_os().skip(1))?;
    let programs = if request.programs.is_empty() { examples()? } else { request.programs };
    let mut rows = Vec::new();
    for run in 1..=request.runs {
        eprintln!("run {run} of {}", request.runs);
        for (index, program) in programs.iter().enumerate() {
            let status =
                rows::measure(Command::new(program), &request.arguments, |json| record(&mut rows, index, json))?;
            if !status.success() {
                return Err(format!("{}: {status}", program.display()).into());
            }
        }
    }
    // The rows of a program that joined later, for example because a filter left nothing else, stay with its others.
    rows.sort_by_key(|row| row.program);
    if request.each {
        println!("{}", each_figure(&rows));
    } else {
        println!("{}", table(&rows));
    }
    println!("{}", summary(&rows));
    Ok(())
}

struct Request {
    runs: usize,
    /// Whether to print what each process found.
    each: bool,
    programs: Vec<PathBuf>,
    /// What comes after `--`, for the programs.
    arguments: Vec<OsString>,
}

impl Request {
    fn read(mut arguments: impl Iterator<Item = OsString>) -> Result<Self, String> {
        let mut request = Self { runs: 20, each: false, programs: Vec::new(), arguments: Vec::new() };
        while let Some(argument) = arguments.next() {
            match argument.to_str() {
                Some("--runs") => {
                    let value = arguments.next().and_then(|value| value.to_str()?.parse().ok());
                    request.runs =
                        value.filter(|&runs| runs > 0).ok_or("--runs takes a number, for example --runs 20")?;
                }
                Some("--each") => request.each = true,
                Some("--") => request.arguments.extend(arguments.by_ref()),
                Some(option) if option.starts_with('-') => {
                    return Err(format!(
                        "{option}: there are only --runs N, --each and, before arguments for the programs, --"
                    ));
                }
                _ => request.programs.push(argument.into()),
            }
        }
        Ok(request)
    }
}

/// The examples whose figures are about the processor and its caches, and not about the network or about single calls: throughput and
/// latency, distributions of inputs, and functions of microseconds.
const EXAMPLES: [&str; 6] = ["hash", "memcpy", "mix", "parse", "sort", "utf8"];

/// Builds the bench targets of the examples and returns where they are.
fn examples() -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["bench", "-p", "nanobench-examples", "--no-run", "--message-format=json"];
    let targets = EXAMPLES.iter().flat_map(|name| ["--bench", name]);
    let output = Command::new(cargo).args(arguments).args(targets).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err("the examples cannot be built".into());
    }
    let mut programs = Vec::new();
    for line in String::from_utf8(output.stdout)?.lines() {
        let message: JsonValue = line.parse()?;
        programs.extend(rows::text(&message, &["executable"]).map(PathBuf::from));
    }
    Ok(programs)
}

/// A row, and what each process that has it found.
struct Row {
    /// The position of the program.
    program: usize,
    name: String,
    mode: String,
    runs: Vec<Run>,
}

struct Run {
    outcome: String,
    cycles: Option<f64>,
    nanoseconds: Option<f64>,
    /// What all samples would have given.
    ungated_nanoseconds: Option<f64>,
    /// The share of samples that were left out.
    left_out: f64,
}

/// Adds what a process says of a row.
fn record(rows: &mut Vec<Row>, program: usize, json: &JsonValue) {
    let text = |name: &str| rows::text(json, &[name]);
    let name = [text("id"), text("group")].into_iter().flatten().collect::<Vec<_>>().join("/");
    let repeated = if rows::is_true(json, &["repeated"]) { ", repeated" } else { "" };
    let mode = text("mode").unwrap_or_default() + repeated;
    let nanoseconds = rows::number(json, &["nanoseconds", "value"]);
    let run = Run {
        outcome: text("outcome").unwrap_or_default(),
        cycles: rows::number(json, &["cycles", "value"]),
        nanoseconds,
        ungated_nanoseconds: rows::number(json, &["ungated_nanoseconds"]).or(nanoseconds),
        left_out: rows::number(json, &["left_out"]).unwrap_or(0.0),
    };
    match rows.iter_mut().find(|row| row.program == program && row.name == name && row.mode == mode) {
        Some(row) => row.runs.push(run),
        None => rows.push(Row { program, name, mode, runs: vec![run] }),
    }
}

impl Row {
    fn count(&self, outcome: &str) -> usize {
        self.runs.iter().filter(|run| run.outcome == outcome).count()
    }

    fn figures(&self, choice: Choice) -> Vec<f64> {
        self.runs.iter().filter(|run| !choice.only_ok || run.outcome == "ok").filter_map(choice.figure).collect()
    }
}

/// Which figures of which runs.
#[derive(Clone, Copy)]
struct Choice {
    figure: fn(&Run) -> Option<f64>,
    only_ok: bool,
}

/// In the order of the columns.
const CHOICES: [Choice; 5] = [
    Choice { figure: |run| run.cycles, only_ok: true },
    Choice { figure: |run| run.cycles, only_ok: false },
    Choice { figure: |run| run.nanoseconds, only_ok: true },
    Choice { figure: |run| run.nanoseconds, only_ok: false },
    Choice { figure: |run| run.ungated_nanoseconds, only_ok: false },
];

/// A line for each figure of each process.
fn each_figure(rows: &[Row]) -> Table {
    let mut table = Table::new(&[
        ("row", Left),
        ("mode", Left),
        ("run", Right),
        ("cycles", Right),
        ("ns", Right),
        ("ns, all samples", Right),
        ("left out", Right),
        ("outcome", Left),
    ]);
    let number = |figure: Option<f64>| figure.map_or_else(|| "?".to_owned(), |figure| format!("{figure:.3}"));
    for row in rows {
        for (index, run) in row.runs.iter().enumerate() {
            table.push(vec![
                format!("`{}`", row.name),
                row.mode.clone(),
                (index + 1).to_string(),
                number(run.cycles),
                number(run.nanoseconds),
                number(run.ungated_nanoseconds),
                format!("{:.0} %", 100.0 * run.left_out),
                run.outcome.clone(),
            ]);
        }
    }
    table
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new(&[
        ("row", Left),
        ("mode", Left),
        ("runs", Right),
        ("ok", Right),
        ("unstable", Right),
        ("cycles", Right),
        ("sd/mean", Right),
        ("of all", Right),
        ("sd/mean of ns", Right),
        ("of all", Right),
        ("all samples", Right),
        ("left out", Right),
    ]);
    for row in rows {
        let [ok_cycles, ..] = CHOICES.map(|choice| row.figures(choice));
        let mut cells = vec![
            format!("`{}`", row.name),
            row.mode.clone(),
            row.runs.len().to_string(),
            row.count("ok").to_string(),
            row.count("unstable").to_string(),
            mean(&ok_cycles).map_or_else(|| "?".to_owned(), |mean| format!("{mean:.2}")),
        ];
        cells.extend(CHOICES.map(|choice| percent(relative_deviation(&row.figures(choice)))));
        let left_out: Vec<f64> = row.runs.iter().map(|run| run.left_out).collect();
        cells.push(mean(&left_out).map_or_else(|| "?".to_owned(), |mean| format!("{:.0} %", 100.0 * mean)));
        table.push(cells);
    }
    for (name, summary) in [("median over rows", median as fn(&[f64]) -> _), ("most", most)] {
        let mut cells = vec![name.to_owned()];
        cells.resize(6, String::new());
        cells.extend(CHOICES.map(|choice| percent(summary(&deviations(rows, choice)))));
        cells.push(String::new());
        table.push(cells);
    }
    table
}

/// The deviation of every row that has one.
fn deviations(rows: &[Row], choice: Choice) -> Vec<f64> {
    rows.iter().filter_map(|row| relative_deviation(&row.figures(choice))).collect()
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "?".to_owned(), |share| format!("{:.2} %", 100.0 * share))
}

fn summary(rows: &[Row]) -> String {
    let runs: usize = rows.iter().map(|row| row.runs.len()).sum();
    let unstable: usize = rows.iter().map(|row| row.count("unstable")).sum();
    let [cycles, ..] = CHOICES;
    format!(
        "{} rows; of {runs} figures {unstable} call themselves unstable; cycles of the others: median {}, most {}",
        rows.len(),
        percent(median(&deviations(rows, cycles))),
        percent(most(&deviations(rows, cycles))),
    )
}
