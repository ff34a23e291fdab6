//! JSON Lines: for each row one object on a line of its own, for scripts.
//!
//! Every object is complete in itself. Members are only ever added within a version of the format; a number that does not exist
//! is `null`. Times are in nanoseconds where the name does not say otherwise, and costs are per unit.
//!
//! After the rows of benchmarks under `complexity` comes an object with `version`, `complexity_of` (the name that they have in
//! common), `mode`, `best` (the class, or `null` if none has a clear lead) and `fits`: for each class `name`,
//! `coefficient_seconds`, `constant_seconds` and `error`, a share of 1.
//!
//! The members of a row:
//!
//! | member | meaning |
//! |---|---|
//! | `version` | of this format: 1 |
//! | `method` | the estimator and its version, such as `least-squares-4`, `leave-one-out-4` or `replay-4`, with `-loop-subtracted` behind it where that is so, so that figures of different methods are not compared by accident |
//! | `id`, `group`, `mode` | the benchmark, the group of inputs or `null` for the whole, `throughput` or `latency` |
//! | `cold` | whether each call found its data out of the caches |
//! | `repeated` | whether the group's first input came over and over, instead of the mix |
//! | `empty_loop` | whether the row is about the loop around the function, and not about the function |
//! | `loop_subtracted` | whether the cost of that loop was taken off the figures of the row |
//! | `outcome`, `cause`, `advice` | `ok`, `below_floor`, `unstable`, `optimized_away`, `not_measured` or `panicked`; of an unstable one the cause: `spread`, `wide_interval`, `frequency`, `shared_core`, `interrupts`, `bimodal` or `too_few_epochs`; a sentence, or `null` if all is well |
//! | `nanoseconds`, `cycles` | `{"value", "low", "high"}`, the latter two being the 95 % interval |
//! | `ungated_nanoseconds` | what the value would have been had the samples of a shared core counted; `null` if none was left out |
//! | `mdape` | how far the epochs lie apart, a share of 1 |
//! | `per_call` | `{"bytes", "items", "chars"}` that a call works on, as far as that is known |
//! | `total_seconds` | what all timed calls took together |
//! | `relative` | how many times as fast as the baseline of its module the benchmark is, as for `nanoseconds`; `null` without one |
//! | `allocations` | what a unit of work asks of the allocator: `{"allocations", "deallocations", "growths", "bytes_allocated", "bytes_freed", "bytes_grown", "peak_bytes"}`, the peak being that of a call; `null` where nothing counts it |
//! | `left_out` | the share of samples that do not count since the core was shared, or the thread had to wait for it |
//! | `epochs`, `samples`, `calls` | how many there were |
//! | `core_clock_gigahertz` | `{"least", "median", "most"}` during the run |
//! | `adds_per_cycle` | how many independent additions the core could make in a cycle in its best moments |
//! | `unfairness` | how many times as long as the fastest thread the slowest one took for its calls; `null` where there is one thread |
//! | `settings` | the settings of the engine, times in nanoseconds |
//! | `machine` | processor, number of processors, `cpu`, the number of the one that the run was pinned to or `null`, and the facts of the clock |

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::allocations::Allocations;
use crate::amounts::Counted;
use crate::complexity::Complexity;
use crate::config::Config;
use crate::measurement::{Figure, Machine, Measurement, Row};
use crate::report::{Report, advice, json, outcome_names};
use crate::target::Mode;

/// The version of the format.
const VERSION: f64 = 1.0;

/// The version of how each estimator makes figures.
const METHOD_VERSION: u32 = 4;

/// Writes JSON Lines.
pub(crate) struct JsonLines<W> {
    out: W,
    /// The object about the machine.
    machine: String,
}

impl<W: Write> JsonLines<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, machine: "null".to_owned() }
    }
}

impl<W: Write> Report for JsonLines<W> {
    fn begin(&mut self, machine: &Machine) -> io::Result<()> {
        self.machine = machine_object(machine);
        Ok(())
    }

    fn measurement(&mut self, measurement: &Measurement) -> io::Result<()> {
        for row in &measurement.rows {
            writeln!(self.out, "{}", row_object(measurement, row, &self.machine))?;
        }
        self.out.flush()
    }

