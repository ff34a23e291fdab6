//! Which CPUs this thread may run on, and keeping it on one of them.
//!
//! A thread that moves loses its caches and its branch history, and a counter need not be the same on the other CPU.
//! A thread that stays may have picked a CPU that is busy with interrupts, so pinning does not always make timings
//! better, but it makes them comparable.
//!
//! Linux, Android, FreeBSD and Windows (within the thread's processor group) can pin. macOS and the others cannot:
//! there, the list of CPUs is empty and pinning does nothing.
//!
//! Raising the thread's priority is deliberately not offered. Real-time scheduling classes make timings slower and more
//! scattered rather than better, since the kernel throttles such threads and moves its own work on top of them.

use std::fmt;
use std::io;
use std::marker::PhantomData;

/// The CPUs that this thread may run on, in ascending order. Empty where the system cannot tell.
///
/// ```
/// println!("{} CPUs are mine", nanobench_timer::affinity::available_cpus().len());
/// ```
#[must_use]
pub fn available_cpus() -> Vec<usize> {
    system::affinity().map(|set| set.cpus()).unwrap_or_default()
}

/// The CPU that this thread runs on at the moment, or `None` where the system cannot tell. Unless the thread is
/// pinned, it may be another by the time the function returns.
///
/// ```
/// if let Some(cpu) = nanobench_timer::affinity::current_cpu() {
///     println!("running on CPU {cpu}");
/// }
/// ```
#[must_use]
pub fn current_cpu() -> Option<usize> {
    system::current_cpu()
}

/// Keeps this thread on one CPU until the result is dropped, which gives the thread back the CPUs that it had before.
///
/// Threads that are created meanwhile inherit the restriction and keep it. Where the system cannot pin, this succeeds
/// without any effect, which [`Pinned::cpu`] tells.
///
/// # Errors
///
/// If there is no such CPU, or this process may not use it.
///
/// ```
/// use nanobench_timer::affinity::{available_cpus, current_cpu, pin_to};
///
/// # fn main() -> std::io::Result<()> {
/// if let Some(&last) = available_cpus().last() {
///     let _pinned = pin_to(last)?;
///     assert_eq!(current_cpu(), Some(last));
/// }
/// # Ok(())
/// # }
/// ```
pub fn pin_to(cpu: usize) -> io::Result<Pinned> {
    let Some(previous) = system::affinity() else {
        return Ok(Pinned { restore: None, _not_send: PhantomData });
    };
    let result = match system::CpuSet::only(cpu) {
        Some(set) => set.apply(),
        None => Err(io::ErrorKind::InvalidInput.into()),
    };
    match result {
        Ok(()) => Ok(Pinned { restore: Some((cpu, previous)), _not_send: PhantomData }),
        Err(error) => Err(io::Error::new(error.kind(), PinError { cpu, available: previous.cpus(), error })),
    }
}

/// A CPU to pin a measurement to: one of the available ones, chosen at random, but none of the first two if there are
/// more, since interrupts tend to be sent there. `None` where the system cannot tell which there are.
///
/// Choosing anew in every process keeps several of them from crowding one core and shows when a result depends on the
/// core.
///
/// ```
/// use nanobench_timer::affinity::{pin_to, suggested_cpu};
///
/// # fn main() -> std::io::Result<()> {
/// let _pinned = suggested_cpu().map(pin_to).transpose()?;
/// # Ok(())
/// # }
/// ```
#[must_use]
pub fn suggested_cpu() -> Option<usize> {
    let cpus = available_cpus();
    // The standard library's hasher is keyed at random in every process, and anew for each instance.
    let random = std::hash::BuildHasher::hash_one(&std::collections::hash_map::RandomState::new(), 0);
    choose(&cpus, random)
}

fn choose(cpus: &[usize], random: u64) -> Option<usize> {
    let candidates = if cpus.len() > 2 { &cpus[2..] } else { cpus };
    let count = candidates.len() as u64;
    if count == 0 { None } else { Some(candidates[(random % count) as usize]) }
}

/// Keeps the thread that made it on one CPU. Dropping it restores what was before.
///
/// It belongs to that thread, since affinity is a property of threads, and cannot be sent to another:
///
/// ```compile_fail,E0277
/// let pinned = nanobench_timer::affinity::pin_to(0).unwrap();
/// std::thread::spawn(move || drop(pinned));
/// ```
#[derive(Debug)]
#[must_use = "the thread is unpinned as soon as this is dropped"]
pub struct Pinned {
    restore: Option<(usize, system::CpuSet)>,
    _not_send: PhantomData<*const ()>,
}

impl Pinned {
    /// The CPU that the thread is held on, or `None` where the system cannot pin.
    #[must_use]
    pub fn cpu(&self) -> Option<usize> {
        self.restore.as_ref().map(|(cpu, _)| *cpu)
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if let Some((_, previous)) = &self.restore {
            // It can only fail if those CPUs have been taken away meanwhile, in which case the kernel has found others.
            let _ = previous.apply();
        }
    }
}

