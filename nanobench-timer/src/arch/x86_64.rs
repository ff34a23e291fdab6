//! x86-64: the time stamp counter (TSC), read between fences, or the operating system's clock where the TSC is no
//! clock.
//!
//! # The instructions
//!
//! **RDTSC is not ordered.** The processor executes it as soon as it can, which may be long before instructions that
//! stand in front of it have finished and after some that stand behind it have begun. In a region of a few dozen
//! cycles that is the whole measurement. Something has to hold it in place.
//!
//! **Not CPUID.** It is the classic serialising instruction, and older recipes use it. But its own time is long and
//! varies from call to call, and in a virtual machine both Intel VT-x and AMD SVM leave the guest for every CPUID: a
//! thousand cycles or more, and caches that are no longer what they were.
//!
//! **LFENCE** is enough. On Intel it does not begin before all earlier instructions have completed locally, and no
//! later one begins before it has completed. On AMD the same holds when bit 1 of MSR `C001_1029` is set, which makes
//! LFENCE dispatch serialising; Linux sets it since version 4.15 and the other systems do as well, because the
//! defence against speculation attacks depends on it, and newer processors report in CPUID `8000_0021` that it cannot
//! be otherwise. The older advice to use MFENCE on AMD is from before. Stores may still be on their way to the cache
//! when LFENCE completes; waiting for them would cost MFENCE in every reading and is rarely what one wants to know.
//!
//! **RDTSCP** reads the counter after all earlier instructions have executed, so it closes a region without a fence
//! in front of it. Later instructions do not wait for it, however, and could begin inside the region, hence the
//! LFENCE behind it.
//!
//! **Start and stop differ on purpose.** RDTSCP waits by itself, so the region is closed by one instruction instead
//! of a fence and a reading, whose joint latency was found to scatter more; where the two cost the same, as they do
//! on Zen 3 to within two ticks, nothing is lost. Opening the region with RDTSCP as well would be less consistent: it
//! also fetches `TSC_AUX`, and nothing says how much of that is over when the counter is read.
//!
//! **In 32 bits** the shift and the or that join the halves go away. In [`stop`] they come after the counter has been
//! read, but in [`start`] they precede the closing fence, so their latency is in every measurement.
//!
//! **Not the performance counters.** RDPMC would count core cycles, but most virtual machines have no counters, other
//! systems do not let a program have them, and it needs the same fences.
//!
//! # The branch
//!
//! Whether the TSC can be used is known only at run time. The answer is one byte that is written once; a reading
//! loads it, compares it and takes a branch that is always predicted. In [`stop`] RDTSCP waits for the load, which
//! makes an empty region about five ticks longer, but that is constant: the byte is in the first-level cache unless
//! the timed code has evicted it, in which case that code has taken many times longer than the load will. Reading
//! first and deciding afterwards would hide the load, but not every machine can execute RDTSCP.

use std::arch::asm;
use std::arch::x86_64::__cpuid;
use std::sync::atomic::{AtomicU8, Ordering};

use once_cell::sync::OnceCell;

use crate::frequency::{FrequencySource, Rung, tables};
use crate::{ClockSource, FallbackReason, os_clock};

/// Nobody has read the clock yet.
const UNKNOWN: u8 = 0;
/// The TSC is a clock.
const COUNTER: u8 = 1;
/// The TSC is none: [`DECISION`] has the reason.
const OPERATING_SYSTEM: u8 = 2;

/// One of the three constants above. A reader that sees a stale `UNKNOWN` only takes the slow path once more, and no
/// other memory depends on the value, so relaxed loads and stores suffice.
static STATE: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Why the operating system's clock is used; `None` inside means that the TSC is.
static DECISION: OnceCell<Option<FallbackReason>> = OnceCell::new();

#[inline(always)]
fn is_counter_usable() -> bool {
    STATE.load(Ordering::Relaxed) == COUNTER
}

#[inline(always)]
pub(crate) fn start() -> u64 {
    if is_counter_usable() { tsc_at_start() } else { start_slowly() }
}

#[inline(always)]
pub(crate) fn stop() -> u64 {
    if is_counter_usable() { tsc_at_stop() } else { stop_slowly() }
}

#[inline(always)]
pub(crate) fn start_u32() -> u32 {
    if is_counter_usable() { tsc_at_start_u32() } else { start_slowly() as u32 }
}

#[inline(always)]
pub(crate) fn stop_u32() -> u32 {
    if is_counter_usable() { tsc_at_stop_u32() } else { stop_slowly() as u32 }
}

#[cold]
#[inline(never)]
fn start_slowly() -> u64 {
    if decision().is_none() { tsc_at_start() } else { os_clock::now_ns() }
}

#[cold]
#[inline(never)]
fn stop_slowly() -> u64 {
    if decision().is_none() { tsc_at_stop() } else { os_clock::now_ns() }
}

