//! Where settings come from, and what is said of bad ones.

use crate::support::{Output, Program, fixture, is_row, place};

/// The unit in the header above each benchmark.
fn units(output: &Output) -> Vec<&str> {
    let mut unit = "";
    let mut units = Vec::new();
    for line in output.stdout.lines().filter(|line| line.starts_with('|')) {
        if let Some((_, title)) = line.split_once("ns/") {
            unit = title.split(' ').next().unwrap();
        } else if is_row(line) {
            units.push(unit);
        }
    }
    units
}

#[test]
fn the_command_line_wins_over_the_environment_over_the_attribute_over_the_default() {
    let settings = || fixture!("settings");
    assert_eq!(units(&settings().measure("").succeeds()), ["op", "byte"]);
    let with_variable = || settings().env("NANOBENCH_UNIT", "variable");
    assert_eq!(units(&with_variable().measure("").succeeds()), ["variable", "variable"]);
    assert_eq!(units(&with_variable().measure("--unit flag").succeeds()), ["flag", "flag"]);
    assert_eq!(units(&settings().measure("--unit=flag").succeeds()), ["flag", "flag"]);
}

#[test]
fn bad_values_of_flags_say_what_would_be_right_and_nothing_runs() {
    for (line, expected) in [
        ("--epochs none", "--epochs: \"none\" should be a whole number, such as 11"),
        ("--epochs 0", "--epochs: \"0\" should be at least 1"),
        ("--precision 2", "--precision: \"2\" should be a share between 0 and 1, such as 0.01 or 1%"),
        ("--batch 0", "--batch: \"0\" should be a number above zero, such as 1024"),
        ("--unit=", "--unit: \"\" should be a name that can be printed, such as byte"),
        (
            "--max-time 5",
            "--max-time: \"5\" should be a number and a unit without a sign, such as 100us, 5ms or 1.5s (ns, us, ms, s or min)",
        ),
    ] {
        fixture!("calls").args("--bench").args(line).run().only_complains(2, &format!("nanobench: {expected}\n"));
    }
}

#[test]
fn bad_values_of_variables_say_what_would_be_right_and_nothing_runs() {
    for (variable, value, expected) in [
        ("NANOBENCH_EPOCHS", "none", "should be a whole number, such as 11"),
        ("NANOBENCH_EPOCHS", "", "should be a whole number, such as 11"),
        ("NANOBENCH_MAX_TIME", "0s", "should be longer than zero"),
    ] {
        let expected = format!("nanobench: {variable}: \"{value}\" {expected}\n");
        fixture!("calls").env(variable, value).args("--bench").run().only_complains(2, &expected);
    }
}

#[cfg(unix)]
#[test]
fn a_variable_that_is_not_unicode_is_as_bad_as_any_other_value() {
    use std::os::unix::ffi::OsStrExt;
    let output = fixture!("calls").env("NANOBENCH_EPOCHS", std::ffi::OsStr::from_bytes(b"1\xff")).args("--bench").run();
    assert!(output.stderr.contains("NANOBENCH_EPOCHS"), "{:?}", output.stderr);
    assert_eq!((output.stdout.as_str(), output.code), ("", Some(2)));
}

#[test]
fn a_bad_value_that_the_attribute_computes_is_found_with_its_place_before_anything_runs() {
    let expected = format!("nanobench: {}: epochs should be at least 1\n", place("bad_setting", "#[nanobench(epochs"));
    fixture!("bad-setting").args("--bench").run().only_complains(2, &expected);
}

#[test]
fn a_bad_value_of_the_attribute_does_not_matter_where_its_benchmark_does_not_run() {
    let output = fixture!("bad-setting").measure("--exact good").succeeds();
    assert_eq!(output.rows(), ["`good`"]);
}

#[test]
fn a_variable_that_is_no_setting_is_reported_and_the_run_goes_on() {
    let output = fixture!("settings").env("NANOBENCH_EPOCH", "3").measure("").exits_with(0);
    let expected = "nanobench: NANOBENCH_EPOCH is not a setting and is ignored; --help lists those there are\n";
    assert_eq!(output.stderr, expected);
    assert_eq!(output.rows(), ["`plain`", "`bytes`"]);
}

#[test]
fn every_setting_is_understood_as_a_flag_and_as_a_variable() {
    for (name, value) in [
        ("epochs", "3"),
        ("clock-resolution-multiple", "10"),
        ("min-epoch-time", "1us"),
        ("max-epoch-time", "1ms"),
        ("min-epoch-iterations", "2"),
        ("epoch-iterations", "100"),
        ("warmup", "5"),
        ("precision", "5%"),
        ("max-time", "1ms"),
        ("compare-repeated", "true"),
        ("cold", "false"),
        ("overhead", "raw"),
        ("unit", "byte"),
        ("batch", "2.5"),
    ] {
        let short = |program: Program| program.env("NANOBENCH_MAX_TIME", "1ms").args("--bench");
        let flag = format!("--{name}");
        let output = short(fixture!("settings")).arg(format!("{flag}={value}")).run().succeeds();
        assert_eq!(output.rows(), ["`plain`", "`bytes`"], "{flag}");
        let variable = format!("NANOBENCH_{}", name.replace('-', "_").to_uppercase());
        let output = short(fixture!("settings")).env(&variable, value).run().succeeds();
        assert_eq!(output.rows(), ["`plain`", "`bytes`"], "{variable}");
    }
}
