//! The cost of a call against the calls in a sample: `--sweep`.

use crate::support::{Output, bars, fixture, is_row};

const BOTH_HEADER: &str = "
| calls per sample |       throughput ns/call |          latency ns/call |       empty loop ns/call | benchmark
|-----------------:|-------------------------:|-------------------------:|-------------------------:|:----------
";

/// What the last line of a table can say; which of them depends on the machine.
const CONCLUSIONS: [&str; 3] =
    [" per sample on the figures agree", "the last two rows differ by ", "one row has nothing to agree with"];

/// The first cell of each row.
fn calls(output: &Output) -> Vec<u64> {
    let first_cell = |row: &str| row[1..].split('|').next().unwrap_or_default().trim().replace(',', "");
    let rows = output.stdout.lines().filter(|line| is_row(line));
    rows.map(|row| first_cell(row).parse().expect("the first cell is a number of calls")).collect()
}

/// The columns of costs, from each header.
fn series(output: &Output) -> Vec<Vec<String>> {
    let headers = output.stdout.lines().filter(|line| line.ends_with("| benchmark"));
    let costs = |header: &str| {
        let titles = header.split('|').filter_map(|title| title.trim().strip_suffix(" ns/call").map(str::to_owned));
        titles.collect()
    };
    headers.map(costs).collect()
}

/// The benchmarks about which something is concluded.
fn concluded(output: &Output) -> Vec<&str> {
    let lines = output.stdout.lines().filter(|line| line.starts_with('`'));
    lines.map(|line| line.split('`').nth(1).unwrap_or_default()).collect()
}

#[test]
fn a_table_has_a_row_for_each_number_of_calls_and_a_conclusion() {
    let output = fixture!("modes").args("--bench --sweep --quiet --exact both --max-time 100ms").run().succeeds();
    assert!(output.stdout.starts_with(BOTH_HEADER), "{output:?}");
    let calls = calls(&output);
    assert_eq!(calls, [1, 10, 100, 1_000, 10_000, 100_000][..calls.len()]);
    let table: Vec<&str> = output.stdout.lines().filter(|line| line.starts_with('|')).collect();
    assert!(table.iter().all(|line| bars(line) == bars(table[0])), "{output:?}");
    assert!(output.rows().iter().all(|name| name == "`both`"), "{output:?}");
    let (_, conclusion) = output.stdout.rsplit_once("\n\n").unwrap();
    assert!(conclusion.starts_with("`both`: ") && conclusion.lines().count() == 1, "{output:?}");
    assert!(CONCLUSIONS.iter().any(|text| conclusion.contains(text)), "{output:?}");
}

#[test]
fn the_first_line_is_about_the_machine_unless_quiet() {
    let output = fixture!("modes").measure("--sweep --exact both").succeeds();
    let (machine, table) = output.stdout.split_once('\n').unwrap();
    assert!(machine.contains(" ns, start/stop pair "), "{output:?}");
    assert!(table.starts_with("\n| calls per sample"), "{output:?}");
}

#[test]
fn every_selected_benchmark_has_a_table_of_what_it_was_compiled_for() {
    let output = fixture!("modes").measure("--sweep --quiet --skip in_both").succeeds();
    let (both, one): (&[&str], &[&str]) = (&["throughput", "latency", "empty loop"], &["throughput", "empty loop"]);
    assert_eq!(concluded(&output), ["plain", "both", "only_latency", "only_throughput", "many"]);
    assert_eq!(series(&output), [one, both, both, one, both]);
}

#[test]
fn the_mode_chooses_the_columns() {
    let output = fixture!("modes").measure("--sweep --quiet --mode latency --exact both plain").exits_with(0);
    assert_eq!(series(&output), [["latency", "empty loop"]]);
    assert!(output.stderr.starts_with("nanobench: no latency of `plain`: "), "{output:?}");

    let output = fixture!("modes").measure("--sweep --mode latency --exact plain").exits_with(0);
    assert_eq!(output.stdout, "");
}

#[test]
fn filters_that_match_nothing_print_no_table() {
    let output = fixture!("modes").measure("--sweep no_such").exits_with(0);
    assert_eq!(output.stdout, "");
    assert!(output.stderr.starts_with("nanobench: nothing matches: "), "{output:?}");
}

#[test]
fn a_panic_is_said_and_the_others_have_their_tables() {
    let output = fixture!("modes").measure("--sweep --quiet both").exits_with(101);
    assert_eq!(concluded(&output), ["both"]);
    assert!(output.stdout.ends_with("\n\n:boom: `in_both` (panicked: no luck in both)\n"), "{output:?}");

    let output = fixture!("setting-panics").measure("--sweep --quiet").exits_with(101);
    assert!(output.stdout.contains(":boom: "), "{output:?}");
}

#[test]
fn there_is_no_sweep_in_json_lines() {
    let error = "nanobench: --sweep prints tables only: leave out --format jsonl\n";
    for line in ["--bench --sweep --format jsonl", "--bench --format=jsonl --sweep", "--sweep --format jsonl"] {
        fixture!("modes").args(line).run().only_complains(2, error);
    }
}

#[test]
fn without_bench_each_benchmark_is_called_once() {
    let output = fixture!("modes").args("--sweep --exact both").run().succeeds();
    assert_eq!(output.verdicts(), ["both ... ok"]);
    let list = fixture!("modes").args("--sweep --bench --list").run().succeeds();
    assert_eq!(list, fixture!("modes").args("--bench --list").run());
}

#[test]
fn a_sweep_ends_within_the_time_of_a_benchmark() {
    let output = fixture!("modes").args("--bench --sweep --quiet --exact both --max-time 1ns").run().succeeds();
    assert_eq!(calls(&output), [1]);
    assert!(output.stdout.contains("one row has nothing to agree with"), "{output:?}");
}
