//! How fast the clock ticks: what is known about it, who said so, and how sure that is.
//!
//! This file has the types and the order in which sources are asked. The sources live with the processors in
//! `src/arch/`, in `tables.rs` (what the numbers in tables mean) and in `perf_page.rs`; `calibration.rs` measures.

mod calibration;
pub(crate) mod perf_page;
pub(crate) mod tables;

use std::fmt;
use std::time::Duration;

use once_cell::sync::OnceCell;

pub use calibration::ClockPair;
use calibration::{Calibration, Calibrator};

use crate::{ClockSource, arch};

/// How long the clock is calibrated when no table knows its frequency, the time for asking them included. The error
/// is about inversely proportional to it.
const CALIBRATION_TIME: Duration = Duration::from_millis(18);

/// How long what a table says is checked, the time for asking it included. Long enough to tell a wrong value from a
/// right one with a wide margin.
const CROSS_CHECK_TIME: Duration = Duration::from_millis(4);

/// A table's value is dismissed when the clock visibly ticks at another rate. Crystals are off by up to 100 ppm and the
/// short check by some tens more on a busy machine; wrong tables are off by percents.
const MAX_DEVIATION_PPM: f64 = 1000.0;

/// A place where the frequency of the clock may be written down.
pub(crate) struct Rung {
    pub(crate) source: FrequencySource,
    /// Looks it up; `None` where it is not written down. Should take no more than some milliseconds, asleep.
    pub(crate) ticks_per_second: fn() -> Option<f64>,
}

/// Who stated the frequency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FrequencySource {
    /// The hypervisor, in CPUID leaf `4000_0010`, in kilohertz.
    Hypervisor,
    /// The processor, in CPUID leaf 15h: crystal frequency times a ratio.
    Cpuid,
    /// The Linux kernel, in the page that it maps for a perf event: the factors of its own clock.
    Kernel,
    /// The Linux kernel, in the file `tsc_freq_khz`, which only some kernels have.
    KernelFile,
    /// A register of the processor: `CNTFRQ_EL0` of 64-bit Arm.
    Register,
    /// The device tree that the firmware hands to the kernel.
    DeviceTree,
    /// The file `/proc/cpuinfo`.
    CpuInfo,
    /// A comparison with the operating system's clock.
    Calibration,
    /// Nobody: the ticks of the operating system's clock are nanoseconds by definition.
    Definition,
}

impl fmt::Display for FrequencySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Hypervisor => "hypervisor",
            Self::Cpuid => "CPUID",
            Self::Kernel => "kernel",
            Self::KernelFile => "tsc_freq_khz",
            Self::Register => "CNTFRQ_EL0",
            Self::DeviceTree => "device tree",
            Self::CpuInfo => "/proc/cpuinfo",
            Self::Calibration => "calibration",
            Self::Definition => "definition",
        })
    }
}

/// How fast the clock ticks.
///
/// Its text form has the frequency, the error and the source: `2445.426 MHz ± 0.4 ppm (calibration)`.
///
/// ```
/// use std::time::Duration;
///
/// let frequency = nanobench_timer::frequency();
/// let ticks = frequency.ticks(Duration::from_micros(3));
/// assert!((frequency.nanoseconds(ticks) - 3000.0).abs() < 1e-6);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Frequency {
    /// Ticks of [`start`](crate::start) and [`stop`](crate::stop) in a second.
    pub ticks_per_second: f64,
    /// Where `ticks_per_second` comes from.
    pub source: FrequencySource,
    /// How far `ticks_per_second` may be from the rate at which the operating system's clock sees the counter tick, in
    /// parts per million, with about 95 % confidence.
    ///
    /// For a calibrated frequency it comes from the scatter of the comparison. For one from a table it is what the
    /// short check could show, so the true error is usually smaller. Zero for the operating system's own clock, and
    /// infinite in the unlikely case that the counter could not be compared with it. How well the operating system's
    /// clock keeps time is another question: a quartz oscillator is off by some tens of ppm.
    pub error_ppm: f64,
    /// What a table said, relative to a calibration, in parts per million: positive when the table's value was the
    /// higher. With a source of [`Calibration`](FrequencySource::Calibration), the table was off by so much that it
    /// was dismissed. `None` when there was no table or nothing to check.
    pub table_deviation_ppm: Option<f64>,
}

impl Frequency {
    /// The frequency of a clock whose ticks are nanoseconds.
    const NANOSECONDS: Self =
        Self { ticks_per_second: 1e9, source: FrequencySource::Definition, error_ppm: 0.0, table_deviation_ppm: None };

    /// How many nanoseconds `ticks` take. Fractions and negative differences are welcome.
    #[inline]
    #[must_use]
    pub fn nanoseconds(&self, ticks: f64) -> f64 {
        // Multiplying first keeps the clock that ticks in nanoseconds exact.
        ticks * 1e9 / self.ticks_per_second
    }

