//! What is printed: for each chain the truth and what was found, and a line that sums it up.

use nanobench_tests::markdown::Align::{Left, Right};
use nanobench_tests::markdown::Table;
use nanobench_tests::statistics::{mean, median, most, relative_deviation};

use crate::chains::{self, Chain, THROUGHPUT};
use crate::held_out::{self, MULTISETS, Prediction};
use crate::processor::Processor;
use crate::{Row, Run};

/// An estimate may be off by so many cycles ...
const LIMIT_CYCLES: f64 = 0.1;
/// ... or by this share of the truth, whichever is more.
const LIMIT_SHARE: f64 = 0.005;

/// Prints everything about these runs.
pub(crate) fn print(runs: &[Run]) {
    let processor = Processor::this();
    let name = runs.first().map_or("", |run| &run.processor);
    match processor {
        Processor::Unknown => println!("{name}: an unknown kind of processor, so the true costs are not known.\n"),
        _ => println!("{name}: costs known as those of {processor:?}; all figures in core cycles.\n"),
    }
    let is_single = runs.len() == 1;
    // A filter may have left out the chains, or the functions with inputs.
    let has_chains = runs.iter().any(|run| comparisons(run, processor).next().is_some());
    if has_chains {
        println!("{}", if is_single { single(&runs[0], processor) } else { spread(runs, processor) });
    }
    if runs.iter().any(|run| !run.predictions.is_empty()) {
        println!("{}", if is_single { predictions_of_one(&runs[0]) } else { predictions_of_all(runs) });
    }
    if has_chains {
        println!("{}", summary(runs, processor));
    }
}

/// A row beside what is known of it.
struct Comparison<'a> {
    chain: &'static Chain,
    /// None where the kind of processor leaves it open.
    truth: Option<f64>,
    row: &'a Row,
}

impl<'a> Comparison<'a> {
    fn new(chain: &'static Chain, run: &'a Run, processor: Processor) -> Option<Self> {
        let row = run.rows.iter().find(|row| row.id == chain.id && row.mode == chain.mode)?;
        Some(Self { chain, truth: processor.is_certain_of(chain.instruction).then_some(chain.truth), row })
    }

    /// Cycles too many.
    fn error(&self) -> Option<f64> {
        Some(self.row.estimate?.cycles - self.truth?)
    }

    /// The error as a share of the truth, if that is not zero.
    fn relative_error(&self) -> Option<f64> {
        let truth = self.truth.filter(|&truth| truth > 0.0)?;
        Some(self.error()? / truth)
    }

    fn is_within_limit(&self) -> Option<bool> {
        Some(self.error()?.abs() <= LIMIT_CYCLES.max(LIMIT_SHARE * self.truth?))
    }

    fn is_covered(&self) -> Option<bool> {
        let (low, high) = self.row.estimate?.interval?;
        Some((low..=high).contains(&self.truth?))
    }
}

fn comparisons(run: &Run, processor: Processor) -> impl Iterator<Item = Comparison<'_>> {
    chains::all().filter_map(move |chain| Comparison::new(chain, run, processor))
}

/// The name of a benchmark without its modules.
fn short(id: &str) -> String {
    id.rsplit("::").next().unwrap_or(id).to_owned()
}

fn cell(value: Option<f64>, format: impl Fn(f64) -> String) -> String {
    value.map_or_else(|| "?".to_owned(), format)
}

fn cycles(value: f64) -> String {
    format!("{value:.3}")
}

fn signed(value: f64) -> String {
    format!("{value:+.3}")
}

fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

fn signed_percent(share: f64) -> String {
    format!("{:+.2} %", 100.0 * share)
}

fn milliseconds(seconds: f64) -> String {
    format!("{:.1}", 1e3 * seconds)
}

/// The table of a single run, unstable rows included.
fn single(run: &Run, processor: Processor) -> Table {
    let mut table = Table::new(&[
        ("chain", Left),
        ("mode", Left),
        ("truth", Right),
        ("estimate", Right),
        ("95% CI", Right),
        ("error", Right),
        ("error%", Right),
        ("limit", Left),
        ("outcome", Left),
        ("timed ms", Right),
        ("wall ms", Right),
    ]);
    for comparison in comparisons(run, processor) {
        let row = comparison.row;
        let interval = row.estimate.and_then(|estimate| estimate.interval);
        table.push(vec![
            short(&row.id),
            row.mode.clone(),
            cell(comparison.truth, |truth| truth.to_string()),
            cell(row.estimate.map(|estimate| estimate.cycles), cycles),
            interval.map_or_else(|| "?".to_owned(), |(low, high)| format!("{low:.3} .. {high:.3}")),
            cell(comparison.error(), signed),
            cell(comparison.relative_error(), signed_percent),
            comparison
                .is_within_limit()
                .map_or("?", |is_within| if is_within { "within" } else { "MISSED" })
                .to_owned(),
            row.outcome.clone(),
            cell(row.timed_seconds, milliseconds),
            cell(row.wall_seconds, milliseconds),
        ]);
    }
    table
}

