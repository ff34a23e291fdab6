//! The table: Markdown that can be pasted into an issue, with colours on a terminal.

use std::io;

use termcolor::{Color, ColorSpec, WriteColor};

use crate::allocations::{self, Allocations};
use crate::amounts::Counted;
use crate::complexity::Complexity;
use crate::config::{Config, Estimator};
use crate::measurement::{CoreClock, Cost, Figure, Interval, Machine, Measurement, Outcome, Row};
use crate::printable::printable;
use crate::report::markdown::{cell, code, grouped};
use crate::report::{Report, advice};
use crate::stats;
use crate::target::Mode;

/// A column of numbers in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Column {
    /// How fast the benchmark is in comparison with the first one, in per cent; only where `relative` is set.
    Relative,
    /// The size of the input; only where `complexity_n` is set.
    ComplexityN,
    /// Time per unit of work.
    Time,
    /// The 95 % interval of the time.
    Interval,
    /// Units of work per second.
    Rate,
    /// Billions of bytes per second; only where a call works on a number of bytes.
    Bytes,
    /// Items per second; only where a call works on a number of items.
    Items,
    /// Characters per second; only where a call works on a number of characters.
    Chars,
    /// How far the epochs lie apart.
    Spread,
    /// Core cycles per unit of work.
    Cycles,
    /// How often a unit of work asks for memory, or for more of it; this and the following only where
    /// [`Allocator`](crate::Allocator) is installed.
    Allocations,
    /// For how many bytes a unit of work asks.
    AllocatedBytes,
    /// The most bytes that a call has at a time, over those at its beginning.
    PeakBytes,
    /// How much time all calls took together, in seconds.
    Total,
}

/// All columns, from left to right.
const COLUMNS: [Column; 14] = [
    Column::Relative,
    Column::ComplexityN,
    Column::Time,
    Column::Interval,
    Column::Rate,
    Column::Bytes,
    Column::Items,
    Column::Chars,
    Column::Spread,
    Column::Cycles,
    Column::Allocations,
    Column::AllocatedBytes,
    Column::PeakBytes,
    Column::Total,
];

/// Writes a table, row by row as the measurements come.
pub(crate) struct Table<'a> {
    out: Box<dyn WriteColor + 'a>,
    /// Whether to leave out what is not a row.
    is_quiet: bool,
    /// Whether allocations are counted, and so have columns.
    counts_allocations: bool,
    /// The columns that are not shown.
    hidden: Vec<Column>,
    /// The names in the context that have a column of their own, from left to right.
    context_columns: Vec<String>,
    /// What the last header said; another one starts a new table.
    header: Option<Header>,
    /// Nanoseconds per unit of the first row of the table.
    baseline: Option<f64>,
    /// How fast the core was in each measurement so far.
    core_clocks: Vec<CoreClock>,
    /// Whether a row so far answers the question that rows do not name.
    shows_throughput: bool,
}

/// The head of a table.
#[derive(Clone, Debug, PartialEq)]
struct Header {
    unit: String,
    title: String,
    headings: Vec<Heading>,
}

/// The head of a column of numbers. The width counts from the bar in front of the column to the one behind it.
#[derive(Clone, Debug, PartialEq)]
struct Heading {
    cell: Cell,
    title: String,
    width: usize,
}

/// Where the numbers of a column come from.
#[derive(Clone, Debug, PartialEq)]
enum Cell {
    Figure(Column),
    Context(String),
}

/// From which share on a row says how many samples were left out.
const MENTIONED_SHARE: f64 = 0.1;

/// From how many times as long as the fastest thread on a row says so of the slowest.
const MENTIONED_UNFAIRNESS: f64 = 1.5;

impl<'a> Table<'a> {
    pub(crate) fn new(out: impl WriteColor + 'a, is_quiet: bool) -> Self {
        Self {
            out: Box::new(out),
            is_quiet,
            counts_allocations: allocations::is_installed(),
            hidden: Vec::new(),
            context_columns: Vec::new(),
            header: None,
            baseline: None,
            core_clocks: Vec::new(),
            shows_throughput: false,
        }
    }

