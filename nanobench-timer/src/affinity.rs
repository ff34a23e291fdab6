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

use crate::interrupts;

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
/// Threads that are created meanwhile inherit the restriction and keep it, unless they call [`set_available_cpus`]. Where the
/// system cannot pin, this succeeds without any effect, which [`Pinned::cpu`] tells.
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
    let result = match system::CpuSet::of(&[cpu]) {
        Some(set) => set.apply(),
        None => Err(io::ErrorKind::InvalidInput.into()),
    };
    match result {
        Ok(()) => Ok(Pinned { restore: Some((cpu, previous)), _not_send: PhantomData }),
        Err(error) => Err(io::Error::new(error.kind(), PinError { cpu, available: previous.cpus(), error })),
    }
}

/// Lets this thread run on these CPUs and on no others, for good: what a thread that inherited a restriction takes back.
/// [`pin_to`] is for a while. Where the system cannot pin, this succeeds without any effect.
///
/// # Errors
///
/// If there is none of these CPUs, or this process may not use any of them.
///
/// ```
/// use nanobench_timer::affinity::{available_cpus, pin_to, set_available_cpus};
///
/// # fn main() -> std::io::Result<()> {
/// let all = available_cpus();
/// let _pinned = all.first().map(|first| pin_to(*first)).transpose()?;
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         set_available_cpus(&all).unwrap();
///         assert_eq!(available_cpus(), all);
///     });
/// });
/// # Ok(())
/// # }
/// ```
pub fn set_available_cpus(cpus: &[usize]) -> io::Result<()> {
    if system::affinity().is_none() {
        return Ok(());
    }
    system::CpuSet::of(cpus).ok_or(io::ErrorKind::InvalidInput)?.apply()
}

/// A CPU to pin a measurement to: of those available, one of those that serve the fewest interrupts of devices, chosen at
/// random. `None` where the system cannot tell which there are.
///
/// Linux is asked twice, 20 ms apart, how many interrupts of devices each CPU has served, unless there is only one to choose.
/// Two more than on the quietest CPU still pass for as few. Where that does not tell the CPUs apart, and where the system does
/// not say, it is none of the first two if there are more, since interrupts tend to be sent there.
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
    let served = if cpus.len() > 1 { interrupts::served(&cpus) } else { None };
    // The standard library's hasher is keyed at random in every process, and anew for each instance.
    let random = std::hash::BuildHasher::hash_one(&std::collections::hash_map::RandomState::new(), 0);
    choose(&cpus, served.as_deref(), random)
}

/// How many interrupts more than on the quietest CPU do not matter. A stray one, such as of a key or of the disk that the
/// program came from, should not decide, and three in 20 ms still take up less than a thousandth of the time.
const TOLERATED_INTERRUPTS: u32 = 2;

/// Chooses one of the CPUs, given how many interrupts each of them served of late if that is known.
fn choose(cpus: &[usize], served: Option<&[u32]>, random: u64) -> Option<usize> {
    let served = served.unwrap_or_default();
    let most = served.iter().min().map_or(0, |fewest| fewest.saturating_add(TOLERATED_INTERRUPTS));
    let quiet: Vec<usize> =
        cpus.iter().zip(served).filter(|(_, served)| **served <= most).map(|(cpu, _)| *cpu).collect();
    let tells_apart = !quiet.is_empty() && quiet.len() < cpus.len();
    let candidates = match cpus {
        _ if tells_apart => &quiet[..],
        [_, _, others @ ..] if !others.is_empty() => others,
        _ => cpus,
    };
    let count = candidates.len() as u64;
    if count == 0 { None } else { Some(candidates[(random % count) as usize]) }
}

/// How lists of CPUs are written: `0-3, 8` for ascending numbers, runs drawn together.
///
/// ```
/// assert_eq!(nanobench_timer::affinity::ranges(&[0, 1, 2, 3, 8, 10, 11]), "0-3, 8, 10-11");
/// ```
#[must_use]
pub fn ranges(ascending: &[usize]) -> String {
    let runs = ascending.chunk_by(|a, b| a + 1 == *b).map(|run| match *run {
        [first, .., last] => format!("{first}-{last}"),
        [only] => only.to_string(),
        [] => String::new(),
    });
    runs.collect::<Vec<_>>().join(", ")
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
        write!(f, "cannot keep this thread on CPU {cpu}, it may use only {}", ranges(available))
    }
}

