//! Every other processor: the operating system's clock, in nanoseconds.
//!
//! Reading it is a function call that the processor can overlap with its surroundings, and the compiler can move
//! arithmetic across it as it can across any other call. The compiler fences keep memory accesses on their side. With
//! a cost of tens of nanoseconds, samples must be long anyway, and then the overlap at their ends does not matter.

use std::sync::atomic::{Ordering, compiler_fence};

use crate::frequency::Rung;
use crate::{ClockSource, FallbackReason, os_clock};

#[inline]
pub(crate) fn start() -> u64 {
    now()
}

#[inline]
pub(crate) fn stop() -> u64 {
    now()
}

#[inline]
pub(crate) fn start_u32() -> u32 {
    now() as u32
}

#[inline]
pub(crate) fn stop_u32() -> u32 {
    now() as u32
}

#[inline]
fn now() -> u64 {
    compiler_fence(Ordering::SeqCst);
    let nanoseconds = os_clock::now_ns();
    compiler_fence(Ordering::SeqCst);
    nanoseconds
}

pub(crate) fn source() -> ClockSource {
    ClockSource::OperatingSystem
}

pub(crate) fn fallback_reason() -> Option<FallbackReason> {
    if cfg!(miri) {
        Some(FallbackReason::Interpreted)
    } else if cfg!(target_arch = "powerpc64") {
        Some(FallbackReason::CompilerTooOld)
    } else {
        None
    }
}

/// Nothing to look up: a tick is a nanosecond by definition.
pub(crate) const LADDER: &[Rung] = &[];
