//! When output comes, and what happens if nobody takes it.

use crate::support::fixture;

#[test]
fn a_row_is_printed_before_the_next_benchmark_runs() {
    let mut program = fixture!("waits").args("--bench --max-time 1ms").start();
    // The second benchmark does not return before its input has ended, so this would wait for ever if rows came late.
    program.stdout.until("`first`");
    assert!(program.is_running());
    program.close_stdin();
    program.stdout.until("`second`");
    assert_eq!(program.wait(), (Some(0), vec![]));
}

#[test]
fn a_verdict_is_printed_before_the_next_benchmark_runs() {
    let mut program = fixture!("waits").start();
    program.stdout.until("test first ... ok");
    assert!(program.is_running());
    program.close_stdin();
    program.stdout.until("test second ... ok");
    program.stdout.rest();
    assert_eq!(program.wait(), (Some(0), vec![]));
}

#[test]
fn endless_runs_one_benchmark_until_it_is_killed() {
    let mut program = fixture!("calls").env("NANOBENCH_ENDLESS", "other::first").args("--bench --max-time 1ns").start();
    assert_eq!(program.stderr.next().unwrap(), "NANOBENCH_ENDLESS set: running 'other::first' endlessly");
    // A measurement of a nanosecond would have ended long before.
    for _ in 0..10_000 {
        assert_eq!(program.stdout.next().unwrap(), "called other::first");
    }
    assert!(program.is_running());
}

#[test]
fn endless_with_an_unknown_name_is_said_and_the_run_goes_on() {
    let output = fixture!("settings").env("NANOBENCH_ENDLESS", "no_such").measure("").exits_with(0);
    let expected = "nanobench: NANOBENCH_ENDLESS: no selected benchmark is named \"no_such\"; --list names them\n";
    assert_eq!(output.stderr, expected);
    assert_eq!(output.rows(), ["`plain`", "`bytes`"]);
}

#[test]
fn endless_does_not_matter_where_nothing_is_measured() {
    let output = fixture!("calls").env("NANOBENCH_ENDLESS", "first").args("--exact first").run().succeeds();
    assert_eq!(output.verdicts(), ["first ... ok"]);
    fixture!("calls").env("NANOBENCH_ENDLESS", "first").args("--list").run().succeeds();
}

/// A stream that nobody reads any more.
#[cfg(unix)]
fn broken_pipe() -> std::os::fd::OwnedFd {
    let (reader, writer) = std::os::unix::net::UnixStream::pair().expect("a pair of sockets can be made");
    drop(reader);
    writer.into()
}

#[cfg(unix)]
#[test]
fn a_reader_that_has_seen_enough_ends_the_program_quietly() {
    for line in ["--bench --max-time 1ms", "--bench --quiet --max-time 1ms", "", "--list", "--help", "--version"] {
        let output = fixture!("settings").args(line).stdout(broken_pipe()).run();
        assert_eq!((output.stderr.as_str(), output.code), ("", Some(0)), "{line}");
    }
}

#[test]
fn a_reader_that_leaves_in_the_middle_of_the_table_ends_the_program_quietly() {
    let mut program = fixture!("waits").args("--bench --max-time 1ms").start();
    program.stdout.until("`first`");
    program.stdout.close();
    assert_eq!(program.wait(), (Some(0), vec![]));
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error() {
    for line in ["--bench --max-time 1ms", "", "--list", "--help", "--version"] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = fixture!("settings").args(line).stdout(full).run();
        assert!(output.stderr.starts_with("nanobench: cannot write the results: "), "{line}: {output:?}");
        assert_eq!(output.code, Some(1), "{line}");
    }
}