    /// How many seconds `ticks` take.
    #[inline]
    #[must_use]
    pub fn seconds(&self, ticks: f64) -> f64 {
        ticks / self.ticks_per_second
    }

    /// How many ticks pass in `duration`.
    #[inline]
    #[must_use]
    pub fn ticks(&self, duration: Duration) -> f64 {
        duration.as_secs_f64() * self.ticks_per_second
    }

    /// A better value from two comparisons with the operating system's clock that lie further apart than a calibration
    /// could afford to wait: the start and the end of a whole run, for example.
    ///
    /// Returns `self` unchanged when the frequency does not come from a calibration, when the two are too close
    /// together to improve it, or when they contradict it by more than 1000 ppm, as they do if the machine slept in
    /// between.
    ///
    /// ```
    /// use nanobench_timer::{ClockPair, frequency};
    ///
    /// let begin = ClockPair::now();
    /// // ... the run ...
    /// let refined = frequency().refined(&begin, &ClockPair::now());
    /// assert!(refined.error_ppm <= frequency().error_ppm);
    /// ```
    #[must_use]
    pub fn refined(&self, begin: &ClockPair, end: &ClockPair) -> Self {
        if self.source != FrequencySource::Calibration {
            return *self;
        }
        match Calibration::between(begin, end) {
            Some(refined)
                if refined.error_ppm < self.error_ppm
                    && deviation_ppm(refined.ticks_per_second, self.ticks_per_second).abs() <= MAX_DEVIATION_PPM =>
            {
                Self { ticks_per_second: refined.ticks_per_second, error_ppm: refined.error_ppm, ..*self }
            }
            _ => *self,
        }
    }
}

impl fmt::Display for Frequency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ticks_per_second, source, error_ppm, .. } = *self;
        write!(f, "{:.3} MHz ± {error_ppm:.1} ppm ({source})", ticks_per_second / 1e6)
    }
}

/// How fast the clock ticks on this machine.
///
/// The first call measures for about 20 ms, in which it keeps a CPU busy; later ones return the same value at once. A
/// value from a table (hypervisor, processor, kernel) is preferred, but is checked against the operating system's
/// clock and dismissed if it is wrong. The processor's brand string is never consulted: the frequency in it is
/// neither always there nor always the TSC's.
///
/// ```
/// println!("{}", nanobench_timer::frequency());
/// ```
#[must_use]
pub fn frequency() -> Frequency {
    static FREQUENCY: OnceCell<Frequency> = OnceCell::new();
    *FREQUENCY.get_or_init(|| {
        if arch::source() == ClockSource::OperatingSystem {
            Frequency::NANOSECONDS
        } else {
            // The tables are read while the calibration is under way: opening a perf event can take as long as that.
            let mut calibrator = Calibrator::begin();
            determine(arch::LADDER, |duration| calibrator.run_until(duration))
        }
    })
}

/// Asks the rungs from top to bottom for a value that stands up to a short calibration, and calibrates for longer if
/// there is none. `calibrate` goes on until so much time has passed since the calibration began.
fn determine(ladder: &[Rung], mut calibrate: impl FnMut(Duration) -> Option<Calibration>) -> Frequency {
    let stated = ladder.iter().filter_map(|rung| Some((rung.source, (rung.ticks_per_second)()?)));
    let stated: Vec<(FrequencySource, f64)> = stated.filter(|(_, value)| is_plausible(*value)).collect();
    let mut dismissed = None;
    if let Some(&(source, ticks_per_second)) = stated.first() {
        let Some(check) = calibrate(CROSS_CHECK_TIME) else {
            return Frequency { ticks_per_second, source, error_ppm: f64::INFINITY, table_deviation_ppm: None };
        };
        for (source, ticks_per_second) in stated {
            let deviation = deviation_ppm(ticks_per_second, check.ticks_per_second);
            if deviation.abs() <= MAX_DEVIATION_PPM {
                let error_ppm = deviation.abs() + check.error_ppm;
                return Frequency { ticks_per_second, source, error_ppm, table_deviation_ppm: Some(deviation) };
            }
            dismissed.get_or_insert(ticks_per_second);
        }
    }
    let source = FrequencySource::Calibration;
    match calibrate(CALIBRATION_TIME) {
        Some(Calibration { ticks_per_second, error_ppm }) => {
            let table_deviation_ppm = dismissed.map(|table| deviation_ppm(table, ticks_per_second));
            Frequency { ticks_per_second, source, error_ppm, table_deviation_ppm }
        }
        // Neither a table nor a second clock: any number is a guess, and the error says so.
        None => Frequency { ticks_per_second: 1e9, source, error_ppm: f64::INFINITY, table_deviation_ppm: None },
    }
}

/// Tables contain zeros and other placeholders.
fn is_plausible(ticks_per_second: f64) -> bool {
    (1e3..1e12).contains(&ticks_per_second)
}

