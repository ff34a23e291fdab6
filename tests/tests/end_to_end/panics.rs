//! Benchmarks that end in another way than by returning.

use crate::support::fixture;

#[test]
fn a_panicking_benchmark_is_reported_in_its_row_and_the_others_still_run() {
    let output = fixture!("panics").measure("").exits_with(101);
    let expected = [
        "`before`",
        ":boom: `in_function` (panicked: no luck in function)",
        ":boom: `in_inputs` (panicked: no luck in inputs)",
        ":boom: `in_label` (panicked: no luck in label)",
        ":boom: `in_clone` (panicked: no luck in clone)",
        ":boom: `in_drop` (panicked: no luck in drop)",
        ":boom: `without_inputs` (panicked: `inputs` is empty: a benchmark needs at least one input)",
        ":boom: `with_a_number` (panicked: with a value that is not text)",
        ":boom: `with_a_value_that_panics_again` (panicked: with a value that is not text)",
        "`after`",
    ];
    assert_eq!(output.rows(), expected);
}

#[test]
fn a_panic_says_on_standard_error_where_it_happened() {
    let output = fixture!("panics").measure("--exact in_function").exits_with(101);
    let file = std::path::Path::new("fixtures").join("panics.rs");
    assert!(output.stderr.contains(file.to_str().unwrap()), "{output:?}");
}

#[test]
fn results_that_all_panic_when_dropped_cost_one_benchmark_and_not_the_program() {
    let output = fixture!("drops").measure("").exits_with(101);
    assert_eq!(output.rows(), [":boom: `in_every_drop` (panicked: no luck in drop)", "`after`"]);
}

#[test]
fn a_panic_in_the_expression_of_a_setting_costs_one_benchmark_and_not_the_program() {
    let output = fixture!("setting-panics").measure("").exits_with(101);
    assert_eq!(output.rows(), [":boom: `in_setting` (panicked: no luck in setting)", "`after`"]);
}

#[test]
fn rows_before_a_benchmark_that_exits_are_printed_and_its_code_is_kept() {
    let output = fixture!("exit").measure("").exits_with(7);
    assert_eq!(output.rows(), ["`before`"]);
    assert!(!output.stdout.contains("called after"), "{output:?}");
}
