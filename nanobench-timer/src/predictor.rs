//! Making the branch predictor of a core forget.
//!
//! What a predictor has learnt of a few branches can settle in one of several states and stay there for as long as a process runs:
//! which branches share an entry of its tables, for example, depends on what was executed when they were first met. A short function
//! then costs some per cent more or less, all the time, and nothing else about the process is different. Who lets the predictor
//! begin anew from time to time sees each of these states as often as it comes about.
//!
//! Two things are done for it. Thousands of conditional jumps, each to the next one and taken or not at random, take the places of the
//! branches whose targets are known, and those of the counters that say whether a branch is usually taken, which are found by its address
//! alone. Then one branch goes this way or that some thousands of times, and fills the tables of histories with what is of no use.
//! Both are ordinary instructions; there is none with which a program could ask for it.

use std::hint::black_box;

/// How many words of random bits decide which way that branch goes, one bit each time.
const RANDOM_WORDS: u32 = 64;

/// Whether there are the jumps for this kind of processor. Where there are not, nothing is forgotten.
#[must_use]
pub const fn is_available() -> bool {
    cfg!(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))
}

/// Makes the predictor of the core on which this thread runs forget most of what it has learnt. That takes some tens of
/// microseconds, and the caches lose up to 128 KiB of what they hold.
///
/// `random_bits` gives 64 random bits at each call; the same ones every time would be something to learn.
///
/// ```
/// let mut state = nanobench_timer::start();
/// nanobench_timer::predictor::forget(&mut || {
///     state = state.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
///     state ^ (state >> 32)
/// });
/// ```
pub fn forget(random_bits: &mut dyn FnMut() -> u64) {
    if !is_available() {
        return;
    }
    jumps::run(random_bits());
    let mut taken = 0_u32;
    for _ in 0..RANDOM_WORDS {
        let word = random_bits();
        for bit in 0..u64::BITS {
            if word >> bit & 1 == 1 {
                // What is hidden cannot be computed without a branch.
                taken = black_box(taken) + 1;
            }
        }
    }
    black_box(taken);
}

#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
mod jumps {
    /// How far apart the jumps are.
    const JUMP_BYTES: u64 = 8;

    /// How many of them can be the first. At least 12,288 places follow it, at half of which a jump is taken: nearly as many as the
    /// 7,168 branches whose targets a Zen 4 remembers, and more of them each time.
    pub(super) const FIRST_JUMPS: u64 = 4096;

    /// What the random bits are multiplied with, so that the next places find others: of Knuth's linear congruential generator MMIX.
    /// The upper half of the product is as good as random for as long as this takes.
    const FACTOR: u64 = 6_364_136_223_846_793_005;

    /// A jump to the next place if a bit is set, one to `{to}`, which is `{offset}` bytes behind the first place, and other bits.
    #[cfg(target_arch = "x86_64")]
    macro_rules! jump {
        (to the next if bit) => {
            "bt {bits}, bit\njc 2f"
        };
        (to the first) => {
            "lea {to}, [rip + 3f]\nadd {to}, {offset}\njmp {to}"
        };
        (other bits) => {
            "imul {bits}, {factor}"
        };
    }
    #[cfg(target_arch = "aarch64")]
    macro_rules! jump {
        (to the next if bit) => {
            "tbnz {bits}, bit, 2f"
        };
        (to the first) => {
            "adr {to}, 3f\nadd {to}, {to}, {offset}\nbr {to}"
        };
        (other bits) => {
            "mul {bits}, {bits}, {factor}"
        };
    }

    /// Goes from place to place, by a jump or without, beginning at one of the first [`FIRST_JUMPS`]. Always the same jumps would leave
    /// the tables in a state that depends on addresses alone, and so on the process.
    #[inline(never)]
    pub(super) fn run(random_bits: u64) {
        // SAFETY: the offset is that of one of the places, which are as far apart as their alignment says. Each leads to the next one,
        // and the last one behind them all, and nothing but the registers named and the flags is changed.
        unsafe {
            std::arch::asm!(
                jump!(to the first),
                ".p2align 3",
                "3:",
                ".rept 512",
                ".set bit, 32",
                ".rept 31",
                jump!(to the next if bit),
                ".p2align 3",
                "2:",
                ".set bit, bit + 1",
                ".endr",
                jump!(other bits),
                ".p2align 3",
                ".endr",
                offset = in(reg) JUMP_BYTES * (random_bits % FIRST_JUMPS),
                to = out(reg) _,
                // Of an even number the bits would run out.
                bits = inout(reg) random_bits | 1 => _,
                factor = in(reg) FACTOR,
                options(nomem, nostack),
            );
        }
    }
}

#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
mod jumps {
    pub(super) fn run(_first: u64) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
    fn every_place_can_be_the_first() {
        for first in [0, 1, jumps::FIRST_JUMPS - 1, jumps::FIRST_JUMPS, u64::MAX] {
            jumps::run(first);
        }
    }

    #[test]
    fn every_word_of_random_bits_is_another_one() {
        let mut words = 0;
        forget(&mut || {
            words += 1;
            0xa5a5_5a5a_0ff0_f00f
        });
        assert_eq!(words, if is_available() { 1 + RANDOM_WORDS } else { 0 });
    }
}
