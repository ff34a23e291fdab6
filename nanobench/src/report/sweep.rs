//! The table of a sweep: the cost of a call against the calls in a sample.

use std::io;

use termcolor::{Color, ColorSpec, WriteColor};

use crate::measurement::{Figure, Machine, Sweep, SweepEnd, SweepRow};
use crate::printable::printable;
use crate::report::Report;
use crate::report::markdown::{code, grouped};
use crate::report::table::Table;
use crate::target::{Mode, Timed};

/// The title of the first column.
const CALLS_TITLE: &str = "calls per sample";

/// The least width of a column of costs.
const COST_WIDTH: usize = 24;

/// Writes a table for each benchmark.
pub(crate) struct SweepTable<'a> {
    out: Box<dyn WriteColor + 'a>,
    /// Whether to leave out what is not a result.
    is_quiet: bool,
}

impl<'a> SweepTable<'a> {
    pub(crate) fn new(out: impl WriteColor + 'a, is_quiet: bool) -> Self {
        Self { out: Box::new(out), is_quiet }
    }

    /// Writes what there is to say before the first table.
    pub(crate) fn begin(&mut self, machine: &Machine) -> io::Result<()> {
        Table::new(&mut self.out, self.is_quiet).begin(machine)
    }

    /// Writes the table of a benchmark, and what it says.
    pub(crate) fn sweep(&mut self, id: &str, sweep: &Sweep) -> io::Result<()> {
        let name = code(id);
        let titles = std::iter::once(CALLS_TITLE.to_owned()).chain(sweep.series.iter().map(title)).collect();
        let lines: Vec<Vec<String>> = std::iter::once(titles).chain(sweep.rows.iter().map(cells)).collect();
        let width = |column: usize| {
            let widest = lines.iter().map(|line| line[column].len()).max().unwrap_or(0);
            if column == 0 { widest } else { widest.max(COST_WIDTH) }
        };
        let widths: Vec<usize> = (0..=sweep.series.len()).map(width).collect();
        writeln!(self.out)?;
        for (index, line) in lines.iter().enumerate() {
            for (cell, width) in line.iter().zip(&widths) {
                write!(self.out, "| {cell:>width$} ")?;
            }
            if index > 0 {
                write!(self.out, "| ")?;
                self.colored(Color::Green, &name)?;
                writeln!(self.out)?;
                continue;
            }
            writeln!(self.out, "| benchmark")?;
            for width in &widths {
                write!(self.out, "|{}:", "-".repeat(width + 1))?;
            }
            writeln!(self.out, "|:----------")?;
        }
        let color = if sweep.end == SweepEnd::Agreement { Color::Green } else { Color::Yellow };
        writeln!(self.out)?;
        self.colored(color, &format!("{name}: {}\n", conclusion(sweep)))?;
        self.out.flush()
    }

    /// Writes that a benchmark has no table.
    pub(crate) fn panicked(&mut self, id: &str, message: &str) -> io::Result<()> {
        writeln!(self.out)?;
        self.colored(Color::Red, &format!(":boom: {} (panicked: {})\n", code(id), printable(message)))?;
        self.out.flush()
    }

    fn colored(&mut self, color: Color, text: &str) -> io::Result<()> {
        self.out.set_color(ColorSpec::new().set_fg(Some(color)))?;
        write!(self.out, "{text}")?;
        self.out.reset()
    }
}

fn title(series: &Timed) -> String {
    let what = match series {
        Timed::Function(Mode::Throughput) => "throughput",
        Timed::Function(Mode::Latency) => "latency",
        Timed::EmptyLoop => "empty loop",
    };
    format!("{what} ns/call")
}

fn cells(row: &SweepRow) -> Vec<String> {
    let costs = row.nanoseconds.iter().map(|figure| figure.as_ref().map_or_else(|| "-".to_owned(), cost));
    std::iter::once(grouped(row.calls as f64, 0)).chain(costs).collect()
}

/// A cost, and half the width of its interval if it has one.
fn cost(figure: &Figure) -> String {
    let decimals = if figure.value.abs() < 10.0 { 4 } else { 2 };
    let number = |value: f64| grouped(value, decimals);
    match figure.interval {
        Some(interval) => format!("{} +- {}", number(figure.value), number(interval.high - figure.value)),
        None => number(figure.value),
    }
}

