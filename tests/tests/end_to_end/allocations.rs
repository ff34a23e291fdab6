//! A program that counts allocations.

use std::collections::HashMap;

use tinyjson::JsonValue;

use crate::support::{bars, fixture, is_row, last_cell};

const COLUMNS: &str = "|   allocs/op |      bytes/op |    peak bytes |     total | benchmark\n";

/// The counts of the only benchmark that `name` selects, by the group of inputs, which is empty for the whole.
fn counts(name: &str) -> HashMap<String, JsonValue> {
    let output =
        fixture!("allocations").measure(&format!("--epoch-iterations 64 --format jsonl --exact {name}")).succeeds();
    let row = |line: &str| {
        let row: JsonValue = line.parse().expect("every line is JSON");
        let group = row["group"].get::<String>().cloned().unwrap_or_default();
        let repeated = if *row["repeated"].get::<bool>().unwrap() { " repeated" } else { "" };
        (format!("{group}{repeated}"), row["allocations"].clone())
    };
    output.stdout.lines().map(row).collect()
}

const MEMBERS: [&str; 7] =
    ["allocations", "deallocations", "growths", "bytes_allocated", "bytes_freed", "bytes_grown", "peak_bytes"];

fn numbers(counts: &JsonValue) -> [f64; 7] {
    MEMBERS.map(|name| *counts[name].get::<f64>().expect("it is a number"))
}

#[track_caller]
fn assert_counts(name: &str, expected: [f64; 7]) {
    assert_eq!(numbers(&counts(name)[""]), expected, "{name}: {MEMBERS:?}");
}

#[test]
fn a_function_that_does_not_allocate_counts_nothing() {
    assert_counts("pure", [0.0; 7]);
}

#[test]
fn what_is_allocated_and_dropped_counts_as_both() {
    assert_counts("allocates_and_drops", [1.0, 1.0, 0.0, 100.0, 100.0, 0.0, 100.0]);
}

#[test]
fn growing_and_shrinking_count_by_the_difference() {
    assert_counts("grows", [1.0, 1.0, 1.0, 10.0, 40.0, 30.0, 40.0]);
}

#[test]
fn the_drop_of_a_result_does_not_count() {
    assert_counts("returns", [1.0, 0.0, 0.0, 100.0, 0.0, 0.0, 100.0]);
}

#[test]
fn an_input_counts_where_the_function_frees_it_and_never_where_it_is_made() {
    assert_counts("consumes", [0.0, 1.0, 0.0, 0.0, 50.0, 0.0, 0.0]);
    assert_counts("borrows", [0.0; 7]);
}

#[test]
fn each_group_has_its_counts_and_the_whole_is_their_mean_per_unit() {
    let counts = counts("groups");
    let of = |group: &str| numbers(&counts[group]);
    assert_eq!(of("0"), [0.0; 7]);
    assert_eq!(of("8"), [0.5, 0.0, 0.0, 4.0, 0.0, 0.0, 8.0]);
    assert_eq!(of("64"), [0.5, 0.0, 0.0, 32.0, 0.0, 0.0, 64.0]);
    assert_eq!(of(""), [0.375, 0.0, 0.0, 10.0, 0.0, 0.0, 64.0]);
}

#[test]
fn calls_in_a_chain_count_as_others_do() {
    assert_counts("boxes", [1.0, 1.0, 0.0, 8.0, 8.0, 0.0, 8.0]);
}

#[test]
fn rows_of_an_input_over_and_over_count_that_input_only() {
    let counts = counts("repeats");
    for (row, bytes) in [("", 24.0), ("16", 16.0), ("16 repeated", 16.0), ("32", 32.0), ("32 repeated", 32.0)] {
        assert_eq!(numbers(&counts[row])[3], bytes, "{row} in {counts:?}");
    }
}

#[test]
fn what_another_thread_allocates_does_not_count() {
    let [allocations, _, _, bytes, ..] = numbers(&counts("elsewhere")[""]);
    assert!(allocations > 0.0, "starting a thread allocates");
    assert!(bytes < 1024.0 * 1024.0, "{bytes} bytes");
}

#[test]
fn a_panic_leaves_counting_off_and_the_next_benchmark_counts_as_always() {
    let output = fixture!("allocations").measure("--format jsonl --exact panics after").exits_with(101);
    let rows: Vec<JsonValue> = output.stdout.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(rows.len(), 2, "{output:?}");
    assert!(rows[0]["allocations"].is_null(), "{output:?}");
    assert_eq!(numbers(&rows[1]["allocations"]), [0.0; 7]);
}

#[test]
fn the_table_has_the_columns_in_every_row_where_allocations_are_counted() {
    let output = fixture!("allocations").measure("--quiet pure grows returns panics repeats").exits_with(101);
    assert_eq!(output.stdout.matches(COLUMNS).count(), 1, "{output:?}");
    let rows: Vec<&str> = output.stdout.lines().filter(|line| is_row(line)).collect();
    let cells = |name: &str| {
        let row = rows.iter().find(|row| last_cell(row).contains(name)).expect("there is such a row");
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        [cells[6], cells[7], cells[8]]
    };
    assert_eq!(cells("`pure`"), ["0", "0", "0"]);
    assert_eq!(cells("`grows`"), ["2", "40", "40"]);
    assert_eq!(cells("`returns`"), ["1", "100", "100"]);
    assert_eq!(cells("`panics`"), ["-", "-", "-"]);
    assert_eq!(cells("`repeats/32` repeated"), ["1", "32", "32"]);
    for row in &rows {
        assert_eq!(bars(row), bars(rows[0]), "{output:?}");
    }
}

#[test]
fn a_table_that_begins_with_a_panic_has_the_columns_as_well() {
    let output = fixture!("allocations").measure("--quiet --exact panics").exits_with(101);
    assert_eq!(output.stdout.matches(COLUMNS).count(), 1, "{output:?}");
}

#[test]
fn without_the_allocator_there_are_neither_columns_nor_counts() {
    let output = fixture!("table").measure("--quiet --exact plain").succeeds();
    assert!(!output.stdout.contains("allocs"), "{output:?}");
    let output = fixture!("table").measure("--format jsonl --exact plain").succeeds();
    assert!(output.stdout.contains(r#","allocations":null,"#), "{output:?}");
}

#[test]
fn benchmarks_in_code_count_over_an_epoch() {
    let output = fixture!("allocations")
        .env("NANOBENCH_SUPPRESS_WARNINGS", "1")
        .env("NANOBENCH_PRECISION", "99%")
        .args("in-code")
        .run();
    let output = output.succeeds();
    assert_eq!(output.stdout.matches(COLUMNS).count(), 1, "{output:?}");
    let counts = |name: &str| {
        let prefix = format!("{name}: Allocations ");
        output.stdout.lines().find_map(|line| line.strip_prefix(&prefix)).expect("the program prints it")
    };
    // From no place to four, and then by doubling to 64: one allocation and four growths in 64 calls, of eight bytes each.
    let push = counts("push");
    for part in
        ["allocations: 0.015625", "growths: 0.0625", "bytes_allocated: 0.5", "bytes_grown: 7.5", "peak_bytes: 256"]
    {
        assert!(push.contains(part), "{part} in {push}");
    }
    assert!(counts("borrows").contains("deallocations: 0.0"), "{output:?}");
    assert!(counts("consumes").contains(" deallocations: 1.0") && counts("consumes").contains("bytes_freed: 50.0"));
}
