//! What about this machine or this build makes figures unsteady, as far as it can be seen before anything is measured.

use std::fmt;
use std::sync::Once;

use crate::printable::complain;

/// The variable that silences the warnings: any value but `0` does.
pub(crate) const SUPPRESS: &str = "NANOBENCH_SUPPRESS_WARNINGS";

/// The directory of the frequency settings of all processors.
const CPUS: &str = "/sys/devices/system/cpu";

/// Warns on standard error of what makes figures unsteady, the first time that it is called in this program.
pub(crate) fn warn_once() {
    static WARNED: Once = Once::new();
    WARNED.call_once(|| {
        if std::env::var_os(SUPPRESS).is_some_and(|value| value != "0") {
            return;
        }
        let findings = findings(cfg!(debug_assertions), |path| std::fs::read_to_string(path).ok());
        if !findings.is_empty() {
            complain("results might be unstable:");
            for finding in findings {
                complain(&format!("* {finding}"));
            }
            complain(&format!("({SUPPRESS}=1 silences this)"));
        }
    });
}

/// Something that makes figures unsteady. Its text says what to do about it.
#[derive(Clone, Debug, PartialEq)]
enum Finding {
    /// Compiled without optimisation.
    Debug,
    /// The frequency of a processor may change: its number, and the limits in MHz.
    Scaling { cpu: usize, least: f64, most: f64 },
    /// The governor of the first processor, where it saves energy.
    Governor(String),
    /// The processor may go beyond its nominal frequency, for as long as it does not get too hot.
    Turbo,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Debug => write!(f, "this is a debug build: run `cargo bench`, or build with --release"),
            Self::Scaling { cpu, least, most } => write!(
                f,
                "CPU {cpu} runs between {least:.0} and {most:.0} MHz: compare cycles rather than nanoseconds, or set \
                 scaling_min_freq to scaling_max_freq"
            ),
            Self::Governor(governor) => write!(
                f,
                "the CPU governor is '{governor}': `cpupower frequency-set --governor performance` makes CPUs keep their speed"
            ),
            Self::Turbo => write!(
                f,
                "turbo is on, so the frequency depends on temperature and on the other cores: compare cycles, or turn it off \
                 in the firmware or with `pyperf system tune`"
            ),
        }
    }
}

/// Looks into the files that `read` reads. What cannot be read is not a finding: there are none of these files in most virtual
/// machines.
fn findings(is_debug: bool, read: impl Fn(&str) -> Option<String>) -> Vec<Finding> {
    let text = |path: String| read(&path).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    let number = |path: String| text(path)?.parse::<f64>().ok();
    let mut findings = Vec::new();
    if is_debug {
        findings.push(Finding::Debug);
    }
    let online = text(format!("{CPUS}/online")).and_then(|ranges| last_cpu(&ranges)).unwrap_or(0);
    let scaling = |cpu: usize| {
        let megahertz = |name: &str| Some(number(format!("{CPUS}/cpu{cpu}/cpufreq/{name}"))? / 1e3);
        let (least, most) = (megahertz("scaling_min_freq")?, megahertz("scaling_max_freq")?);
        (least != most).then_some(Finding::Scaling { cpu, least, most })
    };
    findings.extend((0..=online).find_map(scaling));
    let governor = text(format!("{CPUS}/cpu0/cpufreq/scaling_governor"));
    findings.extend(governor.filter(|governor| governor != "performance").map(Finding::Governor));
    let is_turbo = match number(format!("{CPUS}/intel_pstate/no_turbo")) {
        Some(no_turbo) => no_turbo == 0.0,
        None => number(format!("{CPUS}/cpufreq/boost")) == Some(1.0),
    };
    if is_turbo {
        findings.push(Finding::Turbo);
    }
    findings
}

/// The highest number in a list of ranges such as `0-3,6`.
fn last_cpu(ranges: &str) -> Option<usize> {
    ranges.rsplit([',', '-']).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(files: &[(&str, &str)]) -> Vec<Finding> {
        findings(false, |path| {
            let (_, text) = files.iter().find(|(name, _)| path.strip_prefix(CPUS) == Some(&format!("/{name}")))?;
            Some((*text).to_owned())
        })
    }

    #[test]
    fn what_cannot_be_read_is_not_a_finding() {
        assert_eq!(with(&[]), []);
        assert_eq!(with(&[("cpu0/cpufreq/scaling_governor", ""), ("intel_pstate/no_turbo", "?")]), []);
        assert_eq!(with(&[("cpu0/cpufreq/scaling_min_freq", "800000")]), []);
    }

    #[test]
    fn the_first_processor_whose_frequency_may_change_is_named() {
        let files = [
            ("online", "0-1\n"),
            ("cpu0/cpufreq/scaling_min_freq", "3000000"),
            ("cpu0/cpufreq/scaling_max_freq", "3000000"),
            ("cpu1/cpufreq/scaling_min_freq", "800000\n"),
            ("cpu1/cpufreq/scaling_max_freq", "3000000\n"),
        ];
        assert_eq!(with(&files), [Finding::Scaling { cpu: 1, least: 800.0, most: 3_000.0 }]);
        assert!(with(&files)[0].to_string().starts_with("CPU 1 runs between 800 and 3000 MHz"));
    }

    #[test]
    fn a_governor_that_saves_energy_is_named_and_the_performance_one_is_not() {
        let governor = |name: &str| with(&[("cpu0/cpufreq/scaling_governor", name)]);
        assert_eq!(governor("powersave\n"), [Finding::Governor("powersave".into())]);
        assert_eq!(governor("performance\n"), []);
    }

    #[test]
    fn turbo_is_found_on_both_makes() {
        assert_eq!(with(&[("intel_pstate/no_turbo", "0\n")]), [Finding::Turbo]);
        assert_eq!(with(&[("intel_pstate/no_turbo", "1\n"), ("cpufreq/boost", "1\n")]), []);
        assert_eq!(with(&[("cpufreq/boost", "1\n")]), [Finding::Turbo]);
        assert_eq!(with(&[("cpufreq/boost", "0\n")]), []);
    }

    #[test]
    fn a_debug_build_is_a_finding() {
        assert_eq!(findings(true, |_| None), [Finding::Debug]);
    }

    #[test]
    fn processors_are_counted_from_their_ranges() {
        for (ranges, last) in [("0", Some(0)), ("0-3", Some(3)), ("0-3,6", Some(6)), ("", None)] {
            assert_eq!(last_cpu(ranges), last, "{ranges}");
        }
    }
}