// None of the four blocks promises `nomem`: to the compiler each may read and write any memory, which keeps loads and
// stores of the timed code on their side of the reading. It cannot keep arithmetic on registers there; that takes
// `black_box`.

#[inline(always)]
fn tsc_at_start() -> u64 {
    let ticks: u64;
    // SAFETY: the instructions touch no memory and no register but those named, and every x86-64 processor has them.
    unsafe {
        asm!(
            "lfence",
            "rdtsc",
            "shl rdx, 32",
            "or rax, rdx",
            "lfence",
            lateout("rax") ticks,
            lateout("rdx") _,
            options(nostack),
        );
    }
    ticks
}

#[inline(always)]
fn tsc_at_stop() -> u64 {
    let ticks: u64;
    // SAFETY: the instructions touch no memory and no register but those named; RDTSCP was found before the state
    // allowed coming here.
    unsafe {
        asm!(
            "rdtscp",
            "shl rdx, 32",
            "or rax, rdx",
            "lfence",
            lateout("rax") ticks,
            lateout("rdx") _,
            lateout("rcx") _,
            options(nostack),
        );
    }
    ticks
}

#[inline(always)]
fn tsc_at_start_u32() -> u32 {
    let ticks: u32;
    // SAFETY: the instructions touch no memory and no register but those named, and every x86-64 processor has them.
    unsafe {
        asm!("lfence", "rdtsc", "lfence", lateout("eax") ticks, lateout("edx") _, options(nostack, preserves_flags));
    }
    ticks
}

#[inline(always)]
fn tsc_at_stop_u32() -> u32 {
    let ticks: u32;
    // SAFETY: the instructions touch no memory and no register but those named; RDTSCP was found before the state
    // allowed coming here.
    unsafe {
        asm!(
            "rdtscp",
            "lfence",
            lateout("eax") ticks,
            lateout("edx") _,
            lateout("ecx") _,
            options(nostack, preserves_flags),
        );
    }
    ticks
}

pub(crate) fn source() -> ClockSource {
    if decision().is_none() { ClockSource::Tsc } else { ClockSource::OperatingSystem }
}

pub(crate) fn fallback_reason() -> Option<FallbackReason> {
    decision().clone()
}

/// The best source first. Leaf 16h is not among them: it is the base frequency in whole megahertz, which is not what
/// the TSC counts on every model, and neither is the number in the brand string.
pub(crate) const LADDER: &[Rung] = &[
    Rung { source: FrequencySource::Hypervisor, ticks_per_second: hypervisor_frequency },
    Rung { source: FrequencySource::Cpuid, ticks_per_second: cpuid_frequency },
    Rung { source: FrequencySource::Kernel, ticks_per_second: crate::frequency::perf_page::ticks_per_second },
    Rung { source: FrequencySource::KernelFile, ticks_per_second: kernel_file_frequency },
];

fn decision() -> &'static Option<FallbackReason> {
    DECISION.get_or_init(|| {
        let reason = if is_forbidden() {
            Some(FallbackReason::Forbidden)
        } else {
            reason_against_tsc(&ClockFeatures::of_this_processor(), kernel_clock_source().as_deref())
        };
        STATE.store(if reason.is_none() { COUNTER } else { OPERATING_SYSTEM }, Ordering::Relaxed);
        reason
    })
}

/// What CPUID says about the TSC.
struct ClockFeatures {
    has_rdtscp: bool,
    is_invariant: bool,
}

impl ClockFeatures {
    fn of_this_processor() -> Self {
        let highest = cpuid(0x8000_0000).eax;
        let edx = |leaf: u32| if highest >= leaf { cpuid(leaf).edx } else { 0 };
        Self { has_rdtscp: edx(0x8000_0001) & (1 << 27) != 0, is_invariant: edx(0x8000_0007) & (1 << 8) != 0 }
    }
}

