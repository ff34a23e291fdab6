//! The machine that the program runs on: its clock, as the engine wants it, and the facts that reports print.

use once_cell::sync::Lazy;

use nanobench_timer::metronome;

use crate::clock::{Clock, ClockFacts, Metronome};
use crate::measurement::Machine;

/// The clock of `nanobench-timer`. What there is to measure about it is measured when it is first asked for.
pub(crate) struct MachineClock;

static CLOCK_FACTS: Lazy<ClockFacts> = Lazy::new(|| ClockFacts {
    ticks_per_second: nanobench_timer::frequency().ticks_per_second,
    step_ticks: nanobench_timer::step_ticks() as f64,
    pair_cost_ticks: nanobench_timer::pair_cost().mean_ticks,
});

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

    fn known_adds_per_cycle(&self) -> Option<f64> {
        metronome::known_adds_per_cycle()
    }
}

/// What is known of this machine.
pub(crate) fn facts() -> Machine {
    let frequency = nanobench_timer::frequency();
    Machine {
        processor: processor_name(),
        processors: std::thread::available_parallelism().map_or(1, usize::from),
        clock: MachineClock.facts(),
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
    fn the_clock_has_a_frequency_and_a_cost() {
        let facts = MachineClock.facts();
        assert!(facts.ticks_per_second > 1e5, "{facts:?}");
        assert!(facts.step_ticks >= 1.0 && facts.resolution_ticks() >= facts.step_ticks, "{facts:?}");
    }
}
