//! The table that `cargo bench` prints.

use crate::support::{bars, fixture, is_row, masked};

const HEADER: &str = "
|               ns/op |                          95% CI |                op/s |    err% |          cyc/op |     total | benchmark
|--------------------:|--------------------------------:|--------------------:|--------:|----------------:|----------:|:----------
";

const BYTE_HEADER: &str = "
|             ns/byte |                          95% CI |              byte/s |    err% |        cyc/byte |     total | benchmark
|--------------------:|--------------------------------:|--------------------:|--------:|----------------:|----------:|:----------
";

const MANY_HINT: &str = "nanobench: `many` has 33 inputs with too many distinct values for a row each; `by = |x| ..` puts \
                         them into groups\n";

#[test]
fn the_table_has_a_row_per_benchmark_and_group_in_source_order_and_a_header_per_unit() {
    let output = fixture!("table").measure("--quiet").succeeds();
    let expected = "
|               ns/op |                          95% CI |                op/s |    err% |          cyc/op |     total | benchmark
|--------------------:|--------------------------------:|--------------------:|--------:|----------------:|----------:|:----------
|                   # |                               # |                   # |       # |               # |         # | `plain`
|                   # |                               # |                   # |       # |               # |         # | `copy`
|                   # |                               # |                   # |       # |               # |         # | `copy/3`
|                   # |                               # |                   # |       # |               # |         # | `copy/4`
|                   # |                               # |                   # |       # |               # |         # | `copy/7`
|                   # |                               # |                   # |       # |               # |         # | `copy/8`
|                   # |                               # |                   # |       # |               # |         # | `labelled`
|                   # |                               # |                   # |       # |               # |         # | `labelled/0`
|                   # |                               # |                   # |       # |               # |         # | `labelled/1`
|                   # |                               # |                   # |       # |               # |         # | `labelled/2`
|                   # |                               # |                   # |       # |               # |         # | `many`
|                   # |                               # |                   # |       # |               # |         # | `one_input`

|             ns/byte |                          95% CI |              byte/s |    err% |        cyc/byte |     total | benchmark
|--------------------:|--------------------------------:|--------------------:|--------:|----------------:|----------:|:----------
|                   # |                               # |                   # |       # |               # |         # | `bytes`
|                   # |                               # |                   # |       # |               # |         # | `byte`

|               ns/op |                          95% CI |                op/s |    err% |          cyc/op |     total | benchmark
|--------------------:|--------------------------------:|--------------------:|--------:|----------------:|----------:|:----------
|                   # |                               # |                   # |       # |               # |         # | `last`
";
    assert_eq!(masked(&output.stdout), expected);
}

#[test]
fn the_first_line_is_about_the_machine() {
    let output = fixture!("table").measure("--exact plain").succeeds();
    let (machine, table) = output.stdout.split_once('\n').unwrap();
    for part in [" CPU", " at ", " MHz (", " ppm)", ", step ", " ns, start/stop pair "] {
        assert!(machine.contains(part), "{part:?} in {machine}");
    }
    assert!(table.starts_with(HEADER), "{table}");
}

#[test]
fn more_values_than_rows_give_one_row_and_a_hint() {
    let output = fixture!("table").measure("--exact many").exits_with(0);
    assert_eq!(output.stderr, MANY_HINT);
    assert_eq!(output.rows(), ["`many`"]);
}

#[test]
fn quiet_leaves_out_the_machine_and_the_hints() {
    for flag in ["-q", "--quiet"] {
        let output =
            fixture!("table").env("NANOBENCH_NO_SUCH", "1").measure(&format!("{flag} --exact many")).succeeds();
        assert!(output.stdout.starts_with(HEADER), "{output:?}");
    }
}

#[test]
fn the_unit_is_in_the_header() {
    let output = fixture!("table").measure("--quiet --exact plain --unit byte --batch 16").succeeds();
    assert!(output.stdout.starts_with(BYTE_HEADER), "{output:?}");
}

