//! Functions that are several benchmarks.

use crate::support::fixture;

const NAMES: [&str; 27] = [
    "by_value/3",
    "by_value/4",
    "by_reference/one",
    "by_reference/two words",
    "owning/[3]",
    "owning/[1, 2]",
    "mixed_at/1",
    "mixed_at/10",
    "chained_at/7",
    "counted",
    "of_size/2",
    "of_size/8",
    "of_type/BTreeSet<u8>/[1, 2]",
    "of_type/BTreeSet<u8>/[3]",
    "of_type/HashSet<u8>/[1, 2]",
    "of_type/HashSet<u8>/[3]",
    "of_both/u8/1",
    "of_both/u8/2",
    "of_both/u64/1",
    "of_both/u64/2",
    "with_bencher",
    "with_bencher_and_argument/4",
    "with_bencher_and_argument/5",
    "eventually",
    "elsewhere",
    "ignored",
    "inner::by_value/1",
];

#[test]
fn every_case_has_a_name_of_its_own_in_source_order() {
    let output = fixture!("cases").args("--list").run().succeeds();
    let listed: Vec<&str> = output.stdout.lines().filter_map(|line| line.strip_suffix(": benchmark")).collect();
    assert_eq!(listed, NAMES);
}

#[test]
fn every_listed_name_runs_exactly_one_case() {
    for name in ["by_reference/two words", "of_type/HashSet<u8>/[3]", "of_both/u8/2", "with_bencher_and_argument/5"] {
        let output = fixture!("cases").args("--exact").arg(name).run().succeeds();
        assert_eq!(output.verdicts(), [format!("{name} ... ok")]);
    }
}

#[test]
fn all_cases_can_be_called_once_and_measured() {
    let once = fixture!("cases").run().succeeds();
    assert!(once.stdout.contains("26 passed; 0 failed; 1 ignored"), "{once:?}");
    let measured = fixture!("cases").measure("").succeeds();
    let rows = measured.rows();
    for name in NAMES.iter().filter(|name| **name != "ignored") {
        assert!(rows.contains(&format!("`{name}`")), "{name} in {rows:?}");
    }
    assert!(rows.contains(&"`chained_at/7` latency".to_owned()), "{rows:?}");
    assert!(rows.contains(&"`mixed_at/10/1`".to_owned()), "{rows:?}");
}

#[test]
fn what_calls_work_on_becomes_a_rate_of_its_own() {
    let head = |filter: &str| {
        let output = fixture!("cases").measure(&format!("--quiet {filter}")).succeeds();
        output.stdout.lines().find(|line| line.starts_with('|')).expect("there is a table").to_owned()
    };
    assert!(head("by_reference").contains("GB/s |"));
    assert!(head("mixed_at").contains("item/s |"));
    assert!(head("counted").contains("char/s |"));
    assert!(head("with_bencher$").contains("item/s |"));
    assert!(!head("owning").contains("/s | item") && head("owning --bytes 3").contains("GB/s |"));
}

#[test]
fn amounts_are_those_of_the_group() {
    let output = fixture!("cases").measure("--format jsonl --exact counted").succeeds();
    let amounts: Vec<&str> =
        output.stdout.lines().filter_map(|line| line.split("\"per_call\":").nth(1)?.split('}').next()).collect();
    assert_eq!(amounts, ["{\"chars\":2.5", "{\"chars\":2", "{\"chars\":3"]);
}
