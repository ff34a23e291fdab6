//! 64-bit PowerPC: the time base register.
//!
//! `mfspr 268` reads the time base. `isync` lets everything before it finish as far as it takes to know that it
//! cannot fault, and fetches what follows anew, so the reading is neither early nor overtaken by the code behind it.
//! Stores may still be under way. The register usually counts at 512 MHz, in 2 ns ticks, and arrives in one piece, so
//! 32 bits save nothing.
//!
//! The file is compiled only where the compiler accepts inline assembly for this processor; `build.rs` finds out.

use std::arch::asm;

use crate::frequency::{FrequencySource, Rung, tables};
use crate::{ClockSource, FallbackReason};

#[inline(always)]
pub(crate) fn start() -> u64 {
    time_base()
}

#[inline(always)]
pub(crate) fn stop() -> u64 {
    time_base()
}

#[inline(always)]
pub(crate) fn start_u32() -> u32 {
    time_base() as u32
}

#[inline(always)]
pub(crate) fn stop_u32() -> u32 {
    time_base() as u32
}

#[inline(always)]
fn time_base() -> u64 {
    let ticks: u64;
    // SAFETY: the instructions access no memory and no register but the one named, and programs may read the time base.
    // Without `nomem`, the compiler moves no memory access across.
    unsafe {
        asm!("isync", "mfspr {ticks}, 268", "isync", ticks = out(reg) ticks, options(nostack, preserves_flags));
    }
    ticks
}

pub(crate) fn source() -> ClockSource {
    ClockSource::TimeBase
}

pub(crate) fn fallback_reason() -> Option<FallbackReason> {
    None
}

pub(crate) const LADDER: &[Rung] = &[Rung { source: FrequencySource::CpuInfo, ticks_per_second: cpu_info_frequency }];

fn cpu_info_frequency() -> Option<f64> {
    tables::hertz_from_cpu_info(&std::fs::read_to_string("/proc/cpuinfo").ok()?)
}
