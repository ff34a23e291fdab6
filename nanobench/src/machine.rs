//! The machine that the program runs on: its clock, as the engine wants it, and the facts that reports print.

use std::cell::RefCell;
use std::fs::File;

use once_cell::sync::Lazy;

use nanobench_timer::{affinity, metronome, predictor};

use crate::clock::{Clock, ClockFacts, Metronome};
use crate::core_width::{CoreWidth, cache_directory};
use crate::cpus;
use crate::measurement::Machine;

/// The clock of `nanobench-timer`. What there is to measure about it is measured when it is first asked for.
pub(crate) struct MachineClock {
    /// None where the width is that of a known family.
    core_width: Option<RefCell<CoreWidth>>,
    /// What the scheduler of Linux counts of the thread that made this.
    waits: Option<File>,
}

static CLOCK_FACTS: Lazy<ClockFacts> = Lazy::new(|| ClockFacts {
    ticks_per_second: nanobench_timer::frequency().ticks_per_second,
    step_ticks: nanobench_timer::step_ticks() as f64,
    pair_cost_ticks: nanobench_timer::pair_cost().mean_ticks,
});

impl MachineClock {
    /// The clock for this thread.
    pub(crate) fn new() -> Self {
        Self {
            core_width: metronome::known_adds_per_cycle()
                .is_none()
                .then(|| RefCell::new(CoreWidth::recall(cache_directory(|name| std::env::var_os(name)), &core_kind()))),
            waits: File::open("/proc/thread-self/schedstat").ok(),
        }
    }

    /// Takes note of how many independent additions in a cycle a measurement has seen, for where that is not known.
    pub(crate) fn learn(&self, adds_per_cycle: f64) {
        let Some(core_width) = &self.core_width else { return };
        let mut core_width = core_width.borrow_mut();
        core_width.learn(adds_per_cycle);
        // It is a help for later runs only. Where it cannot be kept, as in a sandbox, this one is none the worse.
        let _ = core_width.save();
    }
}

impl Clock for MachineClock {
    fn now_ticks(&self) -> u64 {
        nanobench_timer::start()
    }

    fn facts(&self) -> ClockFacts {
        *CLOCK_FACTS
    }

    fn metronome(&self) -> Option<&dyn Metronome> {
        metronome::is_available().then_some(self)
    }

    fn waited_seconds(&self) -> Option<f64> {
        let mut text = [0; 128];
        let length = read_at_start(self.waits.as_ref()?, &mut text)?;
        waited_seconds(std::str::from_utf8(&text[..length]).ok()?)
    }

    fn forget_branches(&self, random_bits: &mut dyn FnMut() -> u64) -> bool {
        predictor::forget(random_bits);
        predictor::is_available()
    }
}

#[cfg(unix)]
fn read_at_start(file: &File, text: &mut [u8]) -> Option<usize> {
    std::os::unix::fs::FileExt::read_at(file, text, 0).ok()
}

#[cfg(not(unix))]
fn read_at_start(_file: &File, _text: &mut [u8]) -> Option<usize> {
    None
}

/// The second number of `schedstat`: nanoseconds for which the thread could have run and did not.
fn waited_seconds(schedstat: &str) -> Option<f64> {
    let nanoseconds: u64 = schedstat.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(nanoseconds as f64 / 1e9)
}

/// For how long the hypervisor has let the processors of this virtual machine wait since it started, in seconds; none where the
/// system does not tell. It comes in steps of 10 ms, so it says something about a run and nothing about a benchmark.
pub(crate) fn stolen_seconds() -> Option<f64> {
    stolen_seconds_of(&std::fs::read_to_string("/proc/stat").ok()?)
}

fn stolen_seconds_of(stat: &str) -> Option<f64> {
    let hundredths: u64 = stat.lines().next()?.strip_prefix("cpu ")?.split_ascii_whitespace().nth(7)?.parse().ok()?;
    Some(hundredths as f64 / 100.0)
}

