//! Three metronomes: pieces of code that take a known number of core cycles, whatever the frequency of the core.
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
//! **Overlapping chains** notice even a hardware thread that only waits for its memory and leaves the units alone. Each is a chain
//! of multiplications and, behind it, more stores than half the store queue takes. To a core that is ours alone the queue is ours
//! too: the stores wait in it, and the next chain runs while they do. As soon as another hardware thread is awake, the queue is
//! cut into halves; the stores do not fit, the chains run one after the other, and each takes [`CHAIN_CYCLES`] at least.
//! They were found to take 61 cycles and 114 to 120 on AMD's Zen 4. The queue has 64 places there and in Zen 3, 48 in Zen 2, 56
//! in Intel's Skylake and 72 in Ice Lake; where half of it is enough for the stores, the chains always overlap and say nothing.
//!
//! Additions are of registers, since some processors make additions of constants disappear.

use crate::{start, stop};

/// Additions in a block of [`dependent_ticks`].
pub const DEPENDENT_ADDS: u32 = 100;

/// Additions in a block of [`independent_ticks`].
pub const INDEPENDENT_ADDS: u32 = 120;

/// Chains in a block of [`overlapping_ticks`].
pub const OVERLAPPING_CHAINS: u32 = 2;

/// Core cycles from the first multiplication of a chain of [`overlapping_ticks`] to the last, where one takes three: what a chain
/// takes at least if it does not overlap with others.
pub const CHAIN_CYCLES: u32 = 90;

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

/// Whether there are overlapping chains for this kind of processor: for x86-64. Where there are none, they take no time.
#[must_use]
pub const fn has_chains() -> bool {
    cfg!(all(target_arch = "x86_64", not(miri)))
}

/// Times `blocks` times [`OVERLAPPING_CHAINS`] chains of multiplications with stores behind them. In ticks, the cost of reading the
/// clock included.
///
/// ```
/// use nanobench_timer::metronome::{CHAIN_CYCLES, OVERLAPPING_CHAINS, overlapping_ticks};
///
/// let blocks = 50;
/// let ticks = overlapping_ticks(blocks);
/// println!("{ticks} ticks, less than {} core cycles if they overlap", blocks * OVERLAPPING_CHAINS * CHAIN_CYCLES);
/// ```
#[must_use]
pub fn overlapping_ticks(blocks: u32) -> u64 {
    let begin = start();
    multiply_and_store(blocks);
    stop().wrapping_sub(begin)
}

/// Whether it is known of this kind of processor that the chains of [`overlapping_ticks`] overlap on a core that one has to
/// oneself: on AMD's Zen 3 and 4. On others one has to see it once.
#[must_use]
pub fn are_chains_known_to_overlap() -> bool {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    return crate::arch::are_chains_known_to_overlap();
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    false
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

#[cfg(all(target_arch = "x86_64", not(miri)))]
fn multiply_and_store(blocks: u32) {
    let mut place = 0_u64;
    // SAFETY: the instructions write to `place` and change nothing else but the registers named and the flags.
    unsafe {
        std::arch::asm!(
            "2:",
            ".rept 2",
            // What came before is of no account to the chain.
            "xor {product:e}, {product:e}",
            ".rept 30",
            "imul {product}, {product}",
            ".endr",
            ".rept 44",
            "mov [{place}], {stored}",
            ".endr",
            ".endr",
            next_block!(),
            product = out(reg) _,
            stored = in(reg) 1_u64,
            place = in(reg) &raw mut place,
            blocks = inout(reg) u64::from(blocks.max(1)) => _,
            options(nostack),
        );
    }
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
fn multiply_and_store(_blocks: u32) {}

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
        assert!(!has_chains() || shortest(overlapping_ticks) > 0);
    }

    #[test]
    fn no_blocks_at_all_are_one() {
        let _ = dependent_ticks(0);
        let _ = independent_ticks(0);
        let _ = overlapping_ticks(0);
    }
}
