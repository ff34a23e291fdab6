//! Picks the processor. Each file beside this one holds one processor's way of reading its clock, and nothing else.
//!
//! A module for a processor has the four readings, `source` and `fallback_reason`, and `LADDER`: where to look up how
//! fast the clock ticks, best first.

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86_64;
#[cfg(all(target_arch = "x86_64", not(miri)))]
pub(crate) use x86_64::*;

#[cfg(all(target_arch = "aarch64", not(miri)))]
mod aarch64;
#[cfg(all(target_arch = "aarch64", not(miri)))]
pub(crate) use aarch64::*;

#[cfg(all(target_arch = "riscv64", not(miri)))]
mod riscv64;
#[cfg(all(target_arch = "riscv64", not(miri)))]
pub(crate) use riscv64::*;

#[cfg(all(target_arch = "powerpc64", nanobench_timer_powerpc64_asm, not(miri)))]
mod powerpc64;
#[cfg(all(target_arch = "powerpc64", nanobench_timer_powerpc64_asm, not(miri)))]
pub(crate) use powerpc64::*;

#[cfg(any(
    miri,
    not(any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64",
        all(target_arch = "powerpc64", nanobench_timer_powerpc64_asm)
    ))
))]
mod other;
#[cfg(any(
    miri,
    not(any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64",
        all(target_arch = "powerpc64", nanobench_timer_powerpc64_asm)
    ))
))]
pub(crate) use other::*;