    fn complexity(&mut self, series: &str, mode: Mode, complexity: &Complexity) -> io::Result<()> {
        let fits: Vec<String> = complexity
            .fits
            .iter()
            .map(|fit| {
                Object::new()
                    .text("name", Some(&fit.name))
                    .number("coefficient_seconds", fit.coefficient_seconds)
                    .number("constant_seconds", fit.constant_seconds)
                    .number("error", fit.error)
                    .finish()
            })
            .collect();
        let object = Object::new()
            .number("version", VERSION)
            .text("complexity_of", Some(series))
            .text("mode", Some(mode_name(mode)))
            .text("best", complexity.best().map(|fit| fit.name.as_str()))
            .object("fits", Some(&format!("[{}]", fits.join(","))))
            .finish();
        writeln!(self.out, "{object}")?;
        self.out.flush()
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn row_object(measurement: &Measurement, row: &Row, machine: &str) -> String {
    let (outcome, cause) = outcome_names(&row.outcome);
    let cost = row.cost.as_ref();
    let is_loop_subtracted = measurement.is_loop_subtracted(row);
    let subtracted = if is_loop_subtracted { "-loop-subtracted" } else { "" };
    let core_clock = measurement.core_clock.map(|clock| {
        Object::new().number("least", clock.least).number("median", clock.median).number("most", clock.most).finish()
    });
    let relative = measurement.relative.as_ref().filter(|_| row.is_whole());
    let amounts = (!row.amounts.is_empty()).then(|| {
        let add = |object: Object, &(counted, amount): &(Counted, f64)| object.number(counted_name(counted), amount);
        row.amounts.iter().fold(Object::new(), add).finish()
    });
    Object::new()
        .number("version", VERSION)
        .text("method", Some(&format!("{}-{METHOD_VERSION}{subtracted}", measurement.estimator(row).name())))
        .text("id", Some(&measurement.id))
        .text("group", row.label.as_deref())
        .text("mode", Some(mode_name(measurement.mode)))
        .boolean("cold", measurement.is_cold())
        .boolean("repeated", row.is_repeated)
        .boolean("empty_loop", row.is_empty_loop)
        .boolean("loop_subtracted", is_loop_subtracted)
        .text("outcome", Some(outcome))
        .text("cause", cause)
        .text("advice", advice(&row.outcome).as_deref())
        .object("nanoseconds", cost.map(|cost| figure_object(&cost.nanoseconds)).as_deref())
        .number("ungated_nanoseconds", cost.and_then(|cost| cost.ungated_nanoseconds).unwrap_or(f64::NAN))
        .object("cycles", cost.and_then(|cost| cost.cycles.as_ref()).map(figure_object).as_deref())
        .number("mdape", cost.and_then(|cost| cost.mdape).unwrap_or(f64::NAN))
        .object("per_call", amounts.as_deref())
        .number("total_seconds", cost.map_or(f64::NAN, |cost| cost.total_seconds))
        .object("relative", relative.map(figure_object).as_deref())
        .object("allocations", row.allocations.as_ref().map(allocations_object).as_deref())
        .number("left_out", row.left_out)
        .number("epochs", measurement.epochs.len() as f64)
        .number("samples", measurement.samples as f64)
        .number("calls", measurement.calls as f64)
        .object("core_clock_gigahertz", core_clock.as_deref())
        .number("adds_per_cycle", measurement.adds_per_cycle.unwrap_or(f64::NAN))
        .number("unfairness", measurement.unfairness.unwrap_or(f64::NAN))
        .object("settings", measurement.config.as_ref().map(settings_object).as_deref())
        .object("machine", Some(machine))
        .finish()
}

fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Throughput => "throughput",
        Mode::Latency => "latency",
    }
}

fn counted_name(counted: Counted) -> &'static str {
    match counted {
        Counted::Bytes => "bytes",
        Counted::Items => "items",
        Counted::Chars => "chars",
    }
}

fn figure_object(figure: &Figure) -> String {
    let (low, high) = figure.interval.map_or((f64::NAN, f64::NAN), |interval| (interval.low, interval.high));
    Object::new().number("value", figure.value).number("low", low).number("high", high).finish()
}