#[test]
fn a_long_unit_makes_its_columns_wider_and_a_bar_in_it_is_part_of_the_name() {
    let output =
        fixture!("table").arg("--unit=quite|a long name of a unit").measure("--quiet --exact plain").succeeds();
    let lines: Vec<&str> = output.stdout.lines().skip(1).collect();
    assert!(lines[0].starts_with("| ns/quite\\|a long name of a unit |"), "{output:?}");
    for line in &lines {
        assert_eq!(bars(line), bars(lines[0]), "{output:?}");
    }
}

#[test]
fn every_line_of_a_table_has_its_bars_at_the_same_positions() {
    let output = fixture!("table").measure("").exits_with(0);
    let lines: Vec<&str> = output.stdout.lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!(lines.iter().filter(|line| is_row(line)).count(), 15);
    for line in &lines {
        assert_eq!(bars(line), [0, 22, 56, 78, 88, 106, 118], "{output:?}");
    }
}

#[test]
fn figures_of_a_slow_benchmark_stay_within_their_cells() {
    // A function of a few nanoseconds for a thousandth of a millionth of a unit is one of a few seconds for a whole one, and
    // such an interval is as wide as those of functions of some ten milliseconds are.
    let output = fixture!("table").args("--bench --max-time 20ms --quiet --exact plain --batch 1e-9").run().succeeds();
    let row = output.stdout.lines().find(|line| is_row(line)).unwrap();
    assert_eq!(bars(row), [0, 22, 56, 78, 88, 106, 118], "{output:?}");
}

#[test]
fn no_cell_holds_something_that_is_not_a_number() {
    for max_time in ["1ns", "200us", "1ms"] {
        let output = fixture!("table").args("--bench --quiet --max-time").args(max_time).run().succeeds();
        for row in output.stdout.lines().filter(|line| is_row(line)) {
            assert!(!row.contains("NaN") && !row.contains("inf"), "{output:?}");
        }
    }
}

#[test]
fn only_measuring_calls_a_function_more_than_once() {
    let output = fixture!("calls").measure("--quiet --exact first").succeeds();
    assert!(output.stdout.matches("called first\n").count() > 1, "{output:?}");
    assert_eq!(output.rows(), ["`first`"]);
}

#[test]
fn another_estimator_is_named_in_the_rows_where_there_are_inputs_to_tell_apart() {
    for name in ["leave-one-out", "replay"] {
        let output = fixture!("table").measure(&format!("--quiet --estimator {name} --exact copy plain")).succeeds();
        let rows = output.rows();
        assert!(rows[0].starts_with("`plain`") && !rows[0].contains(name), "{output:?}");
        let expected = ["copy", "copy/3", "copy/4", "copy/7", "copy/8"].map(|id| format!("`{id}` {name}"));
        assert!(rows[1..].iter().zip(&expected).all(|(row, start)| row.starts_with(start)), "{output:?}");
        assert_eq!(rows.len(), 6, "{output:?}");
        let json = fixture!("table").env("NANOBENCH_ESTIMATOR", name).measure("--format jsonl --exact copy").succeeds();
        assert_eq!(json.stdout.matches(&format!("\"method\":\"{name}-4\"")).count(), 5, "{json:?}");
    }
    let wrong = "nanobench: --estimator: \"best\" should be least-squares, leave-one-out or replay\n";
    fixture!("table").args("--bench --estimator best").run().only_complains(2, wrong);
}

#[test]
fn json_lines_are_one_object_a_row_and_nothing_else() {
    let output = fixture!("table").measure("--format jsonl copy|plain").succeeds();
    let ids: Vec<&str> = output.stdout.lines().map(|line| line.split('"').nth(9).unwrap()).collect();
    assert_eq!(ids, ["plain", "copy", "copy", "copy", "copy", "copy"], "{output:?}");
    for line in output.stdout.lines() {
        assert!(line.starts_with("{\"version\":1,") && line.ends_with("}}"), "{line}");
    }
}
