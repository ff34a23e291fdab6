//! 64-bit RISC-V: the `time` counter between memory fences.
//!
//! `rdcycle` would count core cycles, but recent kernels let it trap, since it gives away too much to an attacker.
//! `rdtime` is what their own clock functions use.
//!
//! The instruction set has no barrier for instructions that a program could use: `fence` orders loads, stores and
//! device accesses with one another and leaves arithmetic alone. What holds the reading in place beyond that is that
//! reading the counter is slow (it often is a trap to the firmware) and that a tick, 20 to 1000 ns, is longer than
//! what an out-of-order core can have in flight.

use std::arch::asm;

use crate::frequency::{FrequencySource, Rung, tables};
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
    // SAFETY: the instructions access no memory and no register but the one named, and every common kernel lets
    // programs read this counter. Without `nomem`, the compiler moves no memory access across.
    unsafe {
        asm!("fence", "rdtime {ticks}", "fence", ticks = out(reg) ticks, options(nostack, preserves_flags));
    }
    ticks
}

pub(crate) fn source() -> ClockSource {
    ClockSource::RiscvTime
}

pub(crate) fn fallback_reason() -> Option<FallbackReason> {
    None
}

pub(crate) const LADDER: &[Rung] =
    &[Rung { source: FrequencySource::DeviceTree, ticks_per_second: device_tree_frequency }];

fn device_tree_frequency() -> Option<f64> {
    tables::hertz_from_device_tree(&std::fs::read("/proc/device-tree/cpus/timebase-frequency").ok()?)
}