/// Explains why a thread could not be pinned.
#[derive(Debug)]
struct PinError {
    cpu: usize,
    available: Vec<usize>,
    error: io::Error,
}

impl fmt::Display for PinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cpu, available, error } = self;
        if available.contains(cpu) {
            return write!(f, "cannot keep this thread on CPU {cpu}: {error}");
        }
        write!(f, "cannot keep this thread on CPU {cpu}, it may use only ")?;
        write_ranges(f, available)
    }
}

impl std::error::Error for PinError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// `0-3, 8`: ascending numbers, runs drawn together.
fn write_ranges(f: &mut fmt::Formatter<'_>, ascending: &[usize]) -> fmt::Result {
    for (index, run) in ascending.chunk_by(|a, b| a + 1 == *b).enumerate() {
        let separator = if index == 0 { "" } else { ", " };
        match *run {
            [first, .., last] => write!(f, "{separator}{first}-{last}")?,
            [only] => write!(f, "{separator}{only}")?,
            [] => {}
        }
    }
    Ok(())
}

#[cfg(all(any(target_os = "linux", target_os = "android"), not(miri)))]
mod system {
    use std::io;

    type Word = libc::c_ulong;
    const BITS: usize = Word::BITS as usize;
    /// The kernel refuses a buffer that is smaller than its own set. No kernel is built for more CPUs than this.
    const MAX_WORDS: usize = 65_536 / BITS;

    /// One bit for each CPU, as the kernel has it. The type of the C library would end at 1024.
    #[derive(Debug)]
    pub(super) struct CpuSet(Vec<Word>);

    impl CpuSet {
        pub(super) fn only(cpu: usize) -> Option<Self> {
            if cpu >= MAX_WORDS * BITS {
                return None;
            }
            let mut words = vec![0; cpu / BITS + 1];
            words[cpu / BITS] = 1 << (cpu % BITS);
            Some(Self(words))
        }

        pub(super) fn cpus(&self) -> Vec<usize> {
            let bits = |word: Word| (0..BITS).filter(move |bit| word >> bit & 1 != 0);
            self.0.iter().enumerate().flat_map(|(i, word)| bits(*word).map(move |bit| i * BITS + bit)).collect()
        }

        pub(super) fn apply(&self) -> io::Result<()> {
            let this_thread = 0;
            let length = size_of_val(self.0.as_slice());
            // SAFETY: the kernel reads `length` bytes, which is what the vector holds.
            let result = unsafe { libc::sched_setaffinity(this_thread, length, self.0.as_ptr().cast()) };
            if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
        }
    }

    pub(super) fn affinity() -> Option<CpuSet> {
        let this_thread = 0;
        let mut words: Vec<Word> = vec![0; 1024 / BITS];
        loop {
            let length = size_of_val(words.as_slice());
            // SAFETY: the kernel writes at most `length` bytes, which is what the vector holds.
            let result = unsafe { libc::sched_getaffinity(this_thread, length, words.as_mut_ptr().cast()) };
            if result == 0 {
                return Some(CpuSet(words));
            }
            if io::Error::last_os_error().raw_os_error() != Some(libc::EINVAL) || words.len() >= MAX_WORDS {
                return None;
            }
            words.resize(words.len() * 2, 0);
        }
    }

    pub(super) fn current_cpu() -> Option<usize> {
        // SAFETY: the function only returns a number.
        usize::try_from(unsafe { libc::sched_getcpu() }).ok()
    }
}

#[cfg(all(target_os = "freebsd", not(miri)))]
mod system {
    use std::io;
    use std::mem;

    const CPUS: usize = 8 * size_of::<libc::cpuset_t>();

    /// The C library's set, which has room for every CPU that the kernel supports.
    pub(super) struct CpuSet(libc::cpuset_t);

    impl std::fmt::Debug for CpuSet {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.debug_tuple("CpuSet").field(&self.cpus()).finish()
        }
    }

    impl CpuSet {
        fn empty() -> Self {
            // SAFETY: the type is an array of integers, for which zero is a value.
            Self(unsafe { mem::zeroed() })
        }

        pub(super) fn only(cpu: usize) -> Option<Self> {
            if cpu >= CPUS {
                return None;
            }
            let mut set = Self::empty();
            // SAFETY: the set has a bit for this CPU.
            unsafe { libc::CPU_SET(cpu, &mut set.0) };
            Some(set)
        }

        pub(super) fn cpus(&self) -> Vec<usize> {
            // SAFETY: the set has a bit for each of these CPUs.
            (0..CPUS).filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &self.0) }).collect()
        }

        pub(super) fn apply(&self) -> io::Result<()> {
            // SAFETY: the kernel reads one set, which the pointer is to. The identifier -1 means this thread.
            let result = unsafe {
                libc::cpuset_setaffinity(
                    libc::CPU_LEVEL_WHICH,
                    libc::CPU_WHICH_TID,
                    -1,
                    size_of::<libc::cpuset_t>(),
                    &raw const self.0,
                )
            };
            if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
        }
    }

    pub(super) fn affinity() -> Option<CpuSet> {
        let mut set = CpuSet::empty();
        // SAFETY: the kernel writes one set, which the pointer is to. The identifier -1 means this thread.
        let result = unsafe {
            libc::cpuset_getaffinity(
                libc::CPU_LEVEL_WHICH,
                libc::CPU_WHICH_TID,
                -1,
                size_of::<libc::cpuset_t>(),
                &raw mut set.0,
            )
        };
        (result == 0).then_some(set)
    }

    pub(super) fn current_cpu() -> Option<usize> {
        // SAFETY: the function only returns a number.
        usize::try_from(unsafe { libc::sched_getcpu() }).ok()
    }
}

