//! Text of the user's, on its way to a terminal and into Markdown.

use crate::support::fixture;

#[test]
fn markdown_in_a_name_is_quoted() {
    let output = fixture!("names").arg("a`b|c").measure("--exact").succeeds();
    assert_eq!(output.rows(), ["`` a`b\\|c ``"]);
}

#[test]
fn escapes_and_bars_in_labels_are_not_printed_as_they_are() {
    let output = fixture!("names").measure("--exact labels").succeeds();
    assert_eq!(output.rows(), ["`labels`", "`` labels/\\u{1b}[31mred\\|`x\\u{d}\\u{a} ``", "`labels/plain`"]);
}

#[test]
fn escapes_and_bars_in_panic_messages_are_not_printed_as_they_are() {
    let output = fixture!("names").measure("--exact message").exits_with(101);
    assert_eq!(output.rows(), [":boom: `message` (panicked: \\u{1b}[31mred\\|`x\\u{d}\\u{a})"]);
}

#[test]
fn characters_that_turn_the_text_around_them_are_spelt_out() {
    let output = fixture!("names").measure("wards").succeeds();
    assert_eq!(output.rows(), ["`back\\u{202e}wards`"]);
}

/// In Markdown, code ends at the next run of exactly as many backticks as it began with.
#[test]
fn a_name_with_a_backtick_at_its_end_is_still_code() {
    let output = fixture!("names").measure("quoted").succeeds();
    let cell = &output.rows()[0];
    let runs: Vec<&str> = cell.split(|c| c != '`').filter(|run| !run.is_empty()).collect();
    let end_of_code = 1 + runs[1..].iter().position(|run| *run == runs[0]).unwrap_or_else(|| panic!("{cell}"));
    assert_eq!(end_of_code, runs.len() - 1, "{cell}");
}
