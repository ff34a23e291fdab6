//! Runs every program in `examples/`, with so little time for each benchmark that its figures say nothing.

use std::path::PathBuf;
use std::process::{Command, Output};

/// Builds the program, if it has not been built with the tests, and runs it.
fn run(name: &str, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--package", "nanobench-examples", "--example", name, "--"])
        .args(arguments)
        .env("NANOBENCH_CONFIG", "max_time=2ms,precision=50%,epochs=3")
        .env("NANOBENCH_SUPPRESS_WARNINGS", "1")
        .output()
        .expect("cargo can be run")
}

#[track_caller]
fn printed(output: Output) -> String {
    let text = String::from_utf8(output.stdout).expect("the output is text");
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
fn comparing_prints_two_tables_and_a_verdict() {
    let text = printed(run("comparing", &[]));
    for part in ["| one after the other\n", "  Summary\n", "`backwards again`", "\nThe first way "] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn complexity_has_a_table_of_classes_for_each_function() {
    let text = printed(run("complexity", &[]));
    assert_eq!(text.matches("|   coefficient |   err% | complexity\n").count(), 3, "{text}");
    assert!(text.matches("O(n log n)").count() >= 3, "{text}");
}

#[test]
fn rendering_writes_a_file_in_each_format() {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("rendering");
    let text = printed(run("rendering", &[directory.to_str().expect("the path is text")]));
    for (name, part) in [
        ("words.csv", "\"counting words\";\"sorted \"\"by hand\"\"\";\"op\";1;"),
        ("words.json", "\"name\": \"sorted \\\"by hand\\\"\""),
        ("words.html", "<svg class=\"boxplot\""),
        ("words.pyperf.json", "\"benchmarks\""),
        ("words.txt", " ns, in 12 words\n"),
    ] {
        assert!(text.contains(name), "{text}");
        let written = std::fs::read_to_string(directory.join(name)).expect("the file is there");
        assert!(written.contains(part), "{part} in {written}");
    }
}

#[test]
fn ci_output_is_a_document_on_standard_output_and_a_table_on_standard_error() {
    let output = run("ci_output", &[]);
    let (document, table) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(document.starts_with("[\n  {\"name\": \"127.0.0.1\", \"unit\": \"ns/iter\", \"value\": "), "{document}");
    assert!(document.ends_with("}\n]\n") && !document.contains('|'), "{document}");
    assert!(table.contains("| parsing addresses\n"), "{table}");
}

#[test]
fn setup_has_a_row_for_each_way() {
    let text = printed(run("setup", &[]));
    for name in ["the same again, so sorted", "shuffled, lent", "a new one for each epoch"] {
        assert!(text.contains(&format!("`{name}`")), "{text}");
    }
}

#[test]
fn random_generators_are_compared() {
    let text = printed(run("random_generators", &[]));
    assert!(text.contains("`SipHash of a counter`") && text.contains("  Summary\n"), "{text}");
}

#[test]
fn per_input_has_a_line_for_each_distinct_input_of_each_function() {
    let text = printed(run("per_input", &[]));
    let lines = |part: &str| text.lines().filter(|line| line.contains(part)).count();
    assert_eq!((lines(" ticks; MAD="), lines("median abs. deviation=")), (4 + 8 + 8, 4), "{text}");
}
