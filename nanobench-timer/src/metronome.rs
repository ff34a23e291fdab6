//! Two metronomes: pieces of code that take a known number of core cycles, whatever the frequency of the core.
//!
//! The clock ticks at a constant rate, the core does not: its frequency wanders with load, temperature and what the other
//! cores do. Where no hardware counter tells core cycles, code of known cost does, if it runs close enough to what is
//! measured.
//!
//! **Dependent additions** wait for each other, and on every current core an addition takes one cycle. So a chain of them
//! takes as many cycles as it has links, even while another hardware thread uses the same core: timing one says how many
//! ticks a cycle has, now.
//!
//! **Independent additions** do not wait, and the core makes as many at once as it has units for. Another hardware thread
//! takes part of these units away: fewer additions a cycle than usual say that the core is shared, now.
//!
//! Additions are of registers, since some processors make additions of constants disappear.

use crate::{start, stop};

/// Additions in a block of [`dependent_ticks`].
pub const DEPENDENT_ADDS: u32 = 100;

/// Additions in a block of [`independent_ticks`].
pub const INDEPENDENT_ADDS: u32 = 120;

/// Whether there are metronomes for this kind of processor. Where there are none, they take no time.
#[must_use]
pub const fn is_available() -> bool {
    cfg!(all(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"), not(miri)))
}

/// Times `blocks` times [`DEPENDENT_ADDS`] additions, each of which waits for the one before: as many core cycles. In ticks,
/// the cost of reading the clock included; the difference between two numbers of blocks is free of it.
///
/// ```
/// use nanobench_timer::metronome::{DEPENDENT_ADDS, dependent_ticks};
///
/// let difference = dependent_ticks(8) as f64 - dependent_ticks(4) as f64;
/// println!("{:.3} ticks a cycle", difference / f64::from(4 * DEPENDENT_ADDS));
/// ```
#[must_use]
pub fn dependent_ticks(blocks: u32) -> u64 {
    let begin = start();
    add_dependently(blocks);
    stop().wrapping_sub(begin)
}

/// Times `blocks` times [`INDEPENDENT_ADDS`] additions, none of which waits for another. In ticks, the cost of reading the
/// clock included.
///
/// ```
/// let ticks = nanobench_timer::metronome::independent_ticks(10);
/// println!("{ticks} ticks, less if nobody else uses the core");
/// ```
#[must_use]
pub fn independent_ticks(blocks: u32) -> u64 {
    let begin = start();
    add_independently(blocks);
    stop().wrapping_sub(begin)
}

/// How many independent additions a core of this processor can make in a cycle, where its kind is known: four on AMD's Zen
/// to Zen 4.
#[must_use]
pub fn known_adds_per_cycle() -> Option<f64> {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    return crate::arch::known_adds_per_cycle();
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    None
}

/// The addition of one to a register.
#[cfg(all(target_arch = "x86_64", not(miri)))]
macro_rules! add_one {
    ($register:literal) => {
        concat!("add {", $register, "}, {one}")
    };
}
#[cfg(all(any(target_arch = "aarch64", target_arch = "riscv64"), not(miri)))]
macro_rules! add_one {
    ($register:literal) => {
        concat!("add {", $register, "}, {", $register, "}, {one}")
    };
}

/// The end of a block: back to its beginning as long as there are blocks left.
#[cfg(all(target_arch = "x86_64", not(miri)))]
macro_rules! next_block {
    () => {
        "dec {blocks}\njnz 2b"
    };
}
#[cfg(all(target_arch = "aarch64", not(miri)))]
macro_rules! next_block {
    () => {
        "sub {blocks}, {blocks}, #1\ncbnz {blocks}, 2b"
    };
}
#[cfg(all(target_arch = "riscv64", not(miri)))]
macro_rules! next_block {
    () => {
        "addi {blocks}, {blocks}, -1\nbnez {blocks}, 2b"
    };
}

#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"), not(miri)))]
fn add_dependently(blocks: u32) {
    // SAFETY: the instructions change nothing but the registers named and the flags.
    unsafe {
        std::arch::asm!(
            "2:",
            ".rept 100",
            add_one!("sum"),
            ".endr",
            next_block!(),
            sum = inout(reg) 0_u64 => _,
            one = in(reg) 1_u64,
            blocks = inout(reg) u64::from(blocks.max(1)) => _,
            options(nomem, nostack),
        );
    }
}

#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"), not(miri)))]
fn add_independently(blocks: u32) {
    // SAFETY: the instructions change nothing but the registers named and the flags.
    unsafe {
        std::arch::asm!(
            "2:",
            ".rept 20",
            add_one!("a"),
            add_one!("b"),
            add_one!("c"),
            add_one!("d"),
            add_one!("e"),
            add_one!("f"),
            ".endr",
            next_block!(),
            a = inout(reg) 0_u64 => _,
            b = inout(reg) 0_u64 => _,
            c = inout(reg) 0_u64 => _,
            d = inout(reg) 0_u64 => _,
            e = inout(reg) 0_u64 => _,
            f = inout(reg) 0_u64 => _,
            one = in(reg) 1_u64,
            blocks = inout(reg) u64::from(blocks.max(1)) => _,
            options(nomem, nostack),
        );
    }
}

#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"), not(miri))))]
fn add_dependently(_blocks: u32) {}

#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"), not(miri))))]
fn add_independently(_blocks: u32) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_metronomes_take_time_where_there_are_any() {
        // An interrupt only makes a reading longer, so the shortest of some tells whether the additions were made.
        let shortest = |read: fn(u32) -> u64| (0..20).map(|_| read(1_000)).min().unwrap_or(0);
        for read in [dependent_ticks, independent_ticks] {
            assert!(!is_available() || shortest(read) > 0);
        }
    }

    #[test]
    fn no_additions_at_all_are_those_of_one_block() {
        let _ = dependent_ticks(0);
        let _ = independent_ticks(0);
    }
}