    /// Shows or hides a column from the next row on.
    pub(crate) fn set_visible(&mut self, column: Column, is_visible: bool) {
        self.hidden.retain(|hidden| *hidden != column);
        if !is_visible {
            self.hidden.push(column);
        }
    }

    pub(crate) fn is_visible(&self, column: Column) -> bool {
        !self.hidden.contains(&column)
    }

    /// The names in the context that have a column of their own.
    pub(crate) fn context_columns(&mut self) -> &mut Vec<String> {
        &mut self.context_columns
    }

    /// What the table is written to.
    pub(crate) fn out(&mut self) -> &mut dyn WriteColor {
        &mut self.out
    }

    /// Lets the next row begin a new table.
    pub(crate) fn start_afresh(&mut self) {
        self.header = None;
        self.baseline = None;
    }

    fn header(&self, config: &Config, measurement: &Measurement) -> Header {
        let counts = |counted: Counted| measurement.whole().amounts.iter().any(|(known, _)| *known == counted);
        let is_shown = |column: &Column| {
            self.is_visible(*column)
                && match column {
                    Column::Relative => config.relative || measurement.relative.is_some(),
                    Column::ComplexityN => config.complexity_n.is_some(),
                    Column::Bytes => counts(Counted::Bytes),
                    Column::Items => counts(Counted::Items),
                    Column::Chars => counts(Counted::Chars),
                    Column::Allocations | Column::AllocatedBytes | Column::PeakBytes => self.counts_allocations,
                    _ => true,
                }
        };
        let context = self.context_columns.iter().map(|name| {
            let title = cell(name);
            Heading { width: title.chars().count().max(CONTEXT_WIDTH) + 3, title, cell: Cell::Context(name.clone()) }
        });
        let with_interval = measurement.relative.is_some();
        let figures = COLUMNS.into_iter().filter(is_shown).map(|column| heading(column, config, with_interval));
        Header { unit: config.unit.clone(), title: cell(&config.title), headings: context.chain(figures).collect() }
    }

    fn write_header(&mut self, header: &Header) -> io::Result<()> {
        writeln!(self.out)?;
        for Heading { title, width, .. } in &header.headings {
            write!(self.out, "|{title:>0$} ", width - 2)?;
        }
        writeln!(self.out, "| {}", header.title)?;
        for Heading { width, .. } in &header.headings {
            write!(self.out, "|{}:", "-".repeat(width - 2))?;
        }
        writeln!(self.out, "|:{}", "-".repeat(header.title.chars().count() + 1))
    }

    fn write_row(&mut self, header: &Header, measurement: &Measurement, row: &Row) -> io::Result<()> {
        for Heading { cell, width, .. } in &header.headings {
            let text = self.cell(cell, measurement, row).unwrap_or_else(|| "-".to_owned());
            write!(self.out, "|{text:>0$} ", width - 2)?;
        }
        let name = match &row.label {
            Some(label) => code(&format!("{}/{label}", measurement.id)),
            None => code(&measurement.id),
        };
        let mode = if measurement.mode == Mode::Latency { " latency" } else { "" };
        let cold = if measurement.is_cold() { " cold" } else { "" };
        let repeated = if row.is_repeated { " repeated" } else { "" };
        let estimator = match measurement.estimator(row) {
            Estimator::LeastSquares => String::new(),
            other => format!(" {}", other.name()),
        };
        let overhead = match (row.is_empty_loop, measurement.is_loop_subtracted(row)) {
            (true, _) => " empty loop",
            (false, true) => " loop subtracted",
            (false, false) => "",
        };
        let name = format!("{name}{mode}{cold}{repeated}{estimator}{overhead}");
        write!(self.out, "| ")?;
        match advice(&row.outcome) {
            None => {
                self.colored(Color::Green, &name)?;
                if row.left_out > MENTIONED_SHARE {
                    let percent = row.left_out * 100.0;
                    write!(self.out, " (without {percent:.0} % of the samples, when the core was shared)")?;
                }
            }
            Some(text) => {
                let (emoji, color) = mark(&row.outcome);
                write!(self.out, "{emoji} ")?;
                self.colored(color, &format!("{name} ({})", cell(&text)))?;
            }
        }
        // It is about all calls together, and not about those with some of the inputs.
        if let Some(times) = measurement.unfairness.filter(|times| row.is_whole() && *times > MENTIONED_UNFAIRNESS) {
            write!(self.out, " (the slowest thread took {times:.1} times as long as the fastest)")?;
        }
        writeln!(self.out)
    }

