//! Calls that several threads make at once.

use std::num::NonZeroUsize;

use crate::support::fixture;

#[test]
fn each_number_of_threads_is_a_benchmark_of_its_own() {
    let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let output = fixture!("threads").args("--list").run().succeeds();
    let mut expected = vec!["count/threads=1".to_owned(), "count/threads=2".to_owned()];
    if processors > 2 {
        expected.push(format!("count/threads={processors}"));
    }
    let others = ["meet/1/threads=2", "meet/2/threads=2", "with_inputs/threads=2", "with_bencher/threads=2"];
    expected.extend(others.into_iter().chain(["panics/threads=3", "alone"]).map(str::to_owned));
    let listed: Vec<&str> = output.stdout.lines().filter_map(|line| line.strip_suffix(": benchmark")).collect();
    assert_eq!(listed, expected);
}

#[test]
fn threads_run_at_once_and_each_benchmark_has_a_figure() {
    let output = fixture!("threads").measure("--quiet count meet with alone").succeeds();
    for name in ["count/threads=1", "meet/2/threads=2", "with_inputs/threads=2/3", "with_bencher/threads=2", "alone"] {
        assert!(output.rows().contains(&format!("`{name}`")), "{name} in {output:?}");
    }
}

#[test]
fn a_panic_in_one_thread_ends_the_benchmark_and_not_the_others() {
    let output = fixture!("threads").measure("panics alone").exits_with(101);
    assert!(output.stdout.contains("`panics/threads=3` (panicked: no luck in another thread)"), "{output:?}");
    assert!(output.rows().contains(&"`alone`".to_owned()), "{output:?}");
}

#[test]
fn the_command_line_and_the_variable_replace_the_numbers_for_all() {
    let flag = fixture!("threads").args("--threads 1 alone count --list").run().succeeds();
    assert!(flag.stdout.contains("alone/threads=1: benchmark") && !flag.stdout.contains("count/threads=2"), "{flag:?}");
    let variable = fixture!("threads").env("NANOBENCH_THREADS", "2").args("--list").run().succeeds();
    assert!(variable.stdout.contains("alone/threads=2"), "{variable:?}");
    let measured = fixture!("threads").measure("--threads 2 alone").succeeds();
    assert!(measured.rows().contains(&"`alone/threads=2`".to_owned()), "{measured:?}");
    let wrong = fixture!("threads").args("--threads two").run();
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert!(wrong.stderr.contains("numbers of threads such as 1,2,4"), "{wrong:?}");
}
