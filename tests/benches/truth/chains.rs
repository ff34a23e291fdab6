//! Chains of instructions, each of which waits for the one before, so that the cost of the whole is their number times their
//! latency; and instructions that do not wait, so that it is their number divided by how many a cycle has room for.

use nanobench::nanobench;

use crate::processor::Instruction;

/// The modes, by the names that the rows have for them.
pub(crate) const THROUGHPUT: &str = "throughput";
pub(crate) const LATENCY: &str = "latency";

/// A benchmark whose cost is known, on processors that are certain of the instruction.
pub(crate) struct Chain {
    pub(crate) id: &'static str,
    pub(crate) instruction: Instruction,
    /// The mode of which the truth is known.
    pub(crate) mode: &'static str,
    /// In cycles.
    pub(crate) truth: f64,
}

/// An empty function: what is left is the loop that calls it, whose counter and jump take one cycle.
#[nanobench]
fn nothing() {}

/// The result is the input: what is left is the link between the calls, which the engine takes off.
#[nanobench(inputs = [3], latency)]
fn identity(x: u64) -> u64 {
    x
}

const EMPTY: [Chain; 2] = [
    Chain { id: "chains::nothing", instruction: Instruction::Nothing, mode: THROUGHPUT, truth: 1.0 },
    Chain { id: "chains::identity", instruction: Instruction::Nothing, mode: LATENCY, truth: 0.0 },
];

/// All chains that exist for this architecture, in the order of the table.
pub(crate) fn all() -> impl Iterator<Item = &'static Chain> {
    EMPTY.iter().chain(instructions::ALL.iter().copied().flatten())
}

/// Declares a benchmark for each number of instructions, and a table of them. The operands of the assembly are the value that
/// runs through the chain, and a register that holds one.
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
macro_rules! chains {
    ($table:ident: $instruction:ident, $cycles:literal cycles, $assembly:literal, $($name:ident $length:literal)+) => {
        const $table: &[Chain] = &[$(Chain {
            id: concat!("chains::instructions::", stringify!($name)),
            instruction: Instruction::$instruction,
            mode: super::LATENCY,
            truth: ($cycles * $length) as f64,
        }),+];
        $(
            #[nanobench(inputs = [3], latency)]
            fn $name(mut x: u64) -> u64 {
                // SAFETY: the instructions change nothing but the register of `x` and the flags.
                unsafe {
                    asm!(
                        concat!(".rept ", $length),
                        $assembly,
                        ".endr",
                        x = inout(reg) x,
                        one = in(reg) 1_u64,
                        options(pure, nomem, nostack),
                    );
                }
                x
            }
        )+
    };
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod instructions {
    use std::arch::asm;

    use super::{Chain, Instruction};
    use nanobench::nanobench;

    pub(super) const ALL: [&[Chain]; 4] = [ADD, ROR, IMUL, INDEPENDENT_IMUL];

    chains!(ADD: Add, 1 cycles, "add {x}, {one}",
        add_1 1 add_2 2 add_5 5 add_10 10 add_20 20 add_50 50 add_100 100);

    chains!(ROR: Rotation, 1 cycles, "ror {x}, 7 /* {one} */",
        ror_1 1 ror_2 2 ror_5 5 ror_10 10 ror_20 20 ror_50 50 ror_100 100);

    chains!(IMUL: Multiplication, 3 cycles, "imul {x:e}, {x:e}, 5 /* {one} */",
        imul_1 1 imul_2 2 imul_5 5 imul_10 10 imul_20 20 imul_50 50 imul_100 100);

    /// The same for multiplications that all read the input and write a register that nobody reads. Fewer than five could wait
    /// for the instructions of the loop around them.
    macro_rules! independent_multiplications {
        ($($name:ident $number:literal)+) => {
            const INDEPENDENT_IMUL: &[Chain] = &[$(Chain {
                id: concat!("chains::instructions::", stringify!($name)),
                instruction: Instruction::IndependentMultiplications,
                mode: super::THROUGHPUT,
                truth: $number as f64,
            }),+];
            $(
                #[nanobench(inputs = [3])]
                fn $name(x: u64) -> u64 {
                    let product;
                    // SAFETY: the instructions change nothing but the register of `product` and the flags.
                    unsafe {
                        asm!(
                            concat!(".rept ", $number),
                            "imul {product:e}, {x:e}, 5",
                            ".endr",
                            x = in(reg) x,
                            product = out(reg) product,
                            options(pure, nomem, nostack),
                        );
                    }
                    product
                }
            )+
        };
    }

    independent_multiplications!(free_imul_5 5 free_imul_10 10 free_imul_20 20 free_imul_50 50 free_imul_100 100);
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
mod instructions {
    use std::arch::asm;

    use super::{Chain, Instruction};
    use nanobench::nanobench;

    /// What the other instructions cost differs between the many kinds of cores.
    pub(super) const ALL: [&[Chain]; 1] = [ADD];

    chains!(ADD: Add, 1 cycles, "add {x}, {x}, {one}",
        add_1 1 add_2 2 add_5 5 add_10 10 add_20 20 add_50 50 add_100 100);
}

#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
mod instructions {
    pub(super) const ALL: [&[super::Chain]; 0] = [];
}
