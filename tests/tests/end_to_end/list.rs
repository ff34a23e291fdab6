//! Lists, and what nextest does with them.
//!
//! nextest asks for `--list --format terse`, which may or may not have the ignored benchmarks in it, and for the same with
//! `--ignored`, which must have nothing else. Then it runs each name with `--exact`.

use crate::support::{Output, fixture};

const LIST: &str = "\
first: benchmark
inner::second: benchmark
third: benchmark
other::first: benchmark
the fourth (of 5): benchmark
";

fn names(list: &Output) -> Vec<&str> {
    list.stdout.lines().map(|line| line.strip_suffix(": benchmark").unwrap()).collect()
}

#[test]
fn the_list_has_every_name_and_nothing_else_and_no_user_code_runs() {
    for flags in
        ["--list", "--list --format terse", "--list --format=pretty", "--bench --list", "--color always --list"]
    {
        assert_eq!(fixture!("calls").args(flags).run().succeeds().stdout, LIST, "{flags}");
    }
}

#[test]
fn the_list_of_ignored_benchmarks_has_only_those() {
    let output = fixture!("calls").args("--list --format terse --ignored").run().succeeds();
    assert_eq!(output.stdout, "third: benchmark\n");
    let output = fixture!("table").args("--list --format terse --ignored").run().succeeds();
    assert_eq!(output.stdout, "");
}

#[test]
fn a_list_that_includes_ignored_benchmarks_has_the_same_names() {
    let included = fixture!("calls").args("--list --include-ignored").run().succeeds();
    let sorted = |list: &str| {
        let mut lines: Vec<String> = list.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&included.stdout), sorted(LIST));
}

#[test]
fn filters_apply_to_lists() {
    let output = fixture!("calls").args("--list first --skip other").run().succeeds();
    assert_eq!(output.stdout, "first: benchmark\n");
    let output = fixture!("calls").args("--list no_such").run().succeeds();
    assert_eq!(output.stdout, "");
}

#[test]
fn settings_and_variables_do_not_matter_for_a_list() {
    let output = fixture!("bad-setting").env("NANOBENCH_EPOCHS", "none").args("--list").run().succeeds();
    assert_eq!(output.stdout, "good: benchmark\nbad: benchmark\n");
}

#[test]
fn nextest_can_run_every_listed_name_by_itself() {
    let list = fixture!("calls").args("--list --format terse").run().succeeds();
    for name in names(&list) {
        let output = fixture!("calls").arg(name).args("--exact --nocapture --include-ignored").run().succeeds();
        assert_eq!(output.verdicts(), [format!("{name} ... ok")]);
        assert_eq!(output.stdout.matches(&format!("called {name}")).count(), 1, "{output:?}");
        assert_eq!(output.stdout.matches("called ").count(), 1, "{output:?}");
    }
}

#[test]
fn nextest_can_run_a_listed_name_whatever_characters_are_in_it() {
    let list = fixture!("names").args("--list --format terse").run().succeeds();
    for name in names(&list).into_iter().filter(|name| *name != "message") {
        let output = fixture!("names").arg(name).args("--exact --nocapture").run().succeeds();
        assert_eq!(output.verdicts(), [format!("{name} ... ok")]);
    }
}

#[test]
fn nextest_can_run_an_ignored_name() {
    let output = fixture!("calls").args("third --exact --nocapture --ignored").run().succeeds();
    assert_eq!(output.verdicts(), ["third ... ok"]);
}

#[test]
fn nextest_can_measure_a_listed_name() {
    let output = fixture!("calls").args("first --nocapture --exact --bench --max-time 1ms").run().succeeds();
    assert_eq!(output.rows(), ["`first`"]);
    assert!(!output.stdout.contains("other::first"), "{output:?}");
}
