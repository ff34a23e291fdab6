//! The table: Markdown that can be pasted into an issue, with colours on a terminal.

use std::io;

use termcolor::{Color, ColorSpec, WriteColor};

use crate::config::DEFAULT_UNIT;
use crate::measurement::{CoreClock, Cost, Figure, Machine, Measurement, Outcome, Row};
use crate::printable::printable;
use crate::report::markdown::{cell, code, grouped};
use crate::report::{Report, advice};
use crate::stats;
use crate::target::Mode;

/// Writes a table, row by row as the measurements come.
pub(crate) struct Table<W> {
    out: W,
    /// Whether to leave out what is not a row.
    is_quiet: bool,
    /// The unit that the last header named; another one starts a new table.
    unit: Option<String>,
    /// How fast the core was in each measurement so far.
    core_clocks: Vec<CoreClock>,
}

/// A column of numbers. The width counts from the bar in front of the column to the one behind it.
struct Column {
    title: String,
    width: usize,
}

const NUMBER_WIDTH: usize = 22;
const INTERVAL_WIDTH: usize = 34;
const SPREAD_WIDTH: usize = 10;
const CYCLES_WIDTH: usize = 18;
const TOTAL_WIDTH: usize = 12;

/// From which share on a row says how many samples were left out.
const MENTIONED_SHARE: f64 = 0.1;

/// The title of the last column, that of the names.
const TITLE: &str = "benchmark";

impl<W: WriteColor> Table<W> {
    pub(crate) fn new(out: W, is_quiet: bool) -> Self {
        Self { out, is_quiet, unit: None, core_clocks: Vec::new() }
    }

    fn write_header(&mut self, columns: &[Column]) -> io::Result<()> {
        writeln!(self.out)?;
        for Column { title, width } in columns {
            write!(self.out, "|{title:>0$} ", width - 2)?;
        }
        writeln!(self.out, "| {TITLE}")?;
        for Column { width, .. } in columns {
            write!(self.out, "|{}:", "-".repeat(width - 2))?;
        }
        writeln!(self.out, "|:{}", "-".repeat(TITLE.len() + 1))
    }

    fn write_row(&mut self, columns: &[Column], measurement: &Measurement, row: &Row) -> io::Result<()> {
        for (Column { width, .. }, cell) in columns.iter().zip(cells(row)) {
            match cell {
                Some(cell) => write!(self.out, "|{cell:>0$} ", width - 2)?,
                None => write!(self.out, "|{:>1$} ", "-", width - 2)?,
            }
        }
        let name = match &row.label {
            Some(label) => code(&format!("{}/{label}", measurement.id)),
            None => code(&measurement.id),
        };
        let mode = if measurement.mode == Mode::Latency { " latency" } else { "" };
        let repeated = if row.is_repeated { " repeated" } else { "" };
        let name = format!("{name}{mode}{repeated}");
        write!(self.out, "| ")?;
        match advice(&row.outcome) {
            None => {
                self.colored(Color::Green, &name)?;
                if row.left_out > MENTIONED_SHARE {
                    let percent = row.left_out * 100.0;
                    write!(self.out, " (without {percent:.0} % of the samples, when the core was shared)")?;
                }
                writeln!(self.out)
            }
            Some(text) => {
                let (emoji, color) = mark(&row.outcome);
                write!(self.out, "{emoji} ")?;
                self.colored(color, &format!("{name} ({})\n", cell(&text)))
            }
        }
    }

    fn colored(&mut self, color: Color, text: &str) -> io::Result<()> {
        self.out.set_color(ColorSpec::new().set_fg(Some(color)))?;
        write!(self.out, "{text}")?;
        self.out.reset()
    }
}

impl<W: WriteColor> Report for Table<W> {
    fn begin(&mut self, machine: &Machine) -> io::Result<()> {
        if self.is_quiet {
            return Ok(());
        }
        self.colored(Color::Blue, &format!("{}\n", machine_line(machine)))?;
        self.out.flush()
    }

    fn measurement(&mut self, measurement: &Measurement) -> io::Result<()> {
        // A row of dashes fits any unit, so it goes into the table that there is.
        let unit = measurement
            .config
            .as_ref()
            .map(|config| config.unit.clone())
            .or_else(|| self.unit.clone())
            .unwrap_or_else(|| DEFAULT_UNIT.to_owned());
        let columns = columns(&unit);
        if self.unit.as_ref() != Some(&unit) {
            self.write_header(&columns)?;
            self.unit = Some(unit);
        }
        self.core_clocks.extend(measurement.core_clock);
        for row in &measurement.rows {
            self.write_row(&columns, measurement, row)?;
        }
        self.out.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        if self.is_quiet || self.core_clocks.is_empty() {
            return Ok(());
        }
        let least = self.core_clocks.iter().map(|clock| clock.least).fold(f64::INFINITY, f64::min);
        let most = self.core_clocks.iter().map(|clock| clock.most).fold(0.0, f64::max);
        let mut medians: Vec<f64> = self.core_clocks.iter().map(|clock| clock.median).collect();
        let median = stats::median(&mut medians);
        let line = format!(
            "\ncycles are counted by a metronome of dependent additions; core clock {least:.2} .. {median:.2} .. {most:.2} GHz \
             (minimum, median, maximum)\n"
        );
        self.colored(Color::Blue, &line)?;
        self.out.flush()
    }
}

