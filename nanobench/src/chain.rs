//! The link that latency needs between two calls: the next input waits for the previous output and stays what it is.
//!
//! A link computes `input ^ (output & zero)`. The result is the input, but a processor cannot start on it before it has the
//! output. The two instructions are written in assembly, for two reasons. Compiled from Rust, they could be merged with the
//! function: where that ends in a mask or an exclusive or of its own, one of the two may move out of the loop. And narrow
//! operands would be extended first, which costs a cycle more on some processors.

use crate::black_box::black_box;
use sealed::Bits;

/// A type through which calls can be chained, so that the latency of a function from or to it can be measured.
///
/// It is implemented for the integers, the floats, `bool` and `char`; a function has a latency when its parameter and its
/// result are of such types. To measure it, write [`latency`](macro@crate::nanobench#options) into the attribute.
///
/// The next input waits for the previous output by way of two dependent instructions, `input ^ (output & zero)`, where the
/// zero is one that neither the compiler nor the processor knows to be one. What they cost is known and not part of the
/// figure:
///
/// | input | output | link |
/// |---|---|---|
/// | integer, `bool`, `char` | the same | 2 cycles |
/// | float | float | 2 cycles on x86-64, 4 on aarch64 |
/// | any | 128-bit integer | 1 cycle more, in which its halves become one |
///
/// Between an integer and a float, the output has to move to registers of the other kind, too. That takes about three cycles,
/// which are not the same on all processors and therefore stay in the figure. On riscv64, floats always take that way, there
/// and back. On processors other than x86-64, aarch64 and riscv64, the link goes through memory and takes several cycles that
/// stay in the figure as well.
///
/// A branch does not wait: the processor guesses where it leads and goes on. The latency of a function with branches is that
/// of what it computes and of the wrong guesses, which is why the inputs should be as they are in real use.
///
/// The trait is sealed: no other type can implement it, because what a link costs has to be known.
///
/// # Examples
///
/// ```
/// use nanobench::nanobench;
///
/// #[nanobench(latency, throughput, inputs = [1.0, 2.0, 1e10])]
/// fn square_root(x: f64) -> f64 {
///     x.sqrt()
/// }
/// ```
///
/// A function between other types has to start from an integer and end in one:
///
/// ```
/// use nanobench::nanobench;
///
/// fn split(key: u64) -> (u32, u32) {
///     ((key >> 32) as u32, key as u32)
/// }
///
/// #[nanobench(latency, inputs = [0x1234_5678_9abc_def0])]
/// fn split_and_join(key: u64) -> u32 {
///     let (high, low) = split(key);
///     high ^ low
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "calls cannot be chained through `{Self}`, so `latency` cannot be measured",
    label = "not an integer, a float, `bool` or `char`",
    note = "for `latency` the next input waits for the previous result, and both have to be integers, floats, `bool` or `char`",
    note = "take an integer and make the input of it in the function, and return an integer computed from the result; or leave out `latency` to measure throughput"
)]
pub trait Chain: sealed::Sealed {}

/// What the link from a result of type `R` to an input of type `X` costs, in cycles of the core, as far as it is the same
/// on all current ones.
pub const fn link_cycles<X: Chain, R: Chain>() -> f64 {
    X::LINK_CYCLES + R::MERGE_CYCLES
}

/// Zeros that nothing but this module knows to be zeros, one for each kind of register. They come out of the black box
/// before the clock starts, and a loop keeps the one that it needs in a register.
#[derive(Clone, Copy)]
pub struct Zero {
    integer: u64,
    #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
    float: f64,
}

impl Zero {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self {
            integer: black_box(0),
            #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
            float: black_box(0.0),
        }
    }
}

/// The cycles of two dependent instructions on integers of one cycle each.
const INTEGER_LINK_CYCLES: f64 = 2.0;

/// The same on floats. Logic on vector registers takes two cycles per instruction on the aarch64 cores of Arm and Apple.
const FLOAT_LINK_CYCLES: f64 = if cfg!(target_arch = "aarch64") { 4.0 } else { 2.0 };

pub(crate) mod sealed {
    use super::Zero;

    /// What [`Chain`](super::Chain) needs and nobody else may call or implement.
    pub trait Sealed: Copy {
        /// What a register holds of an output.
        type Output: Bits;

        /// What a link to an input of this type costs.
        const LINK_CYCLES: f64;

        /// What it costs in addition when the output is of this type.
        const MERGE_CYCLES: f64 = 0.0;

