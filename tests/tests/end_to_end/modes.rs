//! Throughput, latency, and which of the two is measured; inputs over and over, and cold caches.

use crate::support::{Output, fixture};

/// The name in each row, without what says more about the row.
fn names(output: &Output) -> Vec<String> {
    let name = |row: &String| row.split('`').nth(1).unwrap_or_default().to_owned();
    output.rows().iter().map(name).collect()
}

/// What is said of those that are not compiled for latency.
fn complaint(names: &str) -> String {
    format!("nanobench: no latency of {names}: not compiled for it; write #[nanobench(latency, inputs = ..)]\n")
}

#[test]
fn each_mode_that_the_attribute_names_has_its_rows() {
    let output = fixture!("modes").measure("--quiet --skip in_both").succeeds();
    let expected = ["plain", "both", "both", "only_latency", "only_throughput", "many", "many"];
    assert_eq!(names(&output), expected, "{output:?}");
}

#[test]
fn every_function_has_a_throughput() {
    let expected = ["plain", "both", "only_latency", "only_throughput", "many"];
    let flag = fixture!("modes").measure("--quiet --skip in_both --mode throughput").succeeds();
    assert_eq!(names(&flag), expected, "{flag:?}");
    let variable = fixture!("modes").env("NANOBENCH_MODE", "throughput").measure("--skip in_both --quiet").succeeds();
    assert_eq!(names(&variable), expected, "{variable:?}");
}

#[test]
fn functions_that_are_not_compiled_for_latency_are_named_and_the_others_run() {
    let output = fixture!("modes").measure("--quiet --skip in_both --mode latency").exits_with(0);
    assert_eq!(output.stderr, complaint("`plain`, `only_throughput`"));
    assert_eq!(names(&output), ["both", "only_latency", "many"]);

    let output = fixture!("modes").measure("--quiet --exact plain both --mode both").exits_with(0);
    assert_eq!(output.stderr, complaint("`plain`"));
    assert_eq!(names(&output), ["plain", "both", "both"]);
}

#[test]
fn nothing_that_could_run_is_said_once_and_no_table_begun() {
    fixture!("modes").measure("--exact plain --mode latency").only_complains(0, &complaint("`plain`"));
}

#[test]
fn functions_that_are_not_selected_are_not_named() {
    let output = fixture!("modes").measure("--quiet --exact both --mode latency").succeeds();
    assert_eq!(names(&output), ["both"]);
}

#[test]
fn the_flag_wins_over_the_variable() {
    let output =
        fixture!("modes").env("NANOBENCH_MODE", "both").measure("--quiet --exact both --mode latency").succeeds();
    assert_eq!(names(&output), ["both"]);
    let output = fixture!("modes").env("NANOBENCH_MODE", "both").measure("--exact only_latency").succeeds();
    assert_eq!(names(&output), ["only_latency", "only_latency"]);
}

#[test]
fn a_mode_that_there_is_not_is_an_error_and_nothing_runs() {
    let flag = "nanobench: --mode: \"fast\" should be one of throughput, latency, both\n";
    fixture!("modes").args("--bench --mode fast").run().only_complains(2, flag);
    let variable = "nanobench: NANOBENCH_MODE: \"\" should be one of throughput, latency, both\n";
    fixture!("modes").env("NANOBENCH_MODE", "").args("--bench").run().only_complains(2, variable);
}

#[test]
fn a_panic_in_one_mode_does_not_keep_the_other_from_its_turn() {
    let output = fixture!("modes").measure("--exact in_both").exits_with(101);
    assert_eq!(names(&output), ["in_both", "in_both"]);
    assert_eq!(output.stdout.matches("(panicked: no luck in both)").count(), 2, "{output:?}");
}

#[test]
fn a_hint_about_the_inputs_is_given_once_for_both_modes() {
    let output = fixture!("modes").measure("--exact many").exits_with(0);
    assert_eq!(output.stderr.matches("`many`").count(), 1, "{output:?}");
}

#[test]
fn a_benchmark_has_one_name_whatever_its_modes() {
    for line in ["--list", "--list --mode latency"] {
        let list = fixture!("modes").args(line).run().succeeds().stdout;
        assert_eq!(list.matches("both: benchmark").count(), 2, "{list}");
        assert_eq!(list.lines().count(), 7, "{list}");
    }
}

#[test]
fn a_function_with_a_latency_is_called_once_among_tests() {
    let output = fixture!("modes").args("--exact ignored --include-ignored").run().succeeds();
    assert_eq!(output.stdout.matches("called ignored with 5\n").count(), 1, "{output:?}");
    assert_eq!(output.verdicts().len(), 1);
}

#[test]
fn repeated_inputs_have_rows_of_their_own_where_they_are_asked_for() {
    let output = fixture!("table").measure("--exact copy --compare-repeated").succeeds();
    let expected = ["`copy`", "`copy/3`", "`copy/3` repeated", "`copy/4`", "`copy/4` repeated"];
    assert_eq!(output.rows()[..5], expected, "{output:?}");
}

#[test]
fn cold_calls_are_marked_where_the_flag_the_variable_or_the_attribute_asks_for_them() {
    let flag = fixture!("modes").measure("--exact both --mode both --cold true").succeeds();
    assert_eq!(flag.rows(), ["`both` cold", "`both` latency cold"], "{flag:?}");
    let variable = fixture!("modes").env("NANOBENCH_COLD", "true").measure("--exact plain").succeeds();
    assert_eq!(variable.rows(), ["`plain` cold"], "{variable:?}");
    let attribute = fixture!("cold").measure("").succeeds();
    assert_eq!(attribute.rows(), ["`without_inputs` cold", "`element` cold"], "{attribute:?}");
    let no_longer = fixture!("cold").measure("--cold=false").succeeds();
    assert_eq!(no_longer.rows(), ["`without_inputs`", "`element`"], "{no_longer:?}");
    let repeated = fixture!("table").measure("--exact copy --cold --compare-repeated").succeeds();
    let expected = ["`copy` cold", "`copy/3` cold", "`copy/3` cold repeated", "`copy/4` cold"];
    assert_eq!(repeated.rows()[..4], expected, "{repeated:?}");
}

#[test]
fn cold_calls_are_marked_in_json_and_counted_one_by_one() {
    let output = fixture!("cold").measure("--format jsonl").succeeds();
    for line in output.stdout.lines() {
        assert!(line.contains(r#","cold":true,"#) && line.contains(r#""cycles":null"#), "{line}");
        assert!(line.contains(r#""epoch_iterations":1,"#), "{line}");
    }
    assert_eq!(output.stdout.lines().count(), 2);
}

#[test]
fn a_cold_sweep_has_one_row_with_the_floor_beside_it() {
    let output = fixture!("cold").measure("--sweep --exact element").succeeds();
    assert!(output.stdout.contains("cold calls are timed one by one"), "{output:?}");
}
