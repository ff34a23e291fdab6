//! Ordered readings of the processor's clock, what they cost, how finely and how fast it ticks, and what else a measurement has to
//! have in hand: the CPU that it runs on, and what that CPU's branch predictor remembers.
//!
#![doc = include_str!("../README.md")]

pub mod affinity;
mod arch;
mod cost;
mod frequency;
mod interrupts;
pub mod metronome;
mod os_clock;
pub mod predictor;
pub mod robust;
mod source;

pub use cost::{PairCost, pair_cost, resolution_ticks_over_cpus, step_ticks};
pub use frequency::{ClockPair, Frequency, FrequencySource, frequency};
pub use source::{ClockSource, FallbackReason};

/// Reads the clock before the code that is to be timed, in ticks.
///
/// Everything that precedes the call in program order has happened before the clock is read, and nothing that follows
/// starts before it has been read. What "happened" means differs a little between processors; the comments at the
/// instructions in `src/arch/` say it for each.
///
/// Close the region with [`stop`], and take the difference of the two as a signed or floating-point number: after a
/// move to a processor whose counter lags, it can be negative.
///
/// On x86-64, finding out which clock to read costs each of the two a load and a branch, about five ticks in all.
///
/// The very first call of any function that reads the clock decides which clock that is, which can take some tens of
/// microseconds. Call one of them, for example [`clock_source`], before anything that must not be disturbed.
///
/// ```
/// let begin = nanobench_timer::start();
/// let sum: u64 = std::hint::black_box(0..100_u64).sum();
/// let end = nanobench_timer::stop();
/// std::hint::black_box(sum);
/// let ticks = end.wrapping_sub(begin) as i64;
/// let nanoseconds = nanobench_timer::frequency().nanoseconds(ticks as f64);
/// println!("{nanoseconds:.0} ns, the clock's own cost included");
/// ```
#[inline(always)]
#[must_use]
pub fn start() -> u64 {
    arch::start()
}

/// Reads the clock after the code that was timed, in ticks. The counterpart of [`start`].
///
/// The clock is not read before everything that precedes the call in program order has happened, and nothing that
/// follows the call can slip into the timed region.
#[inline(always)]
#[must_use]
pub fn stop() -> u64 {
    arch::stop()
}

/// The low half of what [`start`] reads, for some cycles less.
///
/// It wraps, about once a second or two where the clock ticks a few billion times a second, so only differences between
/// readings that lie closer together mean anything, and only when taken with `wrapping_sub`.
///
/// ```
/// let begin = nanobench_timer::start_u32();
/// let end = nanobench_timer::stop_u32();
/// let ticks = end.wrapping_sub(begin);
/// # let _ = ticks;
/// ```
#[inline(always)]
#[must_use]
pub fn start_u32() -> u32 {
    arch::start_u32()
}

/// The low half of what [`stop`] reads, for some cycles less. The counterpart of [`start_u32`], which says how to use
/// it.
#[inline(always)]
#[must_use]
pub fn stop_u32() -> u32 {
    arch::stop_u32()
}

/// The clock that [`start`] and [`stop`] read on this machine. It stays the same for the life of the process.
///
/// ```
/// println!("timing with the {}", nanobench_timer::clock_source());
/// ```
#[must_use]
pub fn clock_source() -> ClockSource {
    arch::source()
}

/// Why the operating system's clock is read although this kind of processor has a counter, or `None` where the
/// counter is read or there is none to expect.
///
/// ```
/// if let Some(reason) = nanobench_timer::fallback_reason() {
///     eprintln!("short functions need longer samples, because {reason}");
/// }
/// ```
#[must_use]
pub fn fallback_reason() -> Option<FallbackReason> {
    arch::fallback_reason()
}