/// The table of several runs. The mean, the deviation and the worst error are of those that do not call themselves unstable.
fn spread(runs: &[Run], processor: Processor) -> Table {
    let mut table = Table::new(&[
        ("chain", Left),
        ("mode", Left),
        ("truth", Right),
        ("runs", Right),
        ("unstable", Right),
        ("mean", Right),
        ("sd/mean", Right),
        ("worst error", Right),
        ("within limit", Right),
        ("of all runs", Right),
        ("in interval", Right),
        ("wall ms", Right),
    ]);
    for chain in chains::all() {
        let all: Vec<_> = runs.iter().filter_map(|run| Comparison::new(chain, run, processor)).collect();
        let Some(Comparison { truth, row, .. }) = all.first() else { continue };
        let stable: Vec<_> = all.iter().filter(|comparison| !comparison.row.is_unstable()).collect();
        let estimates: Vec<f64> = stable.iter().filter_map(|one| Some(one.row.estimate?.cycles)).collect();
        let walls: Vec<f64> = all.iter().filter_map(|one| one.row.wall_seconds).collect();
        table.push(vec![
            short(chain.id),
            row.mode.clone(),
            cell(*truth, |truth| truth.to_string()),
            all.len().to_string(),
            (all.len() - stable.len()).to_string(),
            cell(mean(&estimates), cycles),
            cell(relative_deviation(&estimates), percent),
            cell(worst(stable.iter().filter_map(|one| one.error())), signed),
            counted(stable.iter().filter_map(|one| one.is_within_limit())),
            counted(all.iter().filter_map(Comparison::is_within_limit)),
            counted(stable.iter().filter_map(|one| one.is_covered())),
            cell(median(&walls), milliseconds),
        ]);
    }
    table
}

/// The error that is the farthest from zero.
fn worst(errors: impl Iterator<Item = f64>) -> Option<f64> {
    errors.max_by(|a, b| a.abs().total_cmp(&b.abs()))
}

/// How many of them are true, of how many.
fn counted(answers: impl Iterator<Item = bool>) -> String {
    let answers: Vec<bool> = answers.collect();
    format!("{}/{}", answers.iter().filter(|answer| **answer).count(), answers.len())
}

/// How well unseen multisets were predicted in one run.
fn predictions_of_one(run: &Run) -> Table {
    let mut table = Table::new(&[
        ("held-out multisets", Left),
        ("that count", Right),
        ("median error", Right),
        ("with its sign", Right),
        ("outcome of the row", Left),
    ]);
    for prediction in &run.predictions {
        let error = prediction.error();
        table.push(vec![
            short(prediction.id),
            format!("{}/{MULTISETS}", prediction.errors.len()),
            cell(error.map(|(size, _)| size), percent),
            cell(error.map(|(_, signed)| signed), signed_percent),
            whole(run, prediction.id).map_or_else(String::new, |row| row.outcome.clone()),
        ]);
    }
    table
}

/// The row of the whole mix.
fn whole<'a>(run: &'a Run, id: &str) -> Option<&'a Row> {
    run.rows.iter().find(|row| row.id == id && row.mode == THROUGHPUT && row.group.is_none())
}

/// The same over several runs, of which those do not count in which nothing was stable.
fn predictions_of_all(runs: &[Run]) -> Table {
    let mut table = Table::new(&[
        ("held-out multisets", Left),
        ("runs", Right),
        ("that count", Right),
        ("median error", Right),
        ("worst run", Right),
        ("with its sign", Right),
        ("worst run", Right),
    ]);
    for id in held_out::IDS {
        let predictions = runs.iter().flat_map(|run| &run.predictions).filter(|prediction| prediction.id == id);
        let (sizes, biases): (Vec<f64>, Vec<f64>) = predictions.filter_map(Prediction::error).unzip();
        table.push(vec![
            short(id),
            runs.len().to_string(),
            sizes.len().to_string(),
            cell(median(&sizes), percent),
            cell(most(&sizes), percent),
            cell(median(&biases), signed_percent),
            cell(worst(biases.into_iter()), signed_percent),
        ]);
    }
    table
}

/// One line about all chains in all runs.
fn summary(runs: &[Run], processor: Processor) -> String {
    let all: Vec<Comparison> = runs.iter().flat_map(|run| comparisons(run, processor)).collect();
    let stable = || all.iter().filter(|comparison| !comparison.row.is_unstable());
    let by_error = |a: &&Comparison, b: &&Comparison| excess(a).total_cmp(&excess(b));
    let worst = stable().filter(|comparison| comparison.error().is_some()).max_by(by_error);
    let worst = worst.map_or_else(
        || "no stable row with a known truth".to_owned(),
        |worst| {
            let share =
                worst.relative_error().map_or_else(String::new, |share| format!(" ({})", signed_percent(share)));
            format!("largest error {} cycles{share} in {}", cell(worst.error(), signed), short(worst.chain.id))
        },
    );
    let timed: Vec<f64> = all.iter().filter_map(|comparison| comparison.row.timed_seconds).collect();
    let walls: Vec<f64> = all.iter().filter_map(|comparison| comparison.row.wall_seconds).collect();
    format!(
        "{worst}; within the limit {} of the stable rows, {} of all; the interval contains the truth in {}; \
         unstable {}/{}; median time of a row {} ms timed, {} ms in all",
        counted(stable().filter_map(Comparison::is_within_limit)),
        counted(all.iter().filter_map(Comparison::is_within_limit)),
        counted(stable().filter_map(Comparison::is_covered)),
        all.len() - stable().count(),
        all.len(),
        cell(median(&timed), milliseconds),
        cell(median(&walls), milliseconds),
    )
}

/// How large an error is in proportion to what it may be, so that those of short and of long chains can be compared.
fn excess(comparison: &Comparison) -> f64 {
    let limit = LIMIT_CYCLES.max(LIMIT_SHARE * comparison.truth.unwrap_or(0.0));
    comparison.error().map_or(0.0, |error| error.abs() / limit)
}
