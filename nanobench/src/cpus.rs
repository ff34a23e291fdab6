//! Which CPUs the program may use, and the one that the measuring thread is kept on where that is asked for.

use std::fmt;
use std::io;
use std::num::NonZeroUsize;
use std::thread;

use once_cell::sync::OnceCell;

use nanobench_timer::affinity::{self, Pinned};

/// Where to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placement {
    /// On an available CPU that serves few interrupts.
    Auto,
    /// On the CPU of this number.
    On(usize),
}

/// Why a thread cannot be kept where it should be.
#[derive(Debug)]
pub(crate) enum PlacementError {
    /// There is no such CPU, or the program was told to keep off it.
    Unavailable { cpu: usize, available: Vec<usize> },
    /// The system refuses, and its message names the CPU.
    Refused(io::Error),
}

impl fmt::Display for PlacementError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable { cpu, available } => {
                write!(f, "this program may not use CPU {cpu}, only {}", affinity::ranges(available))
            }
            Self::Refused(error) => error.fmt(f),
        }
    }
}

/// What the program could use before its measuring thread was pinned, which hides it.
struct Unpinned {
    cpus: Vec<usize>,
    parallelism: NonZeroUsize,
}

static UNPINNED: OnceCell<Unpinned> = OnceCell::new();

/// How many processors the program may use, the measuring thread being pinned or not.
pub(crate) fn parallelism() -> NonZeroUsize {
    UNPINNED.get().map_or_else(current_parallelism, |unpinned| unpinned.parallelism)
}

fn current_parallelism() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// Keeps this thread on a CPU until the result is dropped; none where the system cannot pin.
///
/// # Errors
///
/// If that CPU is none of those which the program may use.
pub(crate) fn pin(placement: Placement) -> Result<Option<Pinned>, PlacementError> {
    let unpinned =
        UNPINNED.get_or_init(|| Unpinned { cpus: affinity::available_cpus(), parallelism: current_parallelism() });
    let cpu = match placement {
        _ if unpinned.cpus.is_empty() => None,
        Placement::Auto => affinity::suggested_cpu(),
        Placement::On(cpu) if unpinned.cpus.contains(&cpu) => Some(cpu),
        Placement::On(cpu) => return Err(PlacementError::Unavailable { cpu, available: unpinned.cpus.clone() }),
    };
    cpu.map(affinity::pin_to).transpose().map_err(PlacementError::Refused)
}

/// Lets this thread run wherever the program may: it was started by the measuring one, and would have to share its CPU.
///
/// # Panics
///
/// If all those CPUs have been taken away meanwhile.
pub(crate) fn unpin_new_thread() {
    if let Some(Unpinned { cpus, .. }) = UNPINNED.get() {
        if let Err(error) = affinity::set_available_cpus(cpus) {
            panic!("this thread cannot leave the CPU of the measuring one: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_has_one_cpu_and_the_program_all_of_them() {
        let (before, parallelism_before) = (affinity::available_cpus(), parallelism());
        for placement in before.iter().map(|cpu| Placement::On(*cpu)).chain([Placement::Auto]) {
            let pinned = pin(placement).unwrap();
            let cpu = pinned.as_ref().and_then(Pinned::cpu);
            assert_eq!(cpu.is_some(), !before.is_empty());
            if let Placement::On(wanted) = placement {
                assert_eq!(cpu, Some(wanted));
            }
            assert_eq!(affinity::available_cpus(), Vec::from_iter(cpu));
            assert_eq!(parallelism(), parallelism_before);
            thread::scope(|scope| {
                scope.spawn(|| {
                    unpin_new_thread();
                    assert_eq!(affinity::available_cpus(), before);
                });
            });
            drop(pinned);
            assert_eq!(affinity::available_cpus(), before);
        }
    }

    #[test]
    fn a_cpu_that_the_program_may_not_use_is_refused() {
        let before = affinity::available_cpus();
        for absent in [before.last().map_or(0, |last| last + 7000), usize::MAX] {
            match pin(Placement::On(absent)) {
                Ok(pinned) => assert!(pinned.is_none() && before.is_empty()),
                Err(error) => assert!(
                    error.to_string().starts_with(&format!("this program may not use CPU {absent}, only ")),
                    "{error}"
                ),
            }
            assert_eq!(affinity::available_cpus(), before);
        }
    }
}