fn columns(unit: &str) -> [Column; 6] {
    let unit = cell(unit);
    let column = |title: String, width: usize| Column { width: width.max(title.chars().count() + 3), title };
    [
        column(format!("ns/{unit}"), NUMBER_WIDTH),
        column("95% CI".to_owned(), INTERVAL_WIDTH),
        column(format!("{unit}/s"), NUMBER_WIDTH),
        column("err%".to_owned(), SPREAD_WIDTH),
        column(format!("cyc/{unit}"), CYCLES_WIDTH),
        column("total".to_owned(), TOTAL_WIDTH),
    ]
}

/// The cells of a row, in the order of [`columns`].
fn cells(row: &Row) -> [Option<String>; 6] {
    let Some(Cost { nanoseconds: Figure { value: nanoseconds, interval }, cycles, mdape, total_seconds, .. }) =
        row.cost
    else {
        return Default::default();
    };
    let total = Some(fitting(total_seconds, 2, TOTAL_WIDTH - 2));
    if row.outcome == Outcome::BelowFloor {
        let limit = interval.map(|interval| {
            let high = interval.high.max(0.0);
            format!("< {}", fitting(high, decimals(high), NUMBER_WIDTH - 4))
        });
        return [limit, None, None, None, None, total];
    }
    let interval = interval.map(|interval| {
        let bound = |bound| fitting(bound, decimals(interval.high), (INTERVAL_WIDTH - 6) / 2);
        format!("{} .. {}", bound(interval.low), bound(interval.high))
    });
    [
        Some(fitting(nanoseconds, 2, NUMBER_WIDTH - 2)),
        interval,
        Some(fitting(1e9 / nanoseconds, 2, NUMBER_WIDTH - 2)),
        mdape.map(|share| format!("{}%", fitting(share * 100.0, 1, SPREAD_WIDTH - 3))),
        cycles.map(|cycles| fitting(cycles.value, 2, CYCLES_WIDTH - 2)),
        total,
    ]
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
        "{}, {} CPU{}; {} at {} MHz ({}, +-{:.1} ppm), step {:.1} ns, start/stop pair {:.1} ns",
        printable(&machine.processor),
        machine.processors,
        if machine.processors == 1 { "" } else { "s" },
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
    use crate::config::Config;
    use crate::measurement::{Instability, Interval};
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
        Row { label: None, is_repeated: false, left_out: 0.0, outcome, cost: Some(cost) }
    }

    fn measurement(id: &str, rows: Vec<Row>) -> Measurement {
        Measurement {
            id: id.into(),
            mode: Mode::Throughput,
            config: Some(Config::default()),
            rows,
            epochs: 11,
            samples: 352,
            calls: 9_000,
            core_clock: None,
            adds_per_cycle: None,
            ungrouped_inputs: None,
        }
    }

    fn printed(measurements: &[Measurement]) -> String {
        let mut table = Table::new(NoColor::new(Vec::new()), false);
        for measurement in measurements {
            table.measurement(measurement).unwrap();
        }
        String::from_utf8(table.out.into_inner()).unwrap()
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
    fn a_row_without_a_cost_has_dashes_and_says_why() {
        let panicked = Row {
            label: None,
            is_repeated: false,
            left_out: 0.0,
            outcome: Outcome::Panicked { message: "no | luck".into() },
            cost: None,
        };
        let gone = Row { label: None, is_repeated: false, left_out: 0.0, outcome: Outcome::OptimizedAway, cost: None };
        let printed = printed(&[measurement("bad", vec![panicked, gone])]);
        assert!(printed.contains("|         - | :boom: `bad` (panicked: no \\| luck)\n"), "{printed}");
        assert!(
            printed.contains(":boom: `bad` (iterations overflow. Maybe your code got optimized away?)\n"),
            "{printed}"
        );
    }

    #[test]
    fn an_unstable_row_has_its_figures_and_says_what_to_do() {
        let outcome = Outcome::Unstable(Instability::Spread { calls_per_epoch: 56.7 });
        let printed = printed(&[measurement("random fluctuations", vec![row(outcome, 334.12)])]);
        let expected = "| :wavy_dash: `random fluctuations` (Unstable with ~56.7 iters. Increase `min_epoch_iterations` to e.g. 567)\n";
        assert!(printed.contains("|              334.12 |") && printed.contains(expected), "{printed}");
    }

    #[test]
    fn a_cost_below_the_floor_is_a_limit_and_never_a_negative_number() {
        let mut below = row(Outcome::BelowFloor, -0.2);
        below.cost.as_mut().unwrap().nanoseconds.interval = Some(Interval { low: -0.5, high: 0.1 });
        let printed = printed(&[measurement("tiny", vec![below])]);
        assert!(printed.contains("|             < 0.100 |"), "{printed}");
        assert!(!printed.contains("-0.2") && !printed.contains("-0.5"), "{printed}");
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
        let mut table = Table::new(Ansi::new(Vec::new()), false);
        table.measurement(&measurement("a", vec![row(Outcome::Ok, 1.0)])).unwrap();
        let colored = String::from_utf8(table.out.into_inner()).unwrap();
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
    }
}