    /// What stands in a cell; none where there is no such number.
    fn cell(&self, source: &Cell, measurement: &Measurement, row: &Row) -> Option<String> {
        let column = match source {
            Cell::Context(name) => return measurement.context(name).map(cell),
            Cell::Figure(column) => *column,
        };
        let config = measurement.config.as_ref()?;
        match column {
            Column::ComplexityN => return config.complexity_n.map(|n| fitting(n, 0, COMPLEXITY_WIDTH - 2)),
            Column::Allocations | Column::AllocatedBytes | Column::PeakBytes => {
                return row.allocations.map(|allocations| allocated(column, &allocations));
            }
            _ => {}
        }
        let Cost { nanoseconds: Figure { value: nanoseconds, interval }, cycles, mdape, total_seconds, .. } =
            row.cost?;
        let time = |nanoseconds: f64| nanoseconds / config.time_unit.nanoseconds();
        if row.outcome == Outcome::BelowFloor {
            return match column {
                Column::Time => interval.map(|interval| {
                    let high = time(interval.high);
                    format!("< {}", fitting(high, decimals(high), NUMBER_WIDTH - 4))
                }),
                Column::Total => Some(fitting(total_seconds, 2, TOTAL_WIDTH - 2)),
                _ => None,
            };
        }
        let per_second = |counted: Counted, scale: f64| {
            let (_, amount) = row.amounts.iter().find(|(known, _)| *known == counted)?;
            let rate = amount / (nanoseconds * config.batch) * scale;
            Some(fitting(rate, if rate < 1.0 { 4 } else { 2 }, NUMBER_WIDTH - 2))
        };
        match column {
            Column::Allocations | Column::AllocatedBytes | Column::PeakBytes => None,
            Column::Bytes => per_second(Counted::Bytes, 1.0),
            Column::Items => per_second(Counted::Items, 1e9),
            Column::Chars => per_second(Counted::Chars, 1e9),
            Column::ComplexityN => None,
            // Comparisons are about the benchmark as a whole.
            Column::Relative if row.is_empty_loop || (measurement.relative.is_some() && !row.is_whole()) => None,
            Column::Relative => match &measurement.relative {
                Some(Figure { value, interval: Some(Interval { low, high }) }) => {
                    Some(format!("{:.1}% ({:.1} .. {:.1})", value * 100.0, low * 100.0, high * 100.0))
                }
                Some(Figure { value, interval: None }) => Some(percent(*value, 1, RELATIVE_INTERVAL_WIDTH)),
                None => self.baseline.map(|baseline| percent(baseline / nanoseconds, 1, RELATIVE_WIDTH)),
            },
            Column::Time => Some(fitting(time(nanoseconds), 2, NUMBER_WIDTH - 2)),
            Column::Interval => interval.map(|Interval { low, high }| {
                let bound = |bound| fitting(time(bound), decimals(time(high)), (INTERVAL_WIDTH - 6) / 2);
                format!("{} .. {}", bound(low), bound(high))
            }),
            Column::Rate => Some(fitting(1e9 / nanoseconds, 2, NUMBER_WIDTH - 2)),
            Column::Spread => mdape.map(|share| percent(share, 1, SPREAD_WIDTH)),
            Column::Cycles => cycles.map(|cycles| fitting(cycles.value, 2, CYCLES_WIDTH - 2)),
            Column::Total => Some(fitting(total_seconds, 2, TOTAL_WIDTH - 2)),
        }
    }

    fn colored(&mut self, color: Color, text: &str) -> io::Result<()> {
        self.out.set_color(ColorSpec::new().set_fg(Some(color)))?;
        write!(self.out, "{text}")?;
        self.out.reset()
    }
}