#[cfg(all(windows, not(miri)))]
mod system {
    use std::ffi::c_void;
    use std::io;

    // The few functions that are needed, as their documentation declares them. All are part of every supported Windows.
    #[link(name = "kernel32")]
    unsafe extern "system" {
        safe fn GetCurrentThread() -> *mut c_void;
        safe fn GetCurrentProcessorNumber() -> u32;
        fn SetThreadAffinityMask(thread: *mut c_void, mask: usize) -> usize;
    }

    /// One bit for each CPU of the thread's processor group.
    #[derive(Debug)]
    pub(super) struct CpuSet(usize);

    impl CpuSet {
        pub(super) fn only(cpu: usize) -> Option<Self> {
            Some(Self(1_usize.checked_shl(u32::try_from(cpu).ok()?)?))
        }

        pub(super) fn cpus(&self) -> Vec<usize> {
            (0..usize::BITS as usize).filter(|cpu| self.0 >> cpu & 1 != 0).collect()
        }

        pub(super) fn apply(&self) -> io::Result<()> {
            set_mask(self.0).map(drop).ok_or_else(io::Error::last_os_error)
        }
    }

    /// Returns the previous mask.
    fn set_mask(mask: usize) -> Option<usize> {
        // SAFETY: the handle is that of this thread, which is always valid.
        let previous = unsafe { SetThreadAffinityMask(GetCurrentThread(), mask) };
        (previous != 0).then_some(previous)
    }

    /// Windows tells a thread's mask only in exchange for a new one, so the thread is held where it is for a moment.
    pub(super) fn affinity() -> Option<CpuSet> {
        let CpuSet(here) = CpuSet::only(current_cpu()?)?;
        let previous = set_mask(here)?;
        set_mask(previous)?;
        Some(CpuSet(previous))
    }

    pub(super) fn current_cpu() -> Option<usize> {
        usize::try_from(GetCurrentProcessorNumber()).ok()
    }
}

#[cfg(any(miri, not(any(target_os = "linux", target_os = "android", target_os = "freebsd", windows))))]
mod system {
    use std::io;

    /// Never made: nobody can say which CPUs there are.
    #[derive(Debug)]
    pub(super) enum CpuSet {}

    impl CpuSet {
        pub(super) fn only(_cpu: usize) -> Option<Self> {
            None
        }

        pub(super) fn cpus(&self) -> Vec<usize> {
            match *self {}
        }

        pub(super) fn apply(&self) -> io::Result<()> {
            match *self {}
        }
    }

    pub(super) fn affinity() -> Option<CpuSet> {
        None
    }

    pub(super) fn current_cpu() -> Option<usize> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Ranges<'a>(&'a [usize]);

    impl fmt::Display for Ranges<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write_ranges(f, self.0)
        }
    }

    #[test]
    fn neighbouring_cpus_are_written_as_a_range() {
        assert_eq!(Ranges(&[0, 1, 2, 3, 8, 10, 11]).to_string(), "0-3, 8, 10-11");
        assert_eq!(Ranges(&[]).to_string(), "");
    }

    #[test]
    fn the_first_two_cpus_are_avoided_where_there_are_more() {
        assert_eq!(choose(&[4, 5, 6], 12_345), Some(6));
        assert_eq!(choose(&[4, 5, 6, 9], 1), Some(9));
        assert_eq!(choose(&[4, 5], 2), Some(4));
        assert_eq!(choose(&[4], 7), Some(4));
        assert_eq!(choose(&[], 7), None);
    }

    #[test]
    fn a_set_of_one_cpu_holds_that_cpu() {
        for cpu in [0, 5, 31] {
            if let Some(set) = system::CpuSet::only(cpu) {
                assert_eq!(set.cpus(), [cpu]);
            }
        }
    }

    #[test]
    fn an_absurd_cpu_is_refused() {
        assert!(system::CpuSet::only(usize::MAX).is_none());
    }
}
