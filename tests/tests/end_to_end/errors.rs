//! What keeps benchmarks from running at all.

use crate::support::{fixture, place};

#[test]
fn an_unknown_flag_is_one_line_with_the_usual_cause_and_nothing_runs() {
    for (line, named) in [("--bench --save-baseline x", "--save-baseline"), ("--bogus=1", "--bogus"), ("-x", "-x")] {
        let expected = format!(
            "nanobench: unknown option {named}; --help lists those there are. (If it is another program of this package \
             that refuses nanobench's options, it is the test harness of a library or binary: give that one \
             `bench = false` in Cargo.toml, for example under `[lib]`.)\n"
        );
        fixture!("calls").args(line).run().only_complains(2, &expected);
    }
}

#[test]
fn a_flag_without_its_value_is_an_error() {
    for line in ["--bench --epochs", "--skip", "--color", "--mode", "--cpu"] {
        let output = fixture!("calls").args(line).run().exits_with(2);
        let flag = line.split(' ').next_back().unwrap();
        assert!(output.stderr.contains(flag) && output.stdout.is_empty(), "{output:?}");
    }
}

#[test]
fn a_value_that_is_none_of_the_choices_is_an_error() {
    let color = "nanobench: --color: \"blue\" should be one of auto, always, never\n";
    fixture!("calls").args("--color blue").run().only_complains(2, color);
    let format = "nanobench: --format: \"xml\" should be one of pretty, terse, jsonl\n";
    fixture!("calls").args("--list --format xml").run().only_complains(2, format);
}

#[cfg(unix)]
#[test]
fn an_argument_that_is_not_unicode_is_an_error() {
    use std::os::unix::ffi::OsStrExt;
    let output = fixture!("calls").arg(std::ffi::OsStr::from_bytes(b"f\xffrst")).run().exits_with(2);
    assert!(output.stderr.starts_with("nanobench: ") && output.stderr.lines().count() == 1, "{output:?}");
    assert_eq!(output.stdout, "");
}

#[test]
fn a_program_without_benchmarks_explains_what_may_be_wrong() {
    for line in ["", "--bench", "--list"] {
        let expected = "nanobench: no benchmark is registered. Either no function of this target carries #[nanobench], or \
                        they stand in a library that the linker dropped because nothing in the target refers to it: move \
                        them into the bench target itself, or `use` something of that library in it\n";
        fixture!("empty").args(line).run().only_complains(1, expected);
    }
}

#[test]
fn two_benchmarks_of_one_name_are_an_error_that_names_both_places() {
    let (first, second) = (place("duplicate", "#[nanobench(name"), place("duplicate", "#[nanobench(ignore"));
    for line in ["", "--bench", "--list", "--bench --exact twin"] {
        let expected = format!(
            "nanobench: two benchmarks are named `twin`: at {first} and at {second}. Give one of them another name, for \
             example #[nanobench(name = \"..\")]\n"
        );
        fixture!("duplicate").args(line).run().only_complains(1, &expected);
    }
}
