//! The operating system's clocks: the one that replaces a processor's counter, and the one that counters are compared
//! with.

use std::time::Instant;

use once_cell::sync::OnceCell;

/// What [`now_ns`] counts from. An `Instant` has no number of its own, only differences.
static BASE: OnceCell<Instant> = OnceCell::new();

/// Nanoseconds by the monotonic clock since the first call in this process. They last for 584 years.
#[inline]
pub(crate) fn now_ns() -> u64 {
    let base = *BASE.get_or_init(Instant::now);
    let elapsed = Instant::now().duration_since(base);
    // `as_nanos` would compute in 128 bits; this stays in 64.
    elapsed.as_secs().wrapping_mul(1_000_000_000).wrapping_add(u64::from(elapsed.subsec_nanos()))
}

/// Nanoseconds by the clock that counters are calibrated against.
///
/// Where there is one, this is the raw monotonic clock: time synchronisation bends the ordinary one by up to 500 ppm
/// while it corrects an offset, and a program that is calibrated in such a minute would keep the error.
#[cfg(all(any(target_os = "linux", target_os = "android", target_vendor = "apple"), not(miri)))]
#[inline]
pub(crate) fn raw_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec that lives until the call has returned.
    if unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_RAW, &raw mut time) } != 0 {
        return now_ns();
    }
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let nanoseconds = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds.wrapping_mul(1_000_000_000).wrapping_add(nanoseconds)
}

/// Nanoseconds by the clock that counters are calibrated against.
#[cfg(not(all(any(target_os = "linux", target_os = "android", target_vendor = "apple"), not(miri))))]
#[inline]
pub(crate) fn raw_ns() -> u64 {
    now_ns()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_clock_runs_backwards() {
        for clock in [now_ns, raw_ns] {
            let mut last = clock();
            for _ in 0..1000 {
                let next = clock();
                assert!(next >= last, "{next} after {last}");
                last = next;
            }
        }
    }
}