fn allocations_object(allocations: &Allocations) -> String {
    Object::new()
        .number("allocations", allocations.allocations)
        .number("deallocations", allocations.deallocations)
        .number("growths", allocations.growths)
        .number("bytes_allocated", allocations.bytes_allocated)
        .number("bytes_freed", allocations.bytes_freed)
        .number("bytes_grown", allocations.bytes_grown)
        .number("peak_bytes", allocations.peak_bytes as f64)
        .finish()
}

fn settings_object(config: &Config) -> String {
    Object::new()
        .number("epochs", config.epochs as f64)
        .number("clock_resolution_multiple", config.clock_resolution_multiple as f64)
        .number("min_epoch_time", config.min_epoch_time.as_nanos() as f64)
        .number("max_epoch_time", config.max_epoch_time.as_nanos() as f64)
        .number("min_epoch_iterations", config.min_epoch_iterations as f64)
        .number("epoch_iterations", config.epoch_iterations as f64)
        .number("warmup", config.warmup as f64)
        .number("precision", config.precision)
        .number("max_time", config.max_time.as_nanos() as f64)
        .boolean("compare_repeated", config.compare_repeated)
        .boolean("cold", config.cold)
        .text("overhead", Some(config.overhead.name()))
        .text("unit", Some(&config.unit))
        .number("batch", config.batch)
        .finish()
}

fn machine_object(machine: &Machine) -> String {
    Object::new()
        .text("processor", Some(&machine.processor))
        .number("processors", machine.processors as f64)
        .number("cpu", machine.cpu.map_or(f64::NAN, |cpu| cpu as f64))
        .text("clock", Some(&machine.clock_name))
        .number("ticks_per_second", machine.clock.ticks_per_second)
        .text("frequency_source", Some(&machine.frequency_source))
        .number("frequency_error_ppm", machine.frequency_error_ppm)
        .number("step_ticks", machine.clock.step_ticks)
        .number("pair_cost_ticks", machine.clock.pair_cost_ticks)
        .text("clock_remark", machine.clock_remark.as_deref())
        .finish()
}

/// A JSON object under construction. Members stay in the order in which they are added.
struct Object(String);

impl Object {
    fn new() -> Self {
        Self("{".to_owned())
    }

    /// Adds a number; what is none becomes `null`.
    fn number(mut self, name: &str, value: f64) -> Self {
        self.name(name);
        if value.is_finite() {
            // Writing to a string cannot fail. The format of floats is also that of JSON, and finds them again exactly.
            let _ = write!(self.0, "{value}");
        } else {
            self.0.push_str("null");
        }
        self
    }

    fn boolean(self, name: &str, value: bool) -> Self {
        self.object(name, Some(if value { "true" } else { "false" }))
    }

    fn text(mut self, name: &str, value: Option<&str>) -> Self {
        self.name(name);
        match value {
            Some(value) => json::push_string(&mut self.0, value),
            None => self.0.push_str("null"),
        }
        self
    }

    /// Adds what is JSON already.
    fn object(mut self, name: &str, value: Option<&str>) -> Self {
        self.name(name);
        self.0.push_str(value.unwrap_or("null"));
        self
    }

    fn name(&mut self, name: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        json::push_string(&mut self.0, name);
        self.0.push(':');
    }

    fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::ClockFacts;
    use crate::config::Estimator;
    use crate::measurement::{Cost, Epoch, Instability, Interval, Outcome};

    fn measurement(outcome: Outcome) -> Measurement {
        let figure = Figure { value: 1.5, interval: Some(Interval { low: 1.25, high: 1.75 }) };
        let cost = Cost {
            nanoseconds: figure,
            ungated_nanoseconds: Some(2.5),
            cycles: None,
            mdape: Some(0.25),
            total_seconds: 0.5,
        };
        Measurement {
            id: "a \"quoted\"\nid\u{1b}</script>".into(),
            mode: Mode::Latency,
            config: Some(Config::default()),
            rows: vec![
                Row {
                    label: None,
                    is_repeated: false,
                    is_empty_loop: false,
                    left_out: 0.125,
                    outcome,
                    cost: Some(cost),
                    amounts: Vec::new(),
                    allocations: None,
                },
                Row {
                    label: Some("3".into()),
                    is_repeated: false,
                    is_empty_loop: false,
                    left_out: 0.0,
                    outcome: Outcome::NotMeasured,
                    cost: None,
                    amounts: Vec::new(),
                    allocations: None,
                },
            ],
            epochs: vec![Epoch { iterations: 800, seconds_per_call: 1e-6, cycles_per_call: None }; 11],
            clock_resolution_seconds: 1e-8,
            samples: 352,
            calls: 9_000,
            relative: None,
            core_clock: None,
            adds_per_cycle: None,
            unfairness: Some(1.25),
            ungrouped_inputs: None,
        }
    }

