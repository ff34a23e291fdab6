//! How many interrupts of devices each CPU serves, as `/proc/interrupts` of Linux tells.
//!
//! The file has a column for each CPU that is online and a line for each source. Only numbered lines count, which are those
//! of devices: a disk or a network card interrupts the CPUs that it was assigned to, whatever they do. The lines with a name
//! (`LOC`, `RES`, `TLB`, `ERR`) are about the processors themselves. The ticks of the scheduler and the calls of other CPUs
//! go to those that have work, and so to the measurement wherever it is. Where these have numbers too, as on Arm, PowerPC
//! and under Xen, the description gives them away.
//!
//! Devices that Hyper-V speaks for share one named line with its other messages (`HYP`) and are not seen.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::time::Duration;

const PATH: &str = "/proc/interrupts";

/// How much of the file is read. A column is 11 bytes wide, so this is enough for 256 CPUs and 1,400 lines, which the kernel
/// writes within some tens of milliseconds. Of a longer file the first lines are taken.
const MAX_BYTES: u64 = 4 << 20;

/// How long to watch. A source of more than 150 interrupts a second shows three of them in it; one of fewer takes up less than
/// a thousandth of its CPU's time and is no reason to avoid that.
const WINDOW: Duration = Duration::from_millis(20);

/// How many interrupts of devices each of these CPUs serves in the next 20 ms. The thread sleeps meanwhile. `None` where the
/// system does not tell.
pub(crate) fn served(cpus: &[usize]) -> Option<Vec<u32>> {
    let before = totals(&read()?)?;
    std::thread::sleep(WINDOW);
    differences(cpus, &before, &totals(&read()?)?)
}

