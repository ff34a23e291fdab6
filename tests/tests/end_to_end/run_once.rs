//! What `cargo test --benches` does: every benchmark runs once, as a test that it works.

use crate::support::fixture;

/// The output of a run, with its duration masked.
fn without_duration(stdout: &str) -> String {
    let (before, after) = stdout.split_once("; finished in ").expect("there is a summary");
    let (seconds, after) = after.split_once('s').expect("the duration has a unit");
    assert!(seconds.parse::<f64>().is_ok(), "{seconds}");
    format!("{before}; finished in #s{after}")
}

#[test]
fn each_function_is_called_once_with_its_first_input_and_reported_as_a_test() {
    let output = fixture!("calls").run().succeeds();
    let expected = "
running 5 benchmarks, once each
called first
test first ... ok
made the inputs of inner::second
called inner::second with 5
test inner::second ... ok
test third ... ignored
called other::first
test other::first ... ok
called the fourth (of 5)
test the fourth (of 5) ... ok

test result: ok. 4 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in #s

";
    assert_eq!(without_duration(&output.stdout), expected);
}

#[test]
fn test_wins_over_bench() {
    let output = fixture!("calls").args("--bench --test --exact first").run().succeeds();
    assert_eq!(output.stdout.matches("called").count(), 1, "{output:?}");
    assert!(output.stdout.contains("running 1 benchmark, once each\n"), "{output:?}");
}

#[test]
fn bad_settings_do_not_matter_where_nothing_is_measured() {
    let output = fixture!("bad-setting").env("NANOBENCH_EPOCHS", "none").run().succeeds();
    assert_eq!(output.verdicts(), ["good ... ok", "bad ... ok"]);
}

#[test]
fn a_panic_fails_its_benchmark_and_the_others_still_run() {
    let output = fixture!("panics").run().exits_with(101);
    let expected = [
        "before ... ok",
        "in_function ... FAILED",
        "in_inputs ... FAILED",
        "in_label ... FAILED",
        "in_clone ... FAILED",
        "in_drop ... FAILED",
        "without_inputs ... FAILED",
        "with_a_number ... FAILED",
        "with_a_value_that_panics_again ... FAILED",
        "after ... ok",
    ];
    assert_eq!(output.verdicts(), expected);
    let summary =
        "\n\ntest result: FAILED. 2 passed; 8 failed; 0 ignored; 0 measured; 0 filtered out; finished in #s\n\n";
    assert!(without_duration(&output.stdout).ends_with(summary), "{output:?}");
    assert!(output.stderr.contains("no luck in function"), "{output:?}");
}

#[test]
fn a_benchmark_that_exits_ends_the_program_with_its_code() {
    let output = fixture!("exit").run().exits_with(7);
    assert_eq!(output.verdicts(), ["before ... ok"]);
}
