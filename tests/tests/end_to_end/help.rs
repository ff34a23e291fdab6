//! What the program says about itself, and the flags that it takes because libtest takes them.

use crate::support::{Program, fixture};

const SETTINGS: [&str; 13] = [
    "epochs",
    "clock-resolution-multiple",
    "min-epoch-time",
    "max-epoch-time",
    "min-epoch-iterations",
    "epoch-iterations",
    "warmup",
    "precision",
    "max-time",
    "cold",
    "overhead",
    "unit",
    "batch",
];

#[test]
fn help_names_every_flag_and_variable() {
    for line in ["--help", "-h", "--bench --help"] {
        let help = fixture!("calls").args(line).run().succeeds().stdout;
        for setting in SETTINGS {
            let variable = format!("[NANOBENCH_{}]", setting.replace('-', "_").to_uppercase());
            assert!(help.contains(&format!("  --{setting} ")) && help.contains(&variable), "{setting}: {help}");
        }
        for other in [
            "--list",
            "--exact",
            "--skip",
            "--ignored",
            "--include-ignored",
            "--mode",
            "--cpu",
            "--color",
            "--sweep",
            "--quiet",
            "--version",
        ] {
            assert!(help.contains(other), "{other}: {help}");
        }
        assert!(
            help.contains("NANOBENCH_ENDLESS")
                && help.contains("NANOBENCH_MODE=MODE")
                && help.contains("NANOBENCH_CPU=N")
                && help.contains("NO_COLOR"),
            "{help}"
        );
    }
}

#[test]
fn help_fits_into_a_terminal_of_usual_width() {
    let help = fixture!("calls").args("--help").run().succeeds().stdout;
    for line in help.lines() {
        assert!(line.chars().count() <= 130, "{line}");
    }
}

#[test]
fn help_and_version_work_where_no_benchmark_is_registered() {
    assert!(fixture!("empty").args("--help").run().succeeds().stdout.starts_with("Measures"));
    assert!(fixture!("empty").args("--version").run().succeeds().stdout.starts_with("nanobench "));
}

#[test]
fn the_version_is_that_of_the_package() {
    for flag in ["--version", "-V"] {
        let expected = concat!("nanobench ", env!("CARGO_PKG_VERSION"), "\n");
        assert_eq!(fixture!("calls").args(flag).run().succeeds().stdout, expected);
    }
}

/// The flags of the standard test harness, from the help of the one that runs this test.
fn flags_of_libtest() -> Vec<String> {
    let this_program = std::env::current_exe().unwrap();
    let help = Program::new(this_program.to_str().unwrap()).args("--help").run().succeeds().stdout;
    let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let flags = lines.flat_map(|line| line.split(' ').take_while(|word| word.starts_with('-')));
    flags.map(|flag| flag.trim_end_matches(',').to_owned()).collect()
}

#[test]
fn every_flag_of_libtest_is_accepted() {
    let flags = flags_of_libtest();
    assert!(flags.len() > 15, "{flags:?}");
    let mut refused = Vec::new();
    for flag in &flags {
        let value = match flag.as_str() {
            "--logfile" => "log.txt",
            "--test-threads" | "--shuffle-seed" => "1",
            "--skip" => "no_such",
            "--color" => "never",
            "--format" => "terse",
            "-Z" => "unstable-options",
            _ => "",
        };
        let output = fixture!("calls").arg(flag).args(value).env("NANOBENCH_MAX_TIME", "1ms").run();
        if output.code != Some(0) || !output.stderr.is_empty() {
            refused.push((flag, output.stderr));
        }
    }
    assert!(refused.is_empty(), "{refused:#?}");
}

#[test]
fn flags_of_libtest_that_do_nothing_here_really_do_nothing() {
    let plain = fixture!("calls").args("--exact first").run().succeeds();
    let line = "--exact first --test-threads=3 --test-threads 3 --logfile no_such_directory/log.txt --shuffle --shuffle-seed 3 \
                -Z unstable-options -Zunstable-options --nocapture --no-capture --show-output --exclude-should-panic \
                --ensure-time --force-run-in-process --report-time --report-time=plain --format terse --format=pretty";
    let flagged = fixture!("calls").args(line).run().succeeds();
    assert_eq!(flagged.verdicts(), plain.verdicts());
    assert!(!std::path::Path::new("no_such_directory").exists());
}
