//! A program with benchmarks in its code.

use crate::support::{Output, Program, fixture};

fn bench() -> Program {
    fixture!("bench")
}

fn iterations(output: &Output) -> &str {
    output.stdout.lines().find_map(|line| line.strip_suffix(" iterations")).expect("it says how many")
}

#[test]
fn rows_are_printed_as_they_come_under_the_title() {
    let output = bench().run().succeeds();
    assert!(output.stdout.contains("| in code\n"), "{output:?}");
    for name in ["`first`", "`second \\| \\u{1b}[31m`"] {
        assert!(output.rows().contains(&name.to_owned()), "{output:?}");
    }
    assert!(!output.stdout.contains('\u{1b}'));
}

#[test]
fn the_environment_wins_over_the_code_and_single_variables_over_the_list() {
    assert_eq!(iterations(&bench().run().succeeds()), "100");
    assert_eq!(iterations(&bench().env("NANOBENCH_CONFIG", "epoch_iterations=50").run().succeeds()), "50");
    let both = bench().env("NANOBENCH_CONFIG", "epoch_iterations=50").env("NANOBENCH_EPOCH_ITERATIONS", "70");
    assert_eq!(iterations(&both.run().succeeds()), "70");
}

#[test]
fn what_cannot_be_used_in_the_environment_is_named_once_and_the_rest_holds() {
    let output = bench().env("NANOBENCH_CONFIG", "epoch=5,epoch_iterations=40").run().exits_with(0);
    let expected = "nanobench: NANOBENCH_CONFIG: \"epoch=5\" should be the name of a setting and its value, such as epochs=51; \
                    --help lists the settings\n";
    assert_eq!(output.stderr, expected);
    assert_eq!(iterations(&output), "40");
}

#[test]
fn warnings_about_the_build_are_silenced_by_the_variable_and_not_by_zero() {
    let is_debug = cfg!(debug_assertions);
    let output = bench().env("NANOBENCH_SUPPRESS_WARNINGS", "0").run().exits_with(0);
    assert_eq!(output.stderr.matches("this is a debug build").count(), usize::from(is_debug), "{output:?}");
    assert_eq!(bench().run().succeeds().stderr, "");
}

#[test]
fn a_comparison_has_a_table_and_a_summary() {
    let output = bench().args("compare").run().succeeds();
    for part in ["| relative |", "`same`", "`as this`", "  Summary\n"] {
        assert!(output.stdout.contains(part), "{part} in {output:?}");
    }
}