impl Report for Table<'_> {
    fn begin(&mut self, machine: &Machine) -> io::Result<()> {
        if self.is_quiet {
            return Ok(());
        }
        self.colored(Color::Blue, &format!("{}\n", machine_line(machine)))?;
        self.out.flush()
    }

    fn measurement(&mut self, measurement: &Measurement) -> io::Result<()> {
        // A row of dashes fits any header, so it goes into the table that there is.
        let header = match (&measurement.config, &self.header) {
            (Some(config), _) => self.header(config, measurement),
            (None, Some(header)) => header.clone(),
            (None, None) => self.header(&Config::default(), measurement),
        };
        if self.header.as_ref() != Some(&header) {
            let is_same_table =
                self.header.as_ref().is_some_and(|last| (&last.unit, &last.title) == (&header.unit, &header.title));
            if !is_same_table {
                self.baseline = None;
            }
            self.write_header(&header)?;
        }
        self.baseline = self.baseline.or(measurement.nanoseconds().map(|figure| figure.value));
        self.core_clocks.extend(measurement.core_clock);
        self.shows_throughput |= measurement.mode == Mode::Throughput;
        for row in &measurement.rows {
            self.write_row(&header, measurement, row)?;
        }
        self.header = Some(header);
        self.out.flush()
    }

    fn complexity(&mut self, series: &str, mode: Mode, complexity: &Complexity) -> io::Result<()> {
        let mode = if mode == Mode::Latency { " latency" } else { "" };
        writeln!(self.out, "\n{}{mode}\n\n{complexity}", code(series))?;
        // What comes next is another table.
        self.start_afresh();
        self.out.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        if self.is_quiet {
            return Ok(());
        }
        let mut lines = String::new();
        if self.shows_throughput {
            lines += "\nrows show throughput, of calls that do not wait for each other, unless they say latency\n";
        }
        if !self.core_clocks.is_empty() {
            let least = self.core_clocks.iter().map(|clock| clock.least).fold(f64::INFINITY, f64::min);
            let most = self.core_clocks.iter().map(|clock| clock.most).fold(0.0, f64::max);
            let mut medians: Vec<f64> = self.core_clocks.iter().map(|clock| clock.median).collect();
            let median = stats::median(&mut medians);
            lines += &format!(
                "\ncycles are counted by a metronome of dependent additions; core clock {least:.2} .. {median:.2} .. {most:.2} GHz \
                 (minimum, median, maximum)\n"
            );
        }
        self.colored(Color::Blue, &lines)?;
        self.out.flush()
    }
}

const RELATIVE_WIDTH: usize = 11;
const RELATIVE_INTERVAL_WIDTH: usize = 28;
const COMPLEXITY_WIDTH: usize = 14;
const NUMBER_WIDTH: usize = 22;
const INTERVAL_WIDTH: usize = 34;
const BYTES_WIDTH: usize = 12;
const SPREAD_WIDTH: usize = 10;
const CYCLES_WIDTH: usize = 18;
const ALLOCATIONS_WIDTH: usize = 14;
const MEMORY_WIDTH: usize = 16;
const TOTAL_WIDTH: usize = 12;
/// The least number of characters of a value from the context.
const CONTEXT_WIDTH: usize = 9;