/// The judgement itself. `kernel_clock_source` is `None` where there is no such thing or it cannot be read, in which
/// case the processor's word has to do.
fn reason_against_tsc(features: &ClockFeatures, kernel_clock_source: Option<&str>) -> Option<FallbackReason> {
    if !features.has_rdtscp {
        return Some(FallbackReason::NoRdtscp);
    }
    if !features.is_invariant {
        return Some(FallbackReason::NotInvariant);
    }
    match kernel_clock_source {
        // For about the first second after boot, Linux calls the same counter "tsc-early".
        None | Some("" | "tsc" | "tsc-early") => None,
        Some(other) => Some(FallbackReason::KernelClockSource(other.to_owned())),
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn kernel_clock_source() -> Option<String> {
    let path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    Some(std::fs::read_to_string(path).ok()?.trim().to_owned())
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn kernel_clock_source() -> Option<String> {
    None
}

/// Whether RDTSC would end the process with a signal.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn is_forbidden() -> bool {
    let mut mode: libc::c_int = 0;
    // SAFETY: PR_GET_TSC stores an int through its second argument, which points to one.
    let result = unsafe { libc::prctl(libc::PR_GET_TSC, &raw mut mode) };
    // 2 is PR_TSC_SIGSEGV.
    result == 0 && mode == 2
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn is_forbidden() -> bool {
    false
}

fn cpuid(leaf: u32) -> std::arch::x86_64::CpuidResult {
    // Newer compilers consider the function safe, since every x86-64 processor has the instruction.
    #[allow(unused_unsafe)]
    // SAFETY: every x86-64 processor has CPUID, and it only writes registers.
    unsafe {
        __cpuid(leaf)
    }
}

/// How many independent additions a core can make in a cycle: four on AMD's families 17h (Zen, Zen 2) and 19h (Zen 3, Zen 4).
pub(crate) fn known_adds_per_cycle() -> Option<f64> {
    matches!(amd_family(), Some(ZEN_TO_ZEN_2 | ZEN_3_AND_4)).then_some(4.0)
}

pub(crate) fn are_chains_known_to_overlap() -> bool {
    amd_family() == Some(ZEN_3_AND_4)
}

const ZEN_TO_ZEN_2: u32 = 0x17;
const ZEN_3_AND_4: u32 = 0x19;

/// The family of a processor by AMD. It is asked for once: a hypervisor takes some microseconds to answer.
fn amd_family() -> Option<u32> {
    static FAMILY: OnceCell<Option<u32>> = OnceCell::new();
    *FAMILY.get_or_init(|| {
        let vendor = cpuid(0);
        let is_amd = [vendor.ebx, vendor.edx, vendor.ecx] == [*b"Auth", *b"enti", *b"cAMD"].map(u32::from_le_bytes);
        let signature = cpuid(1).eax;
        is_amd.then_some(((signature >> 8) & 0xf) + ((signature >> 20) & 0xff))
    })
}

/// Leaf `4000_0010`: VMware's invention, which KVM, ACRN and others have adopted, states the frequency in kilohertz.
fn hypervisor_frequency() -> Option<f64> {
    let is_guest = cpuid(1).ecx & (1 << 31) != 0;
    if !is_guest || cpuid(0x4000_0000).eax < 0x4000_0010 {
        return None;
    }
    tables::hertz_from_kilohertz(cpuid(0x4000_0010).eax.into())
}

/// Leaf 15h: the crystal's frequency and the ratio of the TSC to it.
fn cpuid_frequency() -> Option<f64> {
    if cpuid(0).eax < 0x15 {
        return None;
    }
    let leaf = cpuid(0x15);
    tables::hertz_from_crystal(leaf.ecx, leaf.ebx, leaf.eax)
}

/// A file that some vendors' kernels have; not in the mainline.
fn kernel_file_frequency() -> Option<f64> {
    tables::hertz_from_kilohertz_file(&std::fs::read_to_string("/sys/devices/system/cpu/cpu0/tsc_freq_khz").ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: ClockFeatures = ClockFeatures { has_rdtscp: true, is_invariant: true };

    #[test]
    fn the_tsc_is_used_when_processor_and_kernel_agree() {
        assert_eq!(reason_against_tsc(&GOOD, Some("tsc")), None);
        assert_eq!(reason_against_tsc(&GOOD, Some("tsc-early")), None);
    }

    #[test]
    fn the_processor_is_trusted_when_the_kernel_says_nothing() {
        assert_eq!(reason_against_tsc(&GOOD, None), None);
        assert_eq!(reason_against_tsc(&GOOD, Some("")), None);
    }

    #[test]
    fn every_objection_to_the_tsc_leads_to_the_operating_system() {
        let old = ClockFeatures { has_rdtscp: false, is_invariant: true };
        assert_eq!(reason_against_tsc(&old, Some("tsc")), Some(FallbackReason::NoRdtscp));
        let varying = ClockFeatures { has_rdtscp: true, is_invariant: false };
        assert_eq!(reason_against_tsc(&varying, Some("tsc")), Some(FallbackReason::NotInvariant));
        let hpet = Some(FallbackReason::KernelClockSource("hpet".to_owned()));
        assert_eq!(reason_against_tsc(&GOOD, Some("hpet")), hpet);
    }

    #[test]
    fn the_low_half_is_the_low_half() {
        if source() == ClockSource::Tsc {
            // The counter moves on between the readings, so they are bracketed rather than compared.
            let _pinned = crate::affinity::suggested_cpu().map(crate::affinity::pin_to);
            let before = tsc_at_start();
            let low = tsc_at_start_u32();
            let after = tsc_at_stop();
            let offset = u64::from(low.wrapping_sub(before as u32));
            assert!(offset <= after - before, "{low:#x} between {before:#x} and {after:#x}");
        }
    }
}