    fn lines(measurement: &Measurement) -> Vec<String> {
        let mut report = JsonLines::new(Vec::new());
        let machine = Machine {
            processor: "Some CPU".into(),
            processors: 2,
            cpu: Some(1),
            clock: ClockFacts { ticks_per_second: 2.6e9, step_ticks: 26.0, pair_cost_ticks: 63.4 },
            clock_name: "TSC".into(),
            frequency_source: "calibration".into(),
            frequency_error_ppm: 1.5,
            clock_remark: None,
        };
        report.begin(&machine).unwrap();
        report.measurement(measurement).unwrap();
        report.finish().unwrap();
        String::from_utf8(report.out).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn every_row_is_an_object_on_a_line_of_its_own() {
        let lines = lines(&measurement(Outcome::Ok));
        assert_eq!(lines.len(), 2);
        let start = concat!(
            r#"{"version":1,"method":"least-squares-4","id":"a \"quoted\"\u000aid\u001b\u003c/script>","group":null,"#,
            r#""mode":"latency","cold":false,"repeated":false,"empty_loop":false,"loop_subtracted":false,"outcome":"ok","cause":null,"advice":null,"#,
            r#""nanoseconds":{"value":1.5,"low":1.25,"high":1.75},"ungated_nanoseconds":2.5,"cycles":null,"mdape":0.25,"per_call":null,"total_seconds":0.5,"#,
            r#""relative":null,"allocations":null,"left_out":0.125,"epochs":11,"samples":352,"calls":9000,"core_clock_gigahertz":null,"adds_per_cycle":null,"unfairness":1.25,"settings":{"epochs":11,"#,
        );
        assert!(lines[0].starts_with(start), "{}", lines[0]);
        assert!(
            lines[0].contains(r#""machine":{"processor":"Some CPU","processors":2,"cpu":1,"clock""#),
            "{}",
            lines[0]
        );
        assert!(lines[0].ends_with(r#""pair_cost_ticks":63.4,"clock_remark":null}}"#), "{}", lines[0]);
    }

    #[test]
    fn the_method_is_that_of_the_row() {
        let mut measurement = measurement(Outcome::Ok);
        let config = Config { estimator: Estimator::LeaveOneOut, ..Config::default() };
        measurement.config = Some(config);
        measurement.rows.push(Row { is_repeated: true, ..measurement.rows[1].clone() });
        let methods = lines(&measurement);
        assert!(methods[0].contains(r#""method":"leave-one-out-4""#), "{methods:?}");
        assert!(methods[1].contains(r#""method":"leave-one-out-4""#), "{methods:?}");
        assert!(methods[2].contains(r#""method":"least-squares-4""#), "{methods:?}");
        let cold = Config { cold: true, ..measurement.config.clone().unwrap() };
        let whole = measurement.rows[..1].to_vec();
        for other in
            [Measurement { config: Some(cold), ..measurement.clone() }, Measurement { rows: whole, ..measurement }]
        {
            let methods = lines(&other);
            assert!(methods[0].contains(r#""method":"least-squares-4""#), "nothing can be left out: {methods:?}");
        }
    }

    #[test]
    fn what_does_not_exist_is_null() {
        let row = &lines(&measurement(Outcome::Ok))[1];
        for part in [r#""group":"3""#, r#""outcome":"not_measured""#, r#""nanoseconds":null"#, r#""mdape":null"#] {
            assert!(row.contains(part), "{part} in {row}");
        }
        assert_eq!(Object::new().number("a", f64::NAN).number("b", f64::INFINITY).finish(), r#"{"a":null,"b":null}"#);
    }

    #[test]
    fn an_unstable_row_names_the_cause_and_what_to_do() {
        let row = &lines(&measurement(Outcome::Unstable(Instability::SharedCore { share: 0.9 })))[0];
        assert!(row.contains(r#""outcome":"unstable","cause":"shared_core","advice":"somebody else"#), "{row}");
    }
}
