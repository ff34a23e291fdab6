//! Modules as groups, and what benchmarks are compared with.

use crate::support::{Output, fixture};

/// The heads of the tables, each with the rows below it.
fn tables(output: &Output) -> Vec<(&str, usize)> {
    let mut tables: Vec<(&str, usize)> = Vec::new();
    for line in output.stdout.lines().filter(|line| line.starts_with('|') && !line.starts_with("|-")) {
        match tables.last_mut() {
            Some((_, rows)) if !line.ends_with("| benchmark") => *rows += 1,
            _ => tables.push((line, 0)),
        }
    }
    tables
}

#[test]
fn a_group_gives_settings_and_the_inner_one_and_the_benchmark_override_them() {
    let output = fixture!("groups").measure("--quiet --include-ignored outer").succeeds();
    let units: Vec<&str> = tables(&output).iter().map(|(head, _)| head.split_whitespace().nth(1).unwrap()).collect();
    assert_eq!(units, ["ns/number", "ns/own", "ns/inner"], "{output:?}");
}

#[test]
fn a_group_that_is_ignored_is_left_out_unless_asked_for() {
    assert!(!fixture!("groups").measure("outer").succeeds().stdout.contains("of_the_inner_group"));
    let only = fixture!("groups").measure("--ignored").succeeds();
    assert_eq!(only.rows(), ["`outer::inner::of_the_inner_group`"]);
}

#[test]
fn the_command_line_wins_over_a_group() {
    let output = fixture!("groups").measure("--quiet --unit flag outer").succeeds();
    assert_eq!(tables(&output).len(), 1, "{output:?}");
}

#[test]
fn the_others_of_the_module_are_compared_with_the_baseline_case_by_case() {
    let output = fixture!("groups").measure("--quiet compared::[fow]").succeeds();
    let relative = |name: &str| {
        let line = output.stdout.lines().find(|line| line.contains(&format!("`{name}`"))).expect("there is such a row");
        line.split('|').nth(1).unwrap().trim().to_owned()
    };
    assert_eq!(relative("compared::first/3"), "100.0%");
    assert!(relative("compared::other/3").contains("% (") || relative("compared::other/3").ends_with('%'));
    assert!(relative("compared::other/30").contains('%'));
    let alone = output.stdout.lines().find(|line| line.contains("without_such_a_case")).unwrap();
    assert!(!alone.split('|').nth(1).unwrap().contains('%'), "{output:?}");
}

#[test]
fn what_is_compared_is_the_cost_of_a_unit() {
    let output = fixture!("groups").measure("--quiet per_unit::in_parts").succeeds();
    let row = output.stdout.lines().find(|line| line.contains("in_parts")).expect("there is such a row");
    let relative: String = row.split('|').nth(1).unwrap().chars().take_while(|c| *c != '%').collect();
    // The same work is a million units in one and a single unit in the other, whatever the machine makes of it.
    let relative: f64 = relative.trim().replace(',', "").parse().unwrap();
    assert!(relative > 1e6, "{output:?}");
}

#[test]
fn the_baseline_need_not_be_selected_itself() {
    let output = fixture!("groups").measure("--format jsonl --exact compared::other/3").succeeds();
    assert_eq!(output.stdout.lines().count(), 1);
    assert!(!output.stdout.contains("\"relative\":null"), "{output:?}");
}
