//! Keeping a run on one CPU. Where the system cannot pin, it says so and measures nevertheless.

use nanobench_timer::affinity::{available_cpus, pin_to, ranges};

use crate::support::{Output, Program, fixture};

const CANNOT: &str = "this system cannot keep a thread on a CPU";

/// Fails unless the run ended well; its standard error is what is to be expected on this system of such a request.
#[track_caller]
fn well(output: Output, place: &str) -> Output {
    let expected = if available_cpus().is_empty() { format!("nanobench: {place}: {CANNOT}\n") } else { String::new() };
    assert_eq!(output.stderr, expected, "{output:#?}");
    output.exits_with(0)
}

/// Fails unless the thread said that it may use these CPUs.
#[track_caller]
fn says(output: &Output, thread: &str, cpus: &[usize]) {
    let line = format!("{thread}: {cpus:?}\n");
    assert!(output.stdout.contains(&line), "{line:?} in {output:#?}");
}

#[test]
fn a_run_is_pinned_to_the_cpu_that_is_asked_for_and_says_so() {
    let all = available_cpus();
    for &cpu in &all {
        for program in
            [fixture!("cpu").args(&format!("--cpu {cpu}")), fixture!("cpu").env("NANOBENCH_CPU", cpu.to_string())]
        {
            let output = program.measure("alone").succeeds();
            says(&output, "alone in main", &[cpu]);
            let machine = output.stdout.lines().find(|line| line.contains(" MHz (")).unwrap();
            let processors = std::thread::available_parallelism().unwrap();
            let plural = if processors.get() == 1 { "" } else { "s" };
            let expected = format!(", {processors} CPU{plural}, pinned to CPU {cpu}; ");
            assert!(machine.contains(&expected), "{expected:?} in {machine}");
        }
    }
    if all.is_empty() {
        well(fixture!("cpu").measure("--cpu 0 alone"), "--cpu");
        well(fixture!("cpu").env("NANOBENCH_CPU", "0").measure("--quiet alone"), "NANOBENCH_CPU");
    }
}

#[test]
fn a_run_is_pinned_to_a_cpu_of_its_own_choice() {
    let output = well(fixture!("cpu").measure("--cpu auto alone"), "--cpu");
    let chosen = |cpu: &&usize| output.stdout.contains(&format!("alone in main: [{cpu}]\n"));
    let all = available_cpus();
    let cpu = all.iter().find(chosen);
    assert_eq!(cpu.is_some(), !all.is_empty(), "{output:#?}");
    if let Some(cpu) = cpu {
        assert!(output.stdout.contains(&format!(", pinned to CPU {cpu}; ")), "{output:#?}");
    }
}

#[test]
fn nothing_is_pinned_unless_asked_for() {
    let output = fixture!("cpu").measure("").succeeds();
    says(&output, "alone in main", &available_cpus());
    says(&output, "together in main", &available_cpus());
    assert!(!output.stdout.contains("pinned"), "{output:#?}");
}

#[test]
fn the_other_threads_of_a_benchmark_may_use_all_cpus() {
    let Some(&cpu) = available_cpus().last() else { return };
    let output = fixture!("cpu").measure(&format!("--cpu {cpu}")).succeeds();
    says(&output, "together in main", &[cpu]);
    for thread in ["together in benchmark thread 2 of 3", "together in benchmark thread 3 of 3"] {
        says(&output, thread, &available_cpus());
    }
}

#[test]
fn as_many_threads_as_can_run_are_not_one_only_because_the_first_is_pinned() {
    let rows = |program: Program| {
        let output = program.measure("--threads 0 alone");
        assert_eq!(output.code, Some(0), "{output:#?}");
        output.rows()
    };
    let parallelism = std::thread::available_parallelism().unwrap();
    let expected = [format!("`alone/threads={parallelism}`")];
    assert_eq!(rows(fixture!("cpu")), expected);
    assert_eq!(rows(fixture!("cpu").args("--cpu auto")), expected);
}

#[test]
fn the_command_line_wins_over_the_variable() {
    let output = well(fixture!("cpu").env("NANOBENCH_CPU", "4000000000").measure("--cpu auto alone"), "--cpu");
    assert_eq!(output.rows(), ["`alone`"]);
}

#[test]
fn a_cpu_that_does_not_exist_is_an_error_that_names_those_that_do() {
    let all = available_cpus();
    let Some(&last) = all.last() else { return };
    for absent in [last + 7000, usize::MAX] {
        let complaint =
            |place: &str| format!("nanobench: {place}: this program may not use CPU {absent}, only {}\n", ranges(&all));
        for line in ["", "--sweep", "--format jsonl", "--quiet"] {
            let program = fixture!("cpu").args(&format!("--bench --cpu {absent} {line}"));
            program.run().only_complains(2, &complaint("--cpu"));
        }
        let program = fixture!("cpu").env("NANOBENCH_CPU", absent.to_string());
        program.args("--bench").run().only_complains(2, &complaint("NANOBENCH_CPU"));
        let endless = fixture!("cpu").env("NANOBENCH_ENDLESS", "alone");
        endless.args(&format!("--bench --cpu {absent}")).run().only_complains(2, &complaint("--cpu"));
    }
}

#[test]
fn a_cpu_that_the_program_was_told_to_keep_off_is_an_error() {
    let all = available_cpus();
    let &[first, .., last] = &all[..] else { return };
    if cfg!(windows) {
        // Programs do not inherit the affinity of a thread there.
        return;
    }
    // A program inherits the affinity of the thread that starts it.
    let _pinned = pin_to(first).unwrap();
    let expected = format!("nanobench: --cpu: this program may not use CPU {last}, only {first}\n");
    fixture!("cpu").args(&format!("--bench --cpu {last}")).run().only_complains(2, &expected);
    says(&fixture!("cpu").measure("--cpu auto alone").succeeds(), "alone in main", &[first]);
}

#[test]
fn what_is_no_cpu_is_an_error() {
    for value in ["first", "-1", "0-1", ""] {
        let complaint = |place: &str| {
            format!("nanobench: {place}: {value:?} should be one of auto and the numbers of CPUs such as 1\n")
        };
        fixture!("cpu").arg(format!("--cpu={value}")).run().only_complains(2, &complaint("--cpu"));
        let program = fixture!("cpu").env("NANOBENCH_CPU", value).args("--bench");
        program.run().only_complains(2, &complaint("NANOBENCH_CPU"));
    }
}

#[test]
fn json_lines_and_sweeps_name_the_cpu() {
    let Some(&cpu) = available_cpus().first() else { return };
    let json = |program: Program| {
        let output = program.args("--exact alone").measure("--format jsonl").succeeds();
        output.stdout.lines().find(|line| line.starts_with('{')).unwrap().to_owned()
    };
    let (pinned, free) = (json(fixture!("cpu").args(&format!("--cpu {cpu}"))), json(fixture!("cpu")));
    assert!(pinned.contains(&format!("\"cpu\":{cpu},")), "{pinned}");
    assert!(free.contains("\"cpu\":null,"), "{free}");
    let sweep = fixture!("cpu").measure(&format!("--sweep --cpu {cpu} alone")).succeeds();
    assert!(sweep.stdout.contains(&format!(", pinned to CPU {cpu}; ")), "{sweep:#?}");
}
