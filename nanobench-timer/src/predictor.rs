//! Making the branch predictor of a core forget.
//!
//! What a predictor has learnt of a few branches can settle in one of several states and stay there for as long as a process runs:
//! which branches share an entry of its tables, for example, depends on what was executed when they were first met. A short function
//! then costs some per cent more or less, all the time, and nothing else about the process is different. Who lets the predictor
//! begin anew from time to time sees each of these states as often as it comes about.
//!
//! Two things are done for it. Thousands of jumps, each to the next one, take the places of the branches whose targets are known.
//! Then come conditional branches that are taken or not at random, and fill the tables of histories with what is of no use. Both are
//! ordinary instructions; there is none with which a program could ask for it.

use std::hint::black_box;

/// How many words of random bits decide about the conditional branches, one for each bit.
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

    /// How many of them can be the first. At least 12,288 follow it: more than the 7,168 branches whose targets a Zen 4 remembers, and
    /// as many as a Golden Cove.
    pub(super) const FIRST_JUMPS: u64 = 4096;

    /// A jump to the next place, and one to `{to}`, which is `{offset}` bytes behind the first place.
    #[cfg(target_arch = "x86_64")]
    macro_rules! jump {
        (to the next) => {
            "jmp 2f"
        };
        (to the first) => {
            "lea {to}, [rip + 3f]\nadd {to}, {offset}\njmp {to}"
        };
    }
    #[cfg(target_arch = "aarch64")]
    macro_rules! jump {
        (to the next) => {
            "b 2f"
        };
        (to the first) => {
            "adr {to}, 3f\nadd {to}, {to}, {offset}\nbr {to}"
        };
    }

    /// Jumps from place to place, beginning at one of the first [`FIRST_JUMPS`]. Always the same jumps would leave the tables in a
    /// state that depends on addresses alone, and so on the process.
    #[inline(never)]
    pub(super) fn run(first: u64) {
        // SAFETY: the offset is that of one of the places, which are as far apart as their alignment says. Each jump leads to the
        // next one and the last one behind them all, and nothing but the register named and the flags is changed.
        unsafe {
            std::arch::asm!(
                jump!(to the first),
                ".p2align 3",
                "3:",
                ".rept 16384",
                jump!(to the next),
                ".p2align 3",
                "2:",
                ".endr",
                offset = in(reg) JUMP_BYTES * (first % FIRST_JUMPS),
                to = out(reg) _,
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
