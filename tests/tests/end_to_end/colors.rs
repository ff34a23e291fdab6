//! When the output has colours.

use crate::support::{fixture, masked};

const ESCAPE: char = '\u{1b}';

#[test]
fn nothing_that_goes_into_a_pipe_has_colours() {
    for flags in ["", "--color auto", "--color never"] {
        let output = fixture!("settings").measure(flags).succeeds();
        assert!(!output.stdout.contains(ESCAPE), "{flags}: {output:?}");
    }
}

#[test]
fn colours_come_wherever_they_are_asked_for() {
    for flag in ["--color always", "--color=always", "--colour always"] {
        let output = fixture!("settings").measure(flag).succeeds();
        assert!(output.stdout.contains("\u{1b}[0m\u{1b}[34m"), "the machine's line is blue: {output:?}");
        assert!(output.stdout.contains("m`plain`"), "{output:?}");
    }
}

#[test]
fn a_failure_is_red() {
    let output = fixture!("panics").measure("--color always --exact in_function").exits_with(101);
    assert!(output.stdout.contains(":boom: \u{1b}[0m\u{1b}[31m`in_function`"), "{output:?}");
}

#[test]
fn the_variable_turns_colours_off_but_not_against_the_flag() {
    let without_color = || fixture!("settings").env("NO_COLOR", "1");
    assert!(!without_color().measure("").succeeds().stdout.contains(ESCAPE));
    assert!(without_color().measure("--color always").succeeds().stdout.contains(ESCAPE));
}

/// Takes out `ESC [ .. m`.
fn without_colors(text: &str) -> String {
    let mut parts = text.split(ESCAPE);
    let first = parts.next().unwrap_or_default();
    parts.fold(first.to_owned(), |plain, part| plain + part.split_once('m').unwrap().1)
}

#[test]
fn colours_are_the_only_difference() {
    let plain = fixture!("settings").measure("--quiet").succeeds();
    let colored = fixture!("settings").measure("--quiet --color always").succeeds();
    assert_eq!(masked(&without_colors(&colored.stdout)), masked(&plain.stdout));
}

#[test]
fn lists_and_verdicts_have_no_colours() {
    for line in ["--list --color always", "--color always"] {
        let output = fixture!("calls").args(line).run().succeeds();
        assert!(!output.stdout.contains(ESCAPE), "{output:?}");
    }
}