/// What cores of one kind have in common: the name of the processor and, since there are processors with cores of several
/// kinds, the highest frequency.
fn core_kind() -> String {
    let cpu = affinity::current_cpu().unwrap_or(0);
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/cpuinfo_max_freq");
    let kilohertz = std::fs::read_to_string(path).unwrap_or_default();
    format!("{} {}", processor_name(), kilohertz.trim()).trim_end().to_owned()
}

impl Metronome for MachineClock {
    fn dependent_ticks(&self, hundreds: u32) -> u64 {
        const { assert!(metronome::DEPENDENT_ADDS == 100) };
        metronome::dependent_ticks(hundreds)
    }

    fn independent_ticks(&self, blocks: u32) -> u64 {
        const { assert!(metronome::INDEPENDENT_ADDS == 120) };
        metronome::independent_ticks(blocks)
    }

    fn overlapping_ticks(&self, blocks: u32) -> Option<u64> {
        const { assert!(metronome::OVERLAPPING_CHAINS == 2 && metronome::CHAIN_CYCLES == 90) };
        metronome::has_chains().then(|| metronome::overlapping_ticks(blocks))
    }

    fn known_adds_per_cycle(&self) -> Option<f64> {
        metronome::known_adds_per_cycle().or_else(|| self.core_width.as_ref()?.borrow().adds_per_cycle())
    }

    fn are_chains_known_to_overlap(&self) -> bool {
        metronome::are_chains_known_to_overlap()
    }
}

/// What is known of this machine, and of the CPU that the program is pinned to.
pub(crate) fn facts(cpu: Option<usize>) -> Machine {
    let frequency = nanobench_timer::frequency();
    Machine {
        processor: processor_name(),
        processors: cpus::parallelism().get(),
        cpu,
        clock: *CLOCK_FACTS,
        clock_name: nanobench_timer::clock_source().to_string(),
        frequency_source: frequency.source.to_string(),
        frequency_error_ppm: frequency.error_ppm,
        clock_remark: nanobench_timer::fallback_reason().map(|reason| reason.to_string()),
    }
}

/// What the processor calls itself where the system tells, else the name of its architecture.
fn processor_name() -> String {
    let named = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| model_name(&text));
    named.unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

fn model_name(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|line| line.starts_with("model name"))?;
    let name = line.split_once(':')?.1.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_is_named_as_the_system_does() {
        let text = "processor\t: 0\nmodel name\t: Some CPU @ 3 GHz\nflags: x\n";
        assert_eq!(model_name(text).as_deref(), Some("Some CPU @ 3 GHz"));
        assert_eq!(model_name("processor: 0\n"), None);
        assert_eq!(model_name("model name\t: \n"), None);
    }

    #[test]
    fn waiting_for_a_processor_is_the_second_number() {
        assert_eq!(waited_seconds("2080028357 1027780000 126\n"), Some(1.02778));
        assert_eq!(waited_seconds(""), None);
        assert_eq!(waited_seconds("1 x 3"), None);
    }

    #[test]
    fn stolen_time_is_the_eighth_number_in_hundredths_of_a_second() {
        assert_eq!(stolen_seconds_of("cpu  18913 0 3029 95288 243 0 21 1720 0 0\ncpu0 6251 0\n"), Some(17.2));
        assert_eq!(stolen_seconds_of("cpu  18913 0 3029\n"), None);
        assert_eq!(stolen_seconds_of(""), None);
    }

    #[test]
    fn a_thread_never_waits_backwards() {
        let clock = MachineClock::new();
        let first = clock.waited_seconds();
        std::thread::yield_now();
        assert!(first.is_none() || clock.waited_seconds() >= first);
    }

    #[test]
    fn the_clock_has_a_frequency_and_a_cost() {
        let facts = MachineClock::new().facts();
        assert!(facts.ticks_per_second > 1e5, "{facts:?}");
        assert!(facts.step_ticks >= 1.0 && facts.resolution_ticks() >= facts.step_ticks, "{facts:?}");
    }
}
