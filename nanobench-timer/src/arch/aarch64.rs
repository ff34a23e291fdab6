//! 64-bit Arm: the virtual counter of the generic timer, ordered by instruction barriers.
//!
//! Reading `CNTVCT_EL0` is not ordered with the instructions around it: the architecture lets a processor read it
//! early, before instructions that precede it. `ISB` throws away what has been fetched and begins again behind itself
//! once everything before it has run its course, so one in front of the reading keeps it from being early, and one
//! behind it keeps the timed code (or, at the end of the region, the code that follows) from beginning before the
//! counter has been read. Both ends need both barriers and are therefore the same.
//!
//! `ISB` does not wait until stores have reached the cache, nor for a load whose value nobody has used. `DSB` would,
//! for several times the price. Code whose result goes through `black_box` has used its loads.
//!
//! The self-ordered `CNTVCTSS_EL0` of newer processors would save the first barrier, but finding out whether it
//! exists would cost a branch, and most processors do not have it. The cycle counter `PMCCNTR_EL0` traps unless the
//! kernel has opened it, which no common one does.
//!
//! A tick is long, 41.7 ns at the 24 MHz that many systems have, so samples must be made of more calls than on
//! x86-64. There is nothing to save in 32 bits, since the counter arrives in one register.

use std::arch::asm;

use crate::frequency::{FrequencySource, Rung};
use crate::{ClockSource, FallbackReason};

#[inline(always)]
pub(crate) fn start() -> u64 {
    counter()
}

#[inline(always)]
pub(crate) fn stop() -> u64 {
    counter()
}

#[inline(always)]
pub(crate) fn start_u32() -> u32 {
    counter() as u32
}

#[inline(always)]
pub(crate) fn stop_u32() -> u32 {
    counter() as u32
}

#[inline(always)]
fn counter() -> u64 {
    let ticks: u64;
    // SAFETY: the instructions touch no memory and no register but the one named, and every common kernel lets
    // programs read this counter because its own clock functions do so in the program's name. Without `nomem`, the
    // compiler moves no memory access across.
    unsafe {
        asm!("isb", "mrs {ticks}, cntvct_el0", "isb", ticks = out(reg) ticks, options(nostack, preserves_flags));
    }
    ticks
}

pub(crate) fn source() -> ClockSource {
    ClockSource::GenericTimer
}

pub(crate) fn fallback_reason() -> Option<FallbackReason> {
    None
}

pub(crate) const LADDER: &[Rung] = &[Rung { source: FrequencySource::Register, ticks_per_second: register_frequency }];

/// `CNTFRQ_EL0`, which the firmware has written for the software's information. The hardware does not check it.
fn register_frequency() -> Option<f64> {
    let hertz: u64;
    // SAFETY: the instruction touches no memory and no register but the one named, and is allowed wherever the
    // counter is.
    unsafe {
        asm!("mrs {hertz}, cntfrq_el0", hertz = out(reg) hertz, options(nomem, nostack, preserves_flags));
    }
    // Only the low 32 bits carry the frequency.
    let hertz = hertz as u32;
    (hertz != 0).then_some(f64::from(hertz))
}