        /// The output as what a register holds. The compiler must have computed it by then, and cannot merge what computes it
        /// with the link.
        fn output(self) -> Self::Output;

        /// The input unchanged, but not before there is an output.
        fn after<O: Bits>(self, output: O, zero: Zero) -> Self;
    }

    /// A value of one register. Each method gives `input ^ (self & zero)`.
    pub trait Bits: Copy + Default {
        fn hold_u8(self, input: u8, zero: Zero) -> u8;
        fn hold_u16(self, input: u16, zero: Zero) -> u16;
        fn hold_u32(self, input: u32, zero: Zero) -> u32;
        fn hold_u64(self, input: u64, zero: Zero) -> u64;
        fn hold_f32(self, input: f32, zero: Zero) -> f32;
        fn hold_f64(self, input: f64, zero: Zero) -> f64;
    }
}

/// The two instructions on two variables in registers of the classes that follow them. The result takes the register of the
/// one that stands first.
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"), not(miri)))]
macro_rules! link {
    // Of one type, the result takes the place of the output, and a loop need not copy it to where it was in the call before.
    ($output:ident and $input:ident in $class:ident, $zero:expr; $and:literal, $xor:literal) => {{
        let mut linked = $output;
        #[allow(asm_sub_register)]
        // SAFETY: the instructions change the named register and the flags, and nothing else.
        unsafe {
            std::arch::asm!(
                $and,
                $xor,
                o = inout($class) linked,
                i = in($class) $input,
                z = in($class) $zero,
                options(nostack),
            );
        }
        linked
    }};
    // The instructions are often wider than the operands. What stands in the upper bits of the output is cleared by the zero,
    // and what stands in those of the input is nobody's.
    ($input:ident in $input_class:ident, $output:ident in $output_class:ident, $class:ident, $zero:expr; $and:literal, $xor:literal) => {{
        let mut linked = $input;
        #[allow(asm_sub_register)]
        // SAFETY: the instructions change the named registers and the flags, and nothing else.
        unsafe {
            std::arch::asm!(
                $and,
                $xor,
                i = inout($input_class) linked,
                o = inout($output_class) $output => _,
                z = in($class) $zero,
                options(nostack),
            );
        }
        linked
    }};
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod instructions {
    macro_rules! link_integers {
        // Bytes have registers of their own here, the rest of which cannot be named.
        ($input:ident: u8, $output:ident: u8, $zero:ident) => {{
            let zero = $zero.integer as u8;
            link!($output and $input in reg_byte, zero; "and {o}, {z}", "xor {o}, {i}")
        }};
        ($input:ident: u8, $output:ident: $_:ident, $zero:ident) => {
            link!($input in reg_byte, $output in reg, reg, $zero.integer; "and {o:r}, {z:r}", "xor {i}, {o:l}")
        };
        ($input:ident: $_:ident, $output:ident: u8, $zero:ident) => {
            link!($input in reg, $output in reg_byte, reg, $zero.integer; "and {o}, {z:l}", "xor {i:l}, {o}")
        };
        ($input:ident: u16, $output:ident: u16, $zero:ident) => {
            link!($output and $input in reg, $zero.integer; "and {o:e}, {z:e}", "xor {o:e}, {i:e}")
        };
        ($input:ident: u32, $output:ident: u32, $zero:ident) => {
            link!($output and $input in reg, $zero.integer; "and {o:e}, {z:e}", "xor {o:e}, {i:e}")
        };
        ($input:ident: u64, $output:ident: u64, $zero:ident) => {
            link!($output and $input in reg, $zero.integer; "and {o:r}, {z:r}", "xor {o:r}, {i:r}")
        };
        ($input:ident: $_:ident, $output:ident: $__:ident, $zero:ident) => {
            link!($input in reg, $output in reg, reg, $zero.integer; "and {o:r}, {z:r}", "xor {i:r}, {o:r}")
        };
    }

    /// Where the compiler uses AVX, an instruction in the older encoding could make it wait for upper halves of registers.
    #[cfg(target_feature = "avx")]
    macro_rules! link_floats {
        ($input:ident: f32, $output:ident: f32, $zero:ident, $_:ident) => {
            link!($output and $input in xmm_reg, $zero.float; "vandps {o}, {o}, {z}", "vxorps {o}, {o}, {i}")
        };
        ($input:ident: f64, $output:ident: f64, $zero:ident, $_:ident) => {
            link!($output and $input in xmm_reg, $zero.float; "vandps {o}, {o}, {z}", "vxorps {o}, {o}, {i}")
        };
        ($input:ident: $_:ident, $output:ident: $__:ident, $zero:ident, $___:ident) => {
            link!($input in xmm_reg, $output in xmm_reg, xmm_reg, $zero.float;
                "vandps {o}, {o}, {z}", "vxorps {i}, {i}, {o}")
        };
    }
    #[cfg(not(target_feature = "avx"))]
    macro_rules! link_floats {
        ($input:ident: f32, $output:ident: f32, $zero:ident, $_:ident) => {
            link!($output and $input in xmm_reg, $zero.float; "andps {o}, {z}", "xorps {o}, {i}")
        };
        ($input:ident: f64, $output:ident: f64, $zero:ident, $_:ident) => {
            link!($output and $input in xmm_reg, $zero.float; "andps {o}, {z}", "xorps {o}, {i}")
        };
        ($input:ident: $_:ident, $output:ident: $__:ident, $zero:ident, $___:ident) => {
            link!($input in xmm_reg, $output in xmm_reg, xmm_reg, $zero.float; "andps {o}, {z}", "xorps {i}, {o}")
        };
    }

    pub(super) use {link_floats, link_integers};
}

// Instructions with three operands need no copy.

#[cfg(all(target_arch = "aarch64", not(miri)))]
mod instructions {
    macro_rules! link_integers {
        ($input:ident: $_:ident, $output:ident: $__:ident, $zero:ident) => {
            link!($input in reg, $output in reg, reg, $zero.integer; "and {o:x}, {o:x}, {z:x}", "eor {i:x}, {i:x}, {o:x}")
        };
    }

    macro_rules! link_floats {
        ($input:ident: $_:ident, $output:ident: $__:ident, $zero:ident, $___:ident) => {
            link!($input in vreg, $output in vreg, vreg, $zero.float;
                "and {o:v}.8b, {o:v}.8b, {z:v}.8b", "eor {i:v}.8b, {i:v}.8b, {o:v}.8b")
        };
    }

    pub(super) use {link_floats, link_integers};
}

#[cfg(all(target_arch = "riscv64", not(miri)))]
mod instructions {
    macro_rules! link_integers {
        ($input:ident: $_:ident, $output:ident: $__:ident, $zero:ident) => {
            link!($input in reg, $output in reg, reg, $zero.integer; "and {o}, {o}, {z}", "xor {i}, {i}, {o}")
        };
    }

    /// The registers of floats have no logic.
    macro_rules! link_floats {
        ($input:ident: $float:ident, $output:ident: $_:ident, $zero:ident, $hold:ident) => {
            $float::from_bits($output.to_bits().$hold($input.to_bits(), $zero))
        };
    }

    pub(super) use {link_floats, link_integers};
}

/// Without inline assembly, the black box keeps the compiler from merging the link with the function.
#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"), not(miri))))]
mod instructions {
    macro_rules! link_integers {
        ($input:ident: $integer:ident, $output:ident: $_:ident, $zero:ident) => {
            black_box($input ^ (black_box($output) as $integer & $zero.integer as $integer))
        };
    }

    macro_rules! link_floats {
        ($input:ident: $float:ident, $output:ident: $_:ident, $zero:ident, $hold:ident) => {
            $float::from_bits($output.to_bits().$hold($input.to_bits(), $zero))
        };
    }

    pub(super) use {link_floats, link_integers};
}

use instructions::{link_floats, link_integers};

/// An integer on its way to a float is widened and moved, bit by bit and not by its value.
macro_rules! integers_in_registers {
    ($($output:ident)+) => {$(
        impl Bits for $output {
            integers_in_registers!(@hold $output: hold_u8 u8, hold_u16 u16, hold_u32 u32, hold_u64 u64);

            #[inline(always)]
            fn hold_f32(self, input: f32, zero: Zero) -> f32 {
                f32::from_bits(self as u32).hold_f32(input, zero)
            }

            #[inline(always)]
            fn hold_f64(self, input: f64, zero: Zero) -> f64 {
                f64::from_bits(self as u64).hold_f64(input, zero)
            }
        }
    )+};
    (@hold $output:ident: $($hold:ident $input:ident),+) => {$(
        #[inline(always)]
        fn $hold(self, input: $input, zero: Zero) -> $input {
            let output = self;
            link_integers!(input: $input, output: $output, zero)
        }
    )+};
}

macro_rules! floats_in_registers {
    ($($output:ident)+) => {$(
        impl Bits for $output {
            floats_in_registers!(@to_integer hold_u8 u8, hold_u16 u16, hold_u32 u32, hold_u64 u64);

            #[inline(always)]
            fn hold_f32(self, input: f32, zero: Zero) -> f32 {
                let output = self;
                link_floats!(input: f32, output: $output, zero, hold_u32)
            }

            #[inline(always)]
            fn hold_f64(self, input: f64, zero: Zero) -> f64 {
                let output = self;
                link_floats!(input: f64, output: $output, zero, hold_u64)
            }
        }
    )+};
    (@to_integer $($hold:ident $input:ident),+) => {$(
        #[inline(always)]
        fn $hold(self, input: $input, zero: Zero) -> $input {
            self.to_bits().$hold(input, zero)
        }
    )+};
}

integers_in_registers!(u8 u16 u32 u64);
floats_in_registers!(f32 f64);

/// Types that are the contents of a register but for a cast.
macro_rules! chain_integers {
    ($($integer:ident as $bits:ident, $hold:ident;)+) => {$(
        impl Chain for $integer {}

        impl sealed::Sealed for $integer {
            type Output = $bits;
            const LINK_CYCLES: f64 = INTEGER_LINK_CYCLES;

            #[inline(always)]
            fn output(self) -> $bits {
                black_box(self as $bits)
            }

            #[inline(always)]
            fn after<O: Bits>(self, output: O, zero: Zero) -> Self {
                output.$hold(self as $bits, zero) as Self
            }
        }
    )+};
}

chain_integers! {
    u8 as u8, hold_u8;
    u16 as u16, hold_u16;
    u32 as u32, hold_u32;
    u64 as u64, hold_u64;
    i8 as u8, hold_u8;
    i16 as u16, hold_u16;
    i32 as u32, hold_u32;
    i64 as u64, hold_u64;
}

#[cfg(target_pointer_width = "64")]
chain_integers! {
    usize as u64, hold_u64;
    isize as u64, hold_u64;
}

#[cfg(target_pointer_width = "32")]
chain_integers! {
    usize as u32, hold_u32;
    isize as u32, hold_u32;
}

#[cfg(target_pointer_width = "16")]
chain_integers! {
    usize as u16, hold_u16;
    isize as u16, hold_u16;
}

/// All of the input waits for all of the output: linked half to half, one half could run ahead of the other.
macro_rules! chain_wide_integers {
    ($($integer:ident)+) => {$(
        impl Chain for $integer {}

        impl sealed::Sealed for $integer {
            type Output = u64;
            const LINK_CYCLES: f64 = INTEGER_LINK_CYCLES;
            const MERGE_CYCLES: f64 = 1.0;

            #[inline(always)]
            fn output(self) -> u64 {
                black_box(black_box(self as u64) | black_box((self >> 64) as u64))
            }

            #[inline(always)]
            fn after<O: Bits>(self, output: O, zero: Zero) -> Self {
                let low = output.hold_u64(self as u64, zero);
                let high = output.hold_u64((self >> 64) as u64, zero);
                low as Self | ((high as Self) << 64)
            }
        }
    )+};
}

chain_wide_integers!(u128 i128);

macro_rules! chain_floats {
    ($($float:ident, $hold:ident;)+) => {$(
        impl Chain for $float {}

        impl sealed::Sealed for $float {
            type Output = Self;
            const LINK_CYCLES: f64 = FLOAT_LINK_CYCLES;

            #[inline(always)]
            fn output(self) -> Self {
                black_box(self)
            }

            #[inline(always)]
            fn after<O: Bits>(self, output: O, zero: Zero) -> Self {
                output.$hold(self, zero)
            }
        }
    )+};
}

chain_floats! {
    f32, hold_f32;
    f64, hold_f64;
}

impl Chain for bool {}

impl sealed::Sealed for bool {
    type Output = u8;
    const LINK_CYCLES: f64 = INTEGER_LINK_CYCLES;

    #[inline(always)]
    fn output(self) -> u8 {
        black_box(u8::from(self))
    }

    #[inline(always)]
    fn after<O: Bits>(self, output: O, zero: Zero) -> Self {
        let bits = output.hold_u8(u8::from(self), zero);
        // A comparison would do the same and be one more instruction to wait for.
        #[allow(clippy::transmute_int_to_bool)]
        // SAFETY: a link leaves the input as it is.
        unsafe {
            std::mem::transmute::<u8, Self>(bits)
        }
    }
}

impl Chain for char {}

impl sealed::Sealed for char {
    type Output = u32;
    const LINK_CYCLES: f64 = INTEGER_LINK_CYCLES;

    #[inline(always)]
    fn output(self) -> u32 {
        black_box(self.into())
    }

    #[inline(always)]
    fn after<O: Bits>(self, output: O, zero: Zero) -> Self {
        let bits = output.hold_u32(self.into(), zero);
        // SAFETY: a link leaves the input as it is. A check would be more to wait for.
        unsafe { Self::from_u32_unchecked(bits) }
    }
}

#[cfg(test)]
mod tests {
    use super::sealed::Sealed;
    use super::*;
    use crate::rng::Rng;

    /// Links `input` to outputs of every type and of every kind of value, and expects `bits` of it to stay what they are.
    fn link_to_all<X: Chain>(input: X, bits: impl Fn(X) -> u128, rng: &mut Rng) {
        let zero = Zero::new();
        let expected = bits(input);
        let link_to = |linked: X, output: &str| assert_eq!(bits(linked), expected, "after {output}");
        macro_rules! link_to_integers {
            ($($output:ident)+) => {$(
                for output in [0, 1, $output::MIN, $output::MAX, $output::MAX / 3, rng.next_u64() as $output] {
                    link_to(input.after(black_box(output).output(), zero), stringify!($output));
                }
            )+};
        }
        macro_rules! link_to_floats {
            ($($output:ident)+) => {$(
                for output in [0.0, -0.0, 1.5, $output::MIN_POSITIVE / 2.0, -$output::INFINITY, $output::NAN, -$output::NAN] {
                    link_to(input.after(black_box(output).output(), zero), stringify!($output));
                }
            )+};
        }
        link_to_integers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);
        link_to_floats!(f32 f64);
        for output in [false, true] {
            link_to(input.after(black_box(output).output(), zero), "bool");
        }
        for output in ['\0', 'a', char::MAX] {
            link_to(input.after(black_box(output).output(), zero), "char");
        }
    }

    #[test]
    fn a_link_leaves_every_integer_as_it_is() {
        let rng = &mut Rng::new(1);
        macro_rules! link_integers_to_all {
            ($($input:ident)+) => {$(
                for input in [0, 1, $input::MIN, $input::MAX, $input::MAX / 3] {
                    link_to_all(input, |x| x as u128, rng);
                }
                for _ in 0..20 {
                    let input = ((u128::from(rng.next_u64()) << 64) | u128::from(rng.next_u64())) as $input;
                    link_to_all(input, |x| x as u128, rng);
                }
            )+};
        }
        link_integers_to_all!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);
    }

    #[test]
    fn a_link_leaves_every_float_as_it_is() {
        let rng = &mut Rng::new(2);
        macro_rules! link_floats_to_all {
            ($($input:ident as $bits:ident)+) => {$(
                for input in [0.0, -0.0, 1.0, $input::MIN, $input::MAX, $input::MIN_POSITIVE, $input::MIN_POSITIVE / 2.0,
                    $input::INFINITY, -$input::INFINITY, $input::NAN, -$input::NAN] {
                    link_to_all(input, |x| x.to_bits().into(), rng);
                }
                for _ in 0..20 {
                    let input = $input::from_bits(rng.next_u64() as $bits);
                    // Handing a signalling not-a-number to a function makes it a quiet one on some processors.
                    if !input.is_nan() {
                        link_to_all(input, |x| x.to_bits().into(), rng);
                    }
                }
            )+};
        }
        link_floats_to_all!(f32 as u32 f64 as u64);
    }

    #[test]
    fn a_link_leaves_every_bool_and_char_as_it_is() {
        let rng = &mut Rng::new(3);
        for input in [false, true] {
            link_to_all(input, u128::from, rng);
        }
        for input in ['\0', 'a', 'é', '\u{d7ff}', '\u{e000}', char::MAX] {
            link_to_all(input, |x| u32::from(x).into(), rng);
        }
    }

    #[test]
    fn a_link_costs_two_instructions_and_one_more_after_two_registers() {
        assert_eq!(link_cycles::<u8, bool>(), 2.0);
        assert_eq!(link_cycles::<char, u64>(), 2.0);
        assert_eq!(link_cycles::<u128, u64>(), 2.0);
        assert_eq!(link_cycles::<u64, i128>(), 3.0);
        assert_eq!(link_cycles::<f64, f32>(), FLOAT_LINK_CYCLES);
    }
}
