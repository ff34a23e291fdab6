//! Which benchmarks run.

use crate::support::fixture;

fn verdicts(line: &str) -> Vec<String> {
    let output = fixture!("calls").args(line).run().succeeds();
    output.verdicts().into_iter().map(str::to_owned).collect()
}

#[test]
fn one_of_several_regular_expressions_must_match() {
    assert_eq!(verdicts("^first$ sec.nd"), ["first ... ok", "inner::second ... ok"]);
    assert_eq!(verdicts("first"), ["first ... ok", "other::first ... ok"]);
}

#[test]
fn what_skip_matches_is_left_out() {
    assert_eq!(verdicts("first --skip ^other"), ["first ... ok"]);
    assert_eq!(verdicts("--skip=first --skip=second --skip=third"), ["the fourth (of 5) ... ok"]);
}

#[test]
fn exact_filters_are_whole_names_wherever_the_flag_stands() {
    assert_eq!(verdicts("--exact first"), ["first ... ok"]);
    assert_eq!(verdicts("first --exact"), ["first ... ok"]);
    assert_eq!(verdicts("first inner::second --exact --skip inner::second"), ["first ... ok"]);
}

#[test]
fn exact_filters_may_have_characters_that_mean_something_in_a_regular_expression() {
    let output = fixture!("calls").arg("the fourth (of 5)").arg("--exact").run().succeeds();
    assert_eq!(output.verdicts(), ["the fourth (of 5) ... ok"]);
    assert!(output.stdout.contains("; 4 filtered out;"), "{output:?}");
}

#[test]
fn filters_choose_what_is_measured() {
    let output = fixture!("table").measure("copy --skip labelled plain").succeeds();
    assert_eq!(output.rows(), ["`plain`", "`copy`", "`copy/3`", "`copy/4`", "`copy/7`", "`copy/8`"]);
}

#[test]
fn a_bad_regular_expression_is_an_error() {
    for line in ["a(b", "--bench a(b", "--list a(b", "--skip a(b"] {
        let output = fixture!("calls").args(line).run().exits_with(2);
        assert_eq!(output.stdout, "", "{line}");
        assert!(output.stderr.starts_with("nanobench: \"a(b\" is not a regular expression: "), "{output:?}");
        assert_eq!(output.stderr.lines().count(), 1, "{output:?}");
    }
}

#[test]
fn a_filter_without_a_match_is_said_and_gives_no_table() {
    let expected = "nanobench: nothing matches: 5 benchmarks left out; --list names them\n";
    fixture!("calls").args("--bench no_such").run().only_complains(0, expected);
    let output = fixture!("calls").args("no_such").run().exits_with(0);
    assert_eq!(output.stderr, expected);
    assert!(output.stdout.starts_with("\nrunning 0 benchmarks, once each\n"), "{output:?}");
}

#[test]
fn ignored_benchmarks_run_only_when_asked_for() {
    let all =
        |third| ["first ... ok", "inner::second ... ok", third, "other::first ... ok", "the fourth (of 5) ... ok"];
    assert_eq!(verdicts(""), all("third ... ignored"));
    assert_eq!(verdicts("--ignored"), ["third ... ok"]);
    assert_eq!(verdicts("--include-ignored"), all("third ... ok"));
}

#[test]
fn ignored_benchmarks_are_measured_only_when_asked_for() {
    let rows = |line| fixture!("calls").measure(line).succeeds().rows();
    assert_eq!(rows("first|third"), ["`first`", "`other::first`"]);
    assert_eq!(rows("--ignored"), ["`third`"]);
    assert_eq!(rows("--include-ignored first|third"), ["`first`", "`third`", "`other::first`"]);
}

#[test]
fn nothing_but_ignored_benchmarks_is_said() {
    let expected = "nanobench: nothing to run: 1 ignored; --include-ignored runs them too\n";
    fixture!("calls").args("--bench third").run().only_complains(0, expected);
}