fn heading(column: Column, config: &Config, with_interval: bool) -> Heading {
    let unit = cell(&config.unit);
    let (title, width) = match column {
        Column::Relative if with_interval => ("relative".to_owned(), RELATIVE_INTERVAL_WIDTH),
        Column::Relative => ("relative".to_owned(), RELATIVE_WIDTH),
        Column::ComplexityN => ("complexityN".to_owned(), COMPLEXITY_WIDTH),
        Column::Time => (format!("{}/{unit}", cell(config.time_unit.name())), NUMBER_WIDTH),
        Column::Interval => ("95% CI".to_owned(), INTERVAL_WIDTH),
        Column::Rate => (format!("{unit}/s"), NUMBER_WIDTH),
        Column::Bytes => ("GB/s".to_owned(), BYTES_WIDTH),
        Column::Items => ("item/s".to_owned(), NUMBER_WIDTH),
        Column::Chars => ("char/s".to_owned(), NUMBER_WIDTH),
        Column::Spread => ("err%".to_owned(), SPREAD_WIDTH),
        Column::Cycles => (format!("cyc/{unit}"), CYCLES_WIDTH),
        Column::Allocations => (format!("allocs/{unit}"), ALLOCATIONS_WIDTH),
        Column::AllocatedBytes => (format!("bytes/{unit}"), MEMORY_WIDTH),
        Column::PeakBytes => ("peak bytes".to_owned(), MEMORY_WIDTH),
        Column::Total => ("total".to_owned(), TOTAL_WIDTH),
    };
    Heading { cell: Cell::Figure(column), width: width.max(title.chars().count() + 3), title }
}

/// A column about allocations. What is exactly a whole number shows as one, and what is not zero never shows as zero.
fn allocated(column: Column, allocations: &Allocations) -> String {
    let (number, width) = match column {
        Column::Allocations => (allocations.allocations + allocations.growths, ALLOCATIONS_WIDTH),
        Column::AllocatedBytes => (allocations.bytes_allocated + allocations.bytes_grown, MEMORY_WIDTH),
        _ => (allocations.peak_bytes as f64, MEMORY_WIDTH),
    };
    let decimals = if number.fract() == 0.0 { 0 } else { 2 };
    if number > 0.0 && number < 0.01 { format!("{number:.1e}") } else { fitting(number, decimals, width - 2) }
}

/// A share in per cent, for a column of the given width.
fn percent(share: f64, decimals: usize, width: usize) -> String {
    format!("{}%", fitting(share * 100.0, decimals, width - 3))
}

/// How many decimal places a bound in nanoseconds is given with. The two bounds of a fast function would otherwise look the
/// same.
fn decimals(bound: f64) -> usize {
    if bound < 10.0 { 3 } else { 2 }
}

/// The emoji and the colour of a row that is not as it should be.
fn mark(outcome: &Outcome) -> (&'static str, Color) {
    match outcome {
        Outcome::OptimizedAway | Outcome::Panicked { .. } => (":boom:", Color::Red),
        _ => (":wavy_dash:", Color::Yellow),
    }
}

/// A number with as many decimal places as wanted, or none, or with an exponent, whatever fits into `width` characters.
fn fitting(number: f64, decimals: usize, width: usize) -> String {
    let fits = |text: &String| text.len() <= width;
    [grouped(number, decimals), grouped(number, 0)].into_iter().find(fits).unwrap_or_else(|| format!("{number:.3e}"))
}