fn deviation_ppm(value: f64, reference: f64) -> f64 {
    (value / reference - 1.0) * 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(ticks_per_second: f64) -> impl Fn(Duration) -> Option<Calibration> {
        move |_| Some(Calibration { ticks_per_second, error_ppm: 5.0 })
    }

    #[test]
    fn the_first_table_that_stands_up_to_the_check_wins() {
        let ladder = [
            Rung { source: FrequencySource::Hypervisor, ticks_per_second: || None },
            Rung { source: FrequencySource::Cpuid, ticks_per_second: || Some(0.0) },
            Rung { source: FrequencySource::Kernel, ticks_per_second: || Some(2.4e9) },
            Rung { source: FrequencySource::KernelFile, ticks_per_second: || Some(2.400_001e9) },
        ];
        let frequency = determine(&ladder, measured(2.400_024e9));
        assert_eq!(frequency.source, FrequencySource::Kernel);
        assert_eq!(frequency.ticks_per_second, 2.4e9);
        let deviation = frequency.table_deviation_ppm.unwrap();
        assert!((deviation - -10.0).abs() < 0.01, "{deviation}");
        assert!((frequency.error_ppm - 15.0).abs() < 0.01, "{}", frequency.error_ppm);
    }

    #[test]
    fn a_table_that_contradicts_the_clock_is_passed_over_for_the_next() {
        let ladder = [
            Rung { source: FrequencySource::Cpuid, ticks_per_second: || Some(3e9) },
            Rung { source: FrequencySource::Kernel, ticks_per_second: || Some(2.4e9) },
        ];
        assert_eq!(determine(&ladder, measured(2.4e9)).source, FrequencySource::Kernel);
    }

    #[test]
    fn a_dismissed_table_leaves_its_trace() {
        let ladder = [Rung { source: FrequencySource::Register, ticks_per_second: || Some(1.1e9) }];
        let frequency = determine(&ladder, measured(1e9));
        assert_eq!(frequency.source, FrequencySource::Calibration);
        assert_eq!(frequency.ticks_per_second, 1e9);
        assert!((frequency.table_deviation_ppm.unwrap() - 100_000.0).abs() < 1.0);
    }

    #[test]
    fn the_short_check_is_skipped_where_no_table_speaks() {
        let mut durations = Vec::new();
        determine(&[], |duration| {
            durations.push(duration);
            Some(Calibration { ticks_per_second: 1e9, error_ppm: 1.0 })
        });
        assert_eq!(durations, [CALIBRATION_TIME]);
    }

    #[test]
    fn an_unverifiable_frequency_has_an_infinite_error() {
        let ladder = [Rung { source: FrequencySource::Cpuid, ticks_per_second: || Some(3e9) }];
        let frequency = determine(&ladder, |_| None);
        assert_eq!((frequency.ticks_per_second, frequency.error_ppm), (3e9, f64::INFINITY));
        assert_eq!(determine(&[], |_| None).error_ppm, f64::INFINITY);
    }

    #[test]
    fn the_text_has_frequency_error_and_source() {
        let frequency = Frequency {
            ticks_per_second: 2_445_426_123.0,
            source: FrequencySource::Calibration,
            error_ppm: 0.449,
            table_deviation_ppm: None,
        };
        assert_eq!(frequency.to_string(), "2445.426 MHz ± 0.4 ppm (calibration)");
    }

    #[test]
    fn ticks_convert_both_ways() {
        let frequency = Frequency { ticks_per_second: 2.5e9, ..Frequency::NANOSECONDS };
        assert_eq!(frequency.nanoseconds(5.0), 2.0);
        assert_eq!(frequency.nanoseconds(-5.0), -2.0);
        assert_eq!(frequency.seconds(2.5e9), 1.0);
        assert_eq!(frequency.ticks(Duration::from_nanos(2)), 5.0);
    }

    #[test]
    fn nanoseconds_by_definition_are_exact() {
        let odd = 1_234_567_891.0;
        assert_eq!(Frequency::NANOSECONDS.nanoseconds(odd), odd);
    }

    #[test]
    fn only_a_calibrated_frequency_is_refined_and_only_for_the_better() {
        let begin = ClockPair::new(1_000, 1_020, 0);
        let end = ClockPair::new(2_000_001_000, 2_000_001_020, 1_000_000_000);
        let rough = Frequency {
            ticks_per_second: 2.000_01e9,
            source: FrequencySource::Calibration,
            error_ppm: 10.0,
            table_deviation_ppm: None,
        };
        let refined = rough.refined(&begin, &end);
        assert!((refined.ticks_per_second - 2e9).abs() < 1.0, "{refined:?}");
        assert!(refined.error_ppm < 0.1, "{refined:?}");
        let near = ClockPair::new(3_000, 3_020, 1_000);
        assert_eq!(rough.refined(&begin, &near), rough);
        let table = Frequency { source: FrequencySource::Cpuid, ..rough };
        assert_eq!(table.refined(&begin, &end), table);
        let slept = ClockPair::new(2_000_001_000, 2_000_001_020, 500_000_000);
        assert_eq!(rough.refined(&begin, &slept), rough);
    }
}