/// The whole lines at the beginning of the file.
fn read() -> Option<String> {
    let mut text = Vec::new();
    File::open(PATH).ok()?.take(MAX_BYTES).read_to_end(&mut text).ok()?;
    let end = text.iter().rposition(|byte| *byte == b'\n')?;
    text.truncate(end);
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// For each CPU that is online, the sum of its counters of devices.
///
/// The kernel's counters have 32 bits and wrap. Sums and differences that wrap likewise are right nevertheless, so there is no
/// need to keep the lines apart. If a device comes or goes between two readings, its CPUs seem to be busy, and are avoided for
/// once.
fn totals(text: &str) -> Option<BTreeMap<usize, u32>> {
    let mut lines = text.lines();
    let names = lines.next()?.split_ascii_whitespace();
    let cpus: Vec<usize> = names.map(|name| name.strip_prefix("CPU")?.parse().ok()).collect::<Option<_>>()?;
    let mut totals = vec![0_u32; cpus.len()];
    let mut counts = Vec::with_capacity(cpus.len());
    for line in lines {
        let Some((label, rest)) = line.split_once(':') else { continue };
        if label.trim().parse::<u32>().is_err() {
            continue;
        }
        let mut fields = rest.split_ascii_whitespace();
        counts.clear();
        let numbers = fields.by_ref().take(cpus.len()).map_while(|field| field.parse::<u64>().ok());
        counts.extend(numbers.map(|count| count as u32));
        // A line with fewer columns does not say which CPUs they are of.
        if counts.len() < cpus.len() || fields.any(goes_to_whoever_works) {
            continue;
        }
        for (total, count) in totals.iter_mut().zip(&counts) {
            *total = total.wrapping_add(*count);
        }
    }
    (!cpus.is_empty()).then(|| cpus.into_iter().zip(totals).collect())
}

/// Whether a word of the description is that of a timer, such as `arch_timer` or `timer0`, or of a call by another CPU.
fn goes_to_whoever_works(word: &str) -> bool {
    word.contains("timer") || word.trim_start_matches('-').eq_ignore_ascii_case("ipi")
}

/// By how much the totals of these CPUs have grown; none if one of them is unknown.
fn differences(cpus: &[usize], before: &BTreeMap<usize, u32>, after: &BTreeMap<usize, u32>) -> Option<Vec<u32>> {
    cpus.iter().map(|cpu| Some(after.get(cpu)?.wrapping_sub(*before.get(cpu)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "           CPU0       CPU2       CPU3       \n\
         \x20 0:         44          0          0  IO-APIC   2-edge      timer\n\
         \x2024:       1000          0          7  IO-APIC   5-edge      ACPI:Ged 3 4 5\n\
         125:          0        200          0  PCI-MSIX-0000:00:02.0   1-edge      a-device-with-a-name-that-is-long: or, longer\n\
         NMI:          9          9          9   Non-maskable interrupts\n\
         LOC:    2051860    2270966          1   Local timer interrupts\n\
         ERR:          0\n\
         MIS:          0\n";

    fn of(counts: &[(usize, u32)]) -> Option<BTreeMap<usize, u32>> {
        Some(counts.iter().copied().collect())
    }

    #[test]
    fn devices_count_and_what_every_working_cpu_is_interrupted_by_does_not() {
        assert_eq!(totals(BEFORE), of(&[(0, 1000), (2, 200), (3, 7)]));
    }

    #[test]
    fn timers_and_calls_of_other_cpus_do_not_count_where_they_have_numbers() {
        for description in [
            "GICv3  27 Level     arch_timer",
            "RISC-V INTC   5 Edge      riscv-timer",
            "XICS   2 Edge      IPI",
            "xen-percpu    -virq      timer0",
            "xen-percpu    -ipi       resched0",
        ] {
            assert_eq!(
                totals(&format!(" CPU0 CPU1\n 11: 55 66 {description}\n")),
                of(&[(0, 0), (1, 0)]),
                "{description}"
            );
        }
        assert_eq!(totals(" CPU0 CPU1\n 11: 55 66 GICv3 chipidea\n"), of(&[(0, 55), (1, 66)]));
    }

    #[test]
    fn a_line_with_too_few_columns_says_nothing() {
        let text = " CPU0 CPU1\n 1: 5\n 2: 5 x\n 3:\n 4\n 5: 7 8\n";
        assert_eq!(totals(text), of(&[(0, 7), (1, 8)]));
    }

    #[test]
    fn counters_that_wrap_still_have_a_difference() {
        let before = totals(&format!("CPU0 CPU1\n1: {} 5 a\n2: {} 0 b\n", u32::MAX - 1, u32::MAX)).unwrap();
        let after = totals("CPU0 CPU1\n1: 3 5 a\n2: 9 1 b\n").unwrap();
        assert_eq!(differences(&[0, 1], &before, &after), Some(vec![15, 1]));
    }

    #[test]
    fn only_the_cpus_asked_for_are_told() {
        let (before, after) = (totals(BEFORE).unwrap(), totals(&BEFORE.replace("200", "209")).unwrap());
        assert_eq!(differences(&[2, 3], &before, &after), Some(vec![9, 0]));
        assert_eq!(differences(&[], &before, &after), Some(vec![]));
    }

    #[test]
    fn a_cpu_without_a_column_makes_the_answer_unknown() {
        let (before, after) = (totals(BEFORE).unwrap(), totals("CPU0 CPU1\n").unwrap());
        assert_eq!(differences(&[0, 1], &before, &after), None);
        assert_eq!(differences(&[0, 1], &after, &before), None);
    }

    #[test]
    fn what_is_no_such_file_has_no_totals() {
        for text in
            ["", "\n", "   \n 1: 2 3\n", "CPU0 GPU1\n 1: 2 3\n", "CPUx\n", "cpu  18913 0 3029 95288\n", "\u{fffd}:\0"]
        {
            assert_eq!(totals(text), None, "{text:?}");
        }
        assert_eq!(
            totals("CPU0\n: 1\n-3: 1\n99999999999999999999: 1\n4: 99999999999999999999999\n\u{fffd}: 1\n"),
            of(&[(0, 0)])
        );
    }

    #[test]
    fn thousands_of_columns_are_read() {
        let names: String = (0..5_000).map(|cpu| format!("CPU{cpu:<8}")).collect();
        let counts: String = (0..5_000).map(|cpu| format!("{cpu:>10} ")).collect();
        let line = |label: u32| format!("{label:>4}: {counts} PCI-MSI {label}-edge eth{label}\n");
        let text = format!("{names}\n{}", (0..20).map(line).collect::<String>());
        let totals = totals(&text).unwrap();
        assert_eq!((totals.len(), totals[&0], totals[&4_999]), (5_000, 0, 20 * 4_999));
    }
}
