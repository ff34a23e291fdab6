//! The empty loop: left in the figures, shown in a row, or taken off.

use crate::support::{Output, fixture};

/// What says of a row whether it is about the loop or without it.
fn marks(output: &Output) -> Vec<String> {
    let mark = |row: String| {
        let mark = ["empty loop", "loop subtracted"].into_iter().find(|mark| row.contains(mark)).unwrap_or("raw");
        let (name, latency) = (row.split('`').nth(1).unwrap_or_default(), row.contains("` latency"));
        format!("{name}{} {mark}", if latency { " latency" } else { "" })
    };
    output.rows().into_iter().map(mark).collect()
}

#[test]
fn the_loop_is_a_part_of_the_figures_unless_somebody_says_otherwise() {
    let default = fixture!("table").measure("--quiet --exact copy plain").succeeds();
    let raw = fixture!("table").env("NANOBENCH_OVERHEAD", "show").measure("--quiet --overhead raw --exact copy plain");
    let expected = ["plain raw", "copy raw", "copy/3 raw", "copy/4 raw", "copy/7 raw", "copy/8 raw"];
    for output in [default, raw.succeeds()] {
        assert_eq!(marks(&output), expected, "{output:?}");
    }
}

#[test]
fn a_flag_a_variable_or_a_list_of_settings_shows_the_loop_and_takes_it_off() {
    for (value, mark) in [("show", "raw"), ("subtract", "loop subtracted")] {
        let names = ["plain", "copy", "copy/3", "copy/4", "copy/7", "copy/8"].map(|name| format!("{name} {mark}"));
        let mut expected = names.to_vec();
        expected.insert(1, "plain empty loop".into());
        expected.push("copy empty loop".into());
        let table = || fixture!("table");
        let list = format!("overhead={value}");
        for output in [
            table().args("--overhead").args(value).measure("--quiet --exact copy plain"),
            table().env("NANOBENCH_OVERHEAD", value).measure("--quiet --exact copy plain"),
            table().env("NANOBENCH_CONFIG", list).measure("--quiet --exact copy plain"),
        ] {
            assert_eq!(marks(&output.succeeds()), expected);
        }
    }
}

#[test]
fn attributes_and_groups_say_it_of_throughput_whatever_else_they_say() {
    let output = fixture!("overhead").measure("--quiet").succeeds();
    let expected = [
        "shown::plain raw",
        "shown::plain empty loop",
        "shown::chained latency raw",
        "shown::raw raw",
        "shown::prepared/3 raw",
        "shown::prepared/3 empty loop",
        "subtracted::both loop subtracted",
        "subtracted::both/3 loop subtracted",
        "subtracted::both/4 loop subtracted",
        "subtracted::both empty loop",
        "subtracted::both latency raw",
        "subtracted::both/3 latency raw",
        "subtracted::both/4 latency raw",
        "subtracted::owning/threads=2 loop subtracted",
        "subtracted::owning/threads=2/1 loop subtracted",
        "subtracted::owning/threads=2/2 loop subtracted",
        "subtracted::owning/threads=2 empty loop",
        "subtracted::lent loop subtracted",
        "subtracted::lent/\"one\" loop subtracted",
        "subtracted::lent/\"three\" loop subtracted",
        "subtracted::lent empty loop",
    ];
    assert_eq!(marks(&output), expected, "{output:?}");
}

#[test]
fn json_says_what_was_taken_off_and_which_row_is_the_loop() {
    let output = fixture!("table").measure("--format jsonl --overhead subtract --exact copy").succeeds();
    let lines: Vec<&str> = output.stdout.lines().collect();
    assert_eq!(lines.len(), 6, "{output:?}");
    for (index, line) in lines.iter().enumerate() {
        let expected = match index {
            5 => [r#""method":"least-squares-4","#, r#""empty_loop":true,"loop_subtracted":false,"#],
            _ => [r#""method":"least-squares-4-loop-subtracted","#, r#""empty_loop":false,"loop_subtracted":true,"#],
        };
        assert!(expected.iter().all(|part| line.contains(part)), "{line}");
        assert!(line.contains(r#""overhead":"subtract""#) && !line.contains(":-"), "{line}");
    }
}

#[test]
fn latency_is_left_alone_and_a_comparison_is_not_of_the_loop() {
    let latency = fixture!("modes").measure("--quiet --overhead subtract --mode latency --exact both").succeeds();
    assert_eq!(marks(&latency), ["both latency raw"]);
    let compared = fixture!("groups").measure("--quiet --overhead show --exact compared::other/3").succeeds();
    let relative: Vec<&str> = compared
        .stdout
        .lines()
        .filter(|line| line.contains('`'))
        .map(|line| line.split('|').nth(1).unwrap_or_default().trim())
        .collect();
    assert!(matches!(relative[..], [function, "-"] if function.contains('%')), "{compared:?}");
}

#[test]
fn a_sweep_shows_the_loop_in_any_case() {
    let output = fixture!("table").measure("--quiet --sweep --overhead subtract --exact copy").succeeds();
    assert!(output.stdout.contains(" empty loop ns/call |"), "{output:?}");
}

#[test]
fn another_value_is_an_error_and_nothing_runs() {
    let wrong = "nanobench: --overhead: \"none\" should be raw, show or subtract\n";
    fixture!("table").args("--bench --overhead none").run().only_complains(2, wrong);
}