impl std::error::Error for PinError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
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
        pub(super) fn of(cpus: &[usize]) -> Option<Self> {
            let last = *cpus.iter().max()?;
            if last >= MAX_WORDS * BITS {
                return None;
            }
            let mut words = vec![0; last / BITS + 1];
            for cpu in cpus {
                words[cpu / BITS] |= 1 << (cpu % BITS);
            }
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

        pub(super) fn of(cpus: &[usize]) -> Option<Self> {
            let last = *cpus.iter().max()?;
            if last >= CPUS {
                return None;
            }
            let mut set = Self::empty();
            for cpu in cpus {
                // SAFETY: the set has a bit for this CPU, which is at most the last.
                unsafe { libc::CPU_SET(*cpu, &mut set.0) };
            }
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
        pub(super) fn of(cpus: &[usize]) -> Option<Self> {
            let bit = |cpu: &usize| 1_usize.checked_shl(u32::try_from(*cpu).ok()?);
            let mask = cpus.iter().map(bit).try_fold(0, |mask, bit| Some(mask | bit?))?;
            (mask != 0).then_some(Self(mask))
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
        let CpuSet(here) = CpuSet::of(&[current_cpu()?])?;
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
        pub(super) fn of(_cpus: &[usize]) -> Option<Self> {
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
    use std::collections::BTreeSet;

    #[test]
    fn no_cpus_are_no_ranges() {
        assert_eq!(ranges(&[]), "");
        assert_eq!(ranges(&[7]), "7");
        assert_eq!(ranges(&[5, 7]), "5, 7");
    }

    /// All that can be chosen.
    fn candidates(cpus: &[usize], served: Option<&[u32]>) -> Vec<usize> {
        (0..cpus.len() as u64)
            .filter_map(|random| choose(cpus, served, random))
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect()
    }

    #[test]
    fn cpus_that_serve_interrupts_are_avoided() {
        assert_eq!(candidates(&[0, 1], Some(&[0, 900])), [0]);
        assert_eq!(candidates(&[0, 1], Some(&[900, 30])), [1]);
        assert_eq!(candidates(&[4, 5, 6, 9], Some(&[0, 0, 50, 0])), [4, 5, 9]);
        assert_eq!(candidates(&[4, 5, 6], Some(&[u32::MAX, u32::MAX - 9, u32::MAX])), [5]);
    }

    #[test]
    fn a_few_interrupts_more_do_not_matter() {
        assert_eq!(candidates(&[0, 1], Some(&[2, 0])), [0, 1]);
        assert_eq!(candidates(&[0, 1], Some(&[3, 0])), [1]);
        assert_eq!(candidates(&[0, 1, 2, 3], Some(&[10, 12, 13, 11])), [0, 1, 3]);
        assert_eq!(candidates(&[0, 1], Some(&[u32::MAX; 2])), [0, 1]);
    }

    #[test]
    fn where_nothing_tells_them_apart_the_first_two_cpus_are_avoided_if_there_are_more() {
        for served in [None, Some(&[0, 2, 1, 0][..])] {
            let served = |count| served.map(|served| &served[..count]);
            assert_eq!(candidates(&[4, 5, 6, 9], served(4)), [6, 9]);
            assert_eq!(candidates(&[4, 5, 6], served(3)), [6]);
            assert_eq!(candidates(&[4, 5], served(2)), [4, 5]);
            assert_eq!(candidates(&[4], served(1)), [4]);
            assert_eq!(candidates(&[], served(0)), []);
            assert_eq!(choose(&[], served(0), 7), None);
        }
    }

    #[test]
    fn a_set_holds_the_cpus_that_it_is_made_of() {
        for cpus in [&[0][..], &[5], &[31], &[0, 3, 30]] {
            if let Some(set) = system::CpuSet::of(cpus) {
                assert_eq!(set.cpus(), cpus);
            }
        }
    }

    #[test]
    fn an_absurd_cpu_and_no_cpu_at_all_are_refused() {
        assert!(system::CpuSet::of(&[usize::MAX]).is_none());
        assert!(system::CpuSet::of(&[0, usize::MAX]).is_none());
        assert!(system::CpuSet::of(&[]).is_none());
    }
}