fn machine_line(machine: &Machine) -> String {
    let clock = &machine.clock;
    let nanoseconds = |ticks: f64| ticks / clock.ticks_per_second * 1e9;
    let mut line = format!(
        "{}, {} CPU{}{}; {} at {} MHz ({}, +-{:.1} ppm), step {:.1} ns, start/stop pair {:.1} ns",
        printable(&machine.processor),
        machine.processors,
        if machine.processors == 1 { "" } else { "s" },
        machine.cpu.map_or_else(String::new, |cpu| format!(", pinned to CPU {cpu}")),
        machine.clock_name,
        grouped(clock.ticks_per_second / 1e6, 3),
        machine.frequency_source,
        machine.frequency_error_ppm,
        nanoseconds(clock.step_ticks),
        nanoseconds(clock.pair_cost_ticks),
    );
    if let Some(remark) = &machine.clock_remark {
        line.push_str("; ");
        line.push_str(remark);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ClockFacts;
    use crate::config::{Overhead, TimeUnit};
    use crate::measurement::Instability;
    use termcolor::{Ansi, NoColor};

    fn row(outcome: Outcome, nanoseconds: f64) -> Row {
        let figure = |value: f64| Figure { value, interval: Some(Interval { low: value * 0.99, high: value * 1.01 }) };
        let cycles = Some(figure(nanoseconds * 3.0));
        let cost = Cost {
            nanoseconds: figure(nanoseconds),
            ungated_nanoseconds: None,
            cycles,
            mdape: Some(0.0123),
            total_seconds: 0.0519,
        };
        Row {
            label: None,
            is_repeated: false,
            is_empty_loop: false,
            left_out: 0.0,
            outcome,
            cost: Some(cost),
            amounts: Vec::new(),
            allocations: None,
        }
    }

    fn measurement(id: &str, rows: Vec<Row>) -> Measurement {
        Measurement {
            id: id.into(),
            mode: Mode::Throughput,
            config: Some(Config::default()),
            rows,
            epochs: Vec::new(),
            clock_resolution_seconds: 1e-8,
            samples: 352,
            calls: 9_000,
            relative: None,
            core_clock: None,
            adds_per_cycle: None,
            unfairness: None,
            ungrouped_inputs: None,
        }
    }

    fn printed(measurements: &[Measurement]) -> String {
        let mut out = NoColor::new(Vec::new());
        let mut table = Table::new(&mut out, false);
        for measurement in measurements {
            table.measurement(measurement).unwrap();
        }
        drop(table);
        String::from_utf8(out.into_inner()).unwrap()
    }

    #[test]
    fn a_measurement_becomes_a_markdown_table() {
        let mut group = row(Outcome::Ok, 1_234_567.891);
        group.label = Some("3".into());
        let expected = "
|               ns/op |                          95% CI |                op/s |    err% |          cyc/op |     total | benchmark
|--------------------:|--------------------------------:|--------------------:|--------:|----------------:|----------:|:----------
|                7.52 |                  7.445 .. 7.595 |      132,978,723.40 |    1.2% |           22.56 |      0.05 | `copy`
|        1,234,567.89 |    1,222,222.21 .. 1,246,913.57 |              810.00 |    1.2% |    3,703,703.67 |      0.05 | `copy/3`
";
        let printed = printed(&[measurement("copy", vec![row(Outcome::Ok, 7.52), group])]);
        assert_eq!(printed, expected);
    }

    #[test]
    fn the_header_comes_once_and_again_when_the_unit_changes() {
        let a = measurement("a", vec![row(Outcome::Ok, 1.0)]);
        let byte = Measurement { config: Some(Config { unit: "byte".into(), ..Config::default() }), ..a.clone() };
        let printed = printed(&[a.clone(), a.clone(), byte, a]);
        assert_eq!(printed.matches("| benchmark").count(), 3);
        assert_eq!(printed.matches("ns/byte |").count(), 1);
    }

    #[test]
    fn each_row_is_compared_with_the_first_of_its_table_per_unit() {
        let relative = |id: &str, nanoseconds: f64, unit: &str| Measurement {
            config: Some(Config { relative: true, unit: unit.into(), ..Config::default() }),
            ..measurement(id, vec![row(Outcome::Ok, nanoseconds)])
        };
        let printed = printed(&[
            relative("a", 10.0, "op"),
            relative("twice as fast", 5.0, "op"),
            relative("half as fast", 20.0, "op"),
            relative("another table", 7.0, "byte"),
        ]);
        for part in ["| relative |", "|   100.0% |", "|   200.0% |", "|    50.0% |"] {
            assert!(printed.contains(part), "{part} in {printed}");
        }
        assert_eq!(printed.matches("|   100.0% |").count(), 2);
    }

    #[test]
    fn columns_can_be_added_and_hidden_and_every_line_has_as_many_bars() {
        let mut out = NoColor::new(Vec::new());
        let mut table = Table::new(&mut out, false);
        table.set_visible(Column::Interval, false);
        table.set_visible(Column::Rate, false);
        table.set_visible(Column::Rate, true);
        table.context_columns().push("compiler".into());
        let config = Config {
            complexity_n: Some(1_000.0),
            time_unit: TimeUnit::new(std::time::Duration::from_micros(1), "us"),
            title: "sorting | all".into(),
            context: vec![("compiler".into(), "llvm | 1".into())],
            ..Config::default()
        };
        let unknown = Config { context: Vec::new(), ..config.clone() };
        for config in [config, unknown] {
            let one = Measurement { config: Some(config), ..measurement("a", vec![row(Outcome::Ok, 2_500.0)]) };
            table.measurement(&one).unwrap();
        }
        drop(table);
        let printed = String::from_utf8(out.into_inner()).unwrap();
        let expected = "
|  compiler | complexityN |               us/op |                op/s |    err% |          cyc/op |     total | sorting \\| all
|----------:|------------:|--------------------:|--------------------:|--------:|----------------:|----------:|:---------------
| llvm \\| 1 |       1,000 |                2.50 |          400,000.00 |    1.2% |        7,500.00 |      0.05 | `a`
|         - |       1,000 |                2.50 |          400,000.00 |    1.2% |        7,500.00 |      0.05 | `a`
";
        assert_eq!(printed, expected);
    }

    #[test]
    fn a_row_without_a_cost_has_dashes_and_says_why() {
        let panicked = Row {
            label: None,
            is_repeated: false,
            is_empty_loop: false,
            left_out: 0.0,
            outcome: Outcome::Panicked { message: "no | luck".into() },
            cost: None,
            amounts: Vec::new(),
            allocations: None,
        };
        let gone = Row { outcome: Outcome::OptimizedAway, ..panicked.clone() };
        let printed = printed(&[measurement("bad", vec![panicked, gone])]);
        assert!(printed.contains("|         - | :boom: `bad` (panicked: no \\| luck)\n"), "{printed}");
        assert!(
            printed.contains(":boom: `bad` (iterations overflow. Maybe your code got optimized away?)\n"),
            "{printed}"
        );
    }

    #[test]
    fn rows_of_another_estimator_name_it_where_it_made_a_difference() {
        let group = Row { label: Some("3".into()), ..row(Outcome::Ok, 2.0) };
        let repeated = Row { is_repeated: true, ..group.clone() };
        let mut several = measurement("several", vec![row(Outcome::Ok, 1.0), group, repeated]);
        let mut one = measurement("one", vec![row(Outcome::Ok, 1.0)]);
        let config = Config { estimator: Estimator::LeaveOneOut, ..Config::default() };
        several.config = Some(config.clone());
        one.config = Some(config);
        let printed = printed(&[several, one]);
        let names: Vec<&str> = printed.lines().skip(3).filter_map(|line| line.rsplit("| ").next()).collect();
        let expected = ["`several` leave-one-out", "`several/3` leave-one-out", "`several/3` repeated", "`one`"];
        assert_eq!(names, expected);
    }

    #[test]
    fn rows_say_that_the_loop_was_taken_off_and_which_one_is_the_loop() {
        let group = Row { label: Some("3".into()), ..row(Outcome::Ok, 2.0) };
        let empty_loop = Row { is_empty_loop: true, ..row(Outcome::Ok, 0.3) };
        let config = |overhead| Some(Config { overhead, relative: true, ..Config::default() });
        let measured = measurement("f", vec![row(Outcome::Ok, 1.0), group, empty_loop]);
        for (mode, overhead, mark) in [
            (Mode::Throughput, Overhead::Show, ""),
            (Mode::Throughput, Overhead::Subtract, " loop subtracted"),
            (Mode::Latency, Overhead::Subtract, " latency"),
        ] {
            let printed = printed(&[Measurement { config: config(overhead), mode, ..measured.clone() }]);
            let names: Vec<&str> = printed.lines().skip(3).filter_map(|line| line.rsplit("| ").next()).collect();
            assert_eq!(names[..2], [format!("`f`{mark}"), format!("`f/3`{mark}")]);
            assert!(names[2].starts_with("`f`") && names[2].ends_with(" empty loop"), "{printed}");
            assert!(printed.lines().last().unwrap().starts_with("|        - |"), "a loop is not compared: {printed}");
        }
    }

    #[test]
    fn an_unstable_row_has_its_figures_and_says_what_to_do() {
        let outcome = Outcome::Unstable(Instability::Spread { calls_per_epoch: 56.7 });
        let printed = printed(&[measurement("random fluctuations", vec![row(outcome, 334.12)])]);
        let expected = "| :wavy_dash: `random fluctuations` (Unstable with ~56.7 iters. Increase `min_epoch_iterations` to e.g. 567)\n";
        assert!(printed.contains("|              334.12 |") && printed.contains(expected), "{printed}");
    }

    #[test]
    fn threads_that_get_less_done_than_others_are_mentioned_once_where_it_is_bad() {
        let unfair = |unfairness: f64, outcome: Outcome| {
            let group = Row { label: Some("3".into()), ..row(Outcome::Ok, 1.0) };
            let rows = vec![row(outcome, 1.0), group];
            printed(&[Measurement { unfairness: Some(unfairness), ..measurement("lock", rows) }])
        };
        let remark = " (the slowest thread took 1.8 times as long as the fastest)\n";
        let ok = unfair(1.8, Outcome::Ok);
        assert!(ok.contains(&format!("| `lock`{remark}")) && ok.ends_with("| `lock/3`\n"), "{ok}");
        let unstable = unfair(1.8, Outcome::Unstable(Instability::TooFewEpochs));
        assert!(unstable.contains(&format!("){remark}")), "{unstable}");
        assert!(!unfair(1.4, Outcome::Ok).contains("thread"));
    }

    #[test]
    fn a_cost_below_the_floor_is_a_limit_and_not_a_number() {
        let mut below = row(Outcome::BelowFloor, 0.07);
        below.cost.as_mut().unwrap().nanoseconds.interval = Some(Interval { low: 0.0, high: 0.1 });
        let printed = printed(&[measurement("tiny", vec![below])]);
        assert!(printed.contains("|             < 0.100 |"), "{printed}");
        assert!(!printed.contains("0.07"), "{printed}");
    }

    #[test]
    fn names_cannot_break_the_table_or_the_terminal() {
        for (name, expected) in
            [("a|c\u{1b}[2Jd", "`a\\|c\\u{1b}[2Jd`"), ("a`b", "`` a`b ``"), ("a``b`", "``` a``b` ```")]
        {
            let printed = printed(&[measurement(name, vec![row(Outcome::Ok, 1.0)])]);
            assert!(printed.ends_with(&format!("| {expected}\n")), "{printed}");
        }
    }

    #[test]
    fn colours_are_written_only_where_they_are_wanted() {
        let mut out = Ansi::new(Vec::new());
        Table::new(&mut out, false).measurement(&measurement("a", vec![row(Outcome::Ok, 1.0)])).unwrap();
        let colored = String::from_utf8(out.into_inner()).unwrap();
        assert!(colored.contains("\u{1b}["));
        assert!(!printed(&[measurement("a", vec![row(Outcome::Ok, 1.0)])]).contains('\u{1b}'));
    }

    #[test]
    fn a_number_never_leaves_its_column() {
        assert_eq!(fitting(1_234.567, 2, 8), "1,234.57");
        assert_eq!(fitting(1_234.567, 2, 7), "1,235");
        assert_eq!(fitting(123_456_789.0, 2, 10), "1.235e8");
    }

    #[test]
    fn the_machine_line_names_the_clock_and_what_is_known_of_it() {
        let machine = Machine {
            processor: "Some CPU".into(),
            processors: 2,
            cpu: None,
            clock: ClockFacts { ticks_per_second: 2.6e9, step_ticks: 26.0, pair_cost_ticks: 63.4 },
            clock_name: "TSC".into(),
            frequency_source: "calibration".into(),
            frequency_error_ppm: 1.23,
            clock_remark: None,
        };
        assert_eq!(
            machine_line(&machine),
            "Some CPU, 2 CPUs; TSC at 2,600.000 MHz (calibration, +-1.2 ppm), step 10.0 ns, start/stop pair 24.4 ns"
        );
        let pinned = machine_line(&Machine { cpu: Some(1), ..machine });
        assert!(pinned.starts_with("Some CPU, 2 CPUs, pinned to CPU 1; TSC at "), "{pinned}");
    }
}