/// What the rows mean, or what to do if they mean nothing yet.
fn conclusion(sweep: &Sweep) -> String {
    if let Some(calls) = sweep.agree_from_calls() {
        let plural = if calls == 1 { "" } else { "s" };
        return format!("from {} call{plural} per sample on the figures agree", grouped(calls as f64, 0));
    }
    let limit = match sweep.end {
        SweepEnd::OutOfCalls => "memory limits a sample of this function to that many calls",
        SweepEnd::Cold => {
            return "cold calls are timed one by one; the empty loop is the clock's part of that".to_owned();
        }
        SweepEnd::OutOfTime | SweepEnd::Agreement => "more calls do not fit into `max_time`: raise it",
    };
    let [.., before, last] = sweep.rows.as_slice() else {
        return format!("one row has nothing to agree with, and {limit}");
    };
    // What is spent once in a sample is divided by its calls. So the change from one row to the next tells what is left of it.
    let left_of_change = before.calls as f64 / (last.calls - before.calls) as f64;
    let (mut change, mut width, mut clock_part) = (0.0_f64, 0.0_f64, 0.0_f64);
    for (column, series) in sweep.series.iter().enumerate() {
        if let (Timed::Function(_), Some(a), Some(b)) = (series, before.nanoseconds[column], last.nanoseconds[column]) {
            for row in [before, last] {
                width = row.relative_half_width(column).map_or(width, |share| share.max(width));
            }
            let share = (a.value - b.value) / b.value;
            change = change.max(share.abs());
            clock_part = clock_part.max(share * left_of_change);
        }
    }
    format!(
        "the last two rows differ by up to {:.1} %, in intervals of up to +-{:.1} %, and {limit}; the clock's part of the \
         last one is about {:.1} %",
        change * 100.0,
        width * 100.0,
        clock_part * 100.0
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measurement::Interval;
    use termcolor::NoColor;

    fn figure(value: f64, half_width: f64) -> Option<Figure> {
        Some(Figure { value, interval: Some(Interval { low: value - half_width, high: value + half_width }) })
    }

    fn some_sweep() -> Sweep {
        let row = |calls, nanoseconds: [Option<Figure>; 3]| SweepRow { calls, nanoseconds: nanoseconds.to_vec() };
        Sweep {
            series: vec![Timed::Function(Mode::Throughput), Timed::Function(Mode::Latency), Timed::EmptyLoop],
            rows: vec![
                row(1, [figure(25.123, 0.456), figure(28.0, 0.5), Some(Figure { value: 24.5, interval: None })]),
                row(1_000, [figure(1.0456, 0.0123), figure(1_234_567.891, 1_000.0), None]),
                row(10_000, [figure(1.02, 0.01), figure(3.0, 0.01), figure(0.25, 0.001)]),
            ],
            end: SweepEnd::Agreement,
        }
    }

    fn written(id: &str, sweep: &Sweep) -> String {
        let mut out = NoColor::new(Vec::new());
        SweepTable::new(&mut out, true).sweep(id, sweep).unwrap();
        String::from_utf8(out.into_inner()).unwrap()
    }

    #[test]
    fn a_sweep_is_a_markdown_table_and_a_conclusion() {
        let expected = "
| calls per sample |       throughput ns/call |          latency ns/call |       empty loop ns/call | benchmark
|-----------------:|-------------------------:|-------------------------:|-------------------------:|:----------
|                1 |            25.12 +- 0.46 |            28.00 +- 0.50 |                    24.50 | `some`
|            1,000 |         1.0456 +- 0.0123 | 1,234,567.89 +- 1,000.00 |                        - | `some`
|           10,000 |         1.0200 +- 0.0100 |         3.0000 +- 0.0100 |         0.2500 +- 0.0010 | `some`

`some`: from 1,000 calls per sample on the figures agree
";
        assert_eq!(written("some", &some_sweep()), expected);
    }

    #[test]
    fn columns_become_wider_where_figures_need_it_and_bars_stay_in_line() {
        let mut sweep = some_sweep();
        sweep.rows[1].nanoseconds[1] = figure(1e15, 1e14);
        let table = written("some", &sweep);
        let bars = |line: &str| line.match_indices('|').map(|(position, _)| position).collect::<Vec<_>>();
        let lines: Vec<&str> = table.lines().filter(|line| line.starts_with('|')).collect();
        assert!(lines.iter().all(|line| bars(line) == bars(lines[0])), "{table}");
    }

    #[test]
    fn a_sweep_without_agreement_says_why_and_how_much_is_left_of_the_clock() {
        let mut sweep = some_sweep();
        // A function of 2 ns, one of 8 ns and, once in a sample, a clock of 90 ns.
        sweep.rows[1].nanoseconds = vec![figure(2.09, 0.001), figure(8.09, 0.001), figure(0.34, 0.001)];
        sweep.rows[2].nanoseconds = vec![figure(2.009, 0.001), figure(8.009, 0.001), figure(0.259, 0.001)];
        sweep.end = SweepEnd::OutOfCalls;
        let expected = "the last two rows differ by up to 4.0 %, in intervals of up to +-0.0 %, and memory limits a sample of \
                        this function to that many calls; the clock's part of the last one is about 0.4 %";
        assert_eq!(conclusion(&sweep), expected);
        sweep.end = SweepEnd::OutOfTime;
        assert!(conclusion(&sweep).contains("and more calls do not fit into `max_time`: raise it; "));
    }

    #[test]
    fn a_cost_that_grows_with_the_calls_is_not_the_clocks() {
        let mut sweep = some_sweep();
        sweep.end = SweepEnd::OutOfTime;
        sweep.rows[1].nanoseconds = vec![figure(2.0, 0.001); 3];
        sweep.rows[2].nanoseconds = vec![figure(4.0, 0.001); 3];
        assert!(conclusion(&sweep).contains("differ by up to 50.0 %"));
        assert!(conclusion(&sweep).ends_with("about 0.0 %"));
    }

    #[test]
    fn a_single_row_is_no_agreement() {
        let mut sweep = some_sweep();
        sweep.end = SweepEnd::OutOfTime;
        sweep.rows.truncate(1);
        let expected = "one row has nothing to agree with, and more calls do not fit into `max_time`: raise it";
        assert_eq!(conclusion(&sweep), expected);
    }

    #[test]
    fn one_call_is_singular() {
        let mut sweep = some_sweep();
        sweep.rows.remove(1);
        assert_eq!(conclusion(&sweep), "from 1 call per sample on the figures agree");
    }

    #[test]
    fn what_a_panic_says_is_printable() {
        let mut out = NoColor::new(Vec::new());
        SweepTable::new(&mut out, true).panicked("some", "no\nluck").unwrap();
        assert_eq!(String::from_utf8(out.into_inner()).unwrap(), "\n:boom: `some` (panicked: no\\u{a}luck)\n");
    }
}
