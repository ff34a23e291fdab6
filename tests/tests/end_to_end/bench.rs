//! A program with benchmarks in its code.

use crate::support::{Output, Program, fixture};

/// The fixture without the warnings about this machine, which are not what is tested.
fn bench() -> Program {
    fixture!("bench").env("NANOBENCH_SUPPRESS_WARNINGS", "1")
}

fn epochs(output: &Output) -> &str {
    output.stdout.lines().find_map(|line| line.strip_suffix(" epochs")).expect("it says how many")
}

#[test]
fn rows_are_printed_as_they_come_under_the_title() {
    let output = bench().run().succeeds();
    assert!(output.stdout.contains("| in code\n"), "{output:?}");
    assert_eq!(output.rows(), ["first", "second \\| \\u{1b}[31m"], "{output:?}");
    assert!(!output.stdout.contains('\u{1b}'));
}

#[test]
fn the_environment_wins_over_the_code_and_single_variables_over_the_list() {
    assert_eq!(epochs(&bench().env("NANOBENCH_CONFIG", "precision=99%").run().succeeds()), "3");
    assert_eq!(epochs(&bench().env("NANOBENCH_CONFIG", "precision=99%,epochs=5").run().succeeds()), "5");
    let both = bench().env("NANOBENCH_CONFIG", "precision=99%,epochs=5").env("NANOBENCH_EPOCHS", "7");
    assert_eq!(epochs(&both.run().succeeds()), "7");
}

#[test]
fn what_cannot_be_used_in_the_environment_is_named_once_and_the_rest_holds() {
    let output = bench().env("NANOBENCH_CONFIG", "epoch=5,epochs=4,precision=99%").run().exits_with(0);
    let expected = "nanobench: NANOBENCH_CONFIG: \"epoch=5\" should be the name of a setting and its value, such as epochs=51; \
                    --help lists the settings\n";
    assert_eq!(output.stderr, expected);
    assert_eq!(epochs(&output), "4");
}

#[test]
fn warnings_about_the_build_are_silenced_by_the_variable_and_not_by_zero() {
    let is_debug = cfg!(debug_assertions);
    let output = fixture!("bench").env("NANOBENCH_SUPPRESS_WARNINGS", "0").run().exits_with(0);
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
