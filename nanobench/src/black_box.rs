//! `black_box` and `do_not_optimize_away`: a value that the optimiser must compute and may not look into, kept in registers
//! where it fits.
//!
//! The standard library's function hands the address of the value to the optimiser's blind spot, so the value is stored
//! and loaded again: four or five cycles of latency, more than many functions that are measured here.

/// Returns `value`, about which the optimiser must from now on assume that it could be anything.
///
/// A value of one machine word or two, such as an integer, a float, a reference, a slice or an `Option<u32>`, stays in
/// registers; a larger one goes through memory, as with [`std::hint::black_box`]. Memory that other code can reach is
/// assumed to have been read and written, so that work cannot be moved from one call to another.
///
/// # Examples
///
/// ```
/// use nanobench::black_box;
///
/// // Without the black box the compiler would put the constant 5000050000 here.
/// let sum: u64 = (1..=black_box(100_000u64)).sum();
/// assert_eq!(sum, 5_000_050_000);
/// ```
#[inline(always)]
pub fn black_box<T>(value: T) -> T {
    if registers::fit::<T>() { registers::pass(value) } else { std::hint::black_box(value) }
}

/// Uses `value` up: the optimiser must assume that something reads it, and that memory is read and written too.
///
/// A value of one machine word or two stays in registers, as with [`black_box`]. A larger one is put into memory once and not
/// copied again. A reference is an address like any other, and what it refers to has to be in memory, so that a number is better
/// passed by value. A value that owns something is dropped.
///
/// # Examples
///
/// Results that the function does not return:
///
/// ```
/// use nanobench::{do_not_optimize_away, nanobench};
///
/// #[nanobench(inputs = ["3 4", "10 20"])]
/// fn split_and_parse(text: &str) {
///     for number in text.split(' ') {
///         do_not_optimize_away(number.parse::<u32>().ok());
///     }
/// }
///
/// nanobench::main!();
/// ```
#[inline(always)]
pub fn do_not_optimize_away<T>(value: T) {
    if registers::fit::<T>() {
        drop(black_box(value));
    } else {
        black_box(&value);
    }
}

/// Returns 1, which the optimiser cannot know: a factor or a length that keeps constants from being folded.
///
/// It reads the clock, so it belongs in front of what is timed.
///
/// ```
/// let length = 64 * nanobench::unpredictable1();
/// assert_eq!(length, 64);
/// ```
#[must_use]
pub fn unpredictable1() -> u64 {
    // No clock runs long enough to get there.
    u64::from(nanobench_timer::start() != u64::MAX)
}

/// [`black_box`] for a value just read from memory that the optimiser cannot see into: what does not fit registers is
/// unknown to it already, and copying it once more would only take time.
#[inline(always)]
pub(crate) fn black_box_loaded<T>(value: T) -> T {
    if registers::fit::<T>() { registers::pass(value) } else { value }
}

#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"), not(miri)))]
mod registers {
    // The operands stand in comments only, where their width makes no difference.
    #![allow(asm_sub_register)]

    use std::any::TypeId;
    use std::arch::asm;
    use std::marker::PhantomData;
    use std::mem::{ManuallyDrop, MaybeUninit, size_of, transmute, transmute_copy};

    /// Claims to change the operands, which are in registers of the given class, and memory.
    macro_rules! claim_to_change {
        ($class:ident: $($operand:ident)+) => {
            // SAFETY: the assembly is empty, and the operands are `MaybeUninit`, which may hold anything.
            unsafe {
                asm!($(concat!("/* {", stringify!($operand), "} */"),)+ $($operand = inlateout($class) $operand,)+
                    options(nostack, preserves_flags));
            }
        };
    }

    #[inline(always)]
    pub(super) const fn fit<T>() -> bool {
        matches!(size_of::<T>(), 1 | 2 | 4 | 8 | 16)
    }

    #[inline(always)]
    pub(super) fn pass<T>(value: T) -> T {
        match size_of::<T>() {
            1 => with_bits(value, |mut bits: MaybeUninit<u8>| {
                #[cfg(target_arch = "x86_64")]
                claim_to_change!(reg_byte: bits);
                #[cfg(not(target_arch = "x86_64"))]
                claim_to_change!(reg: bits);
                bits
            }),
            2 => with_bits(value, |mut bits: MaybeUninit<u16>| {
                claim_to_change!(reg: bits);
                bits
            }),
            4 if is::<T, f32>() => with_bits(value, |mut bits: MaybeUninit<f32>| {
                #[cfg(target_arch = "x86_64")]
                claim_to_change!(xmm_reg: bits);
                #[cfg(target_arch = "aarch64")]
                claim_to_change!(vreg: bits);
                #[cfg(target_arch = "riscv64")]
                claim_to_change!(reg: bits);
                bits
            }),
            4 => with_bits(value, |mut bits: MaybeUninit<u32>| {
                claim_to_change!(reg: bits);
                bits
            }),
            8 if is::<T, f64>() => with_bits(value, |mut bits: MaybeUninit<f64>| {
                #[cfg(target_arch = "x86_64")]
                claim_to_change!(xmm_reg: bits);
                #[cfg(target_arch = "aarch64")]
                claim_to_change!(vreg: bits);
                #[cfg(target_arch = "riscv64")]
                claim_to_change!(reg: bits);
                bits
            }),
            8 => with_bits(value, |mut bits: MaybeUninit<u64>| {
                claim_to_change!(reg: bits);
                bits
            }),
            16 => with_bits(value, |[mut low, mut high]: [MaybeUninit<u64>; 2]| {
                claim_to_change!(reg: low high);
                [low, high]
            }),
            _ => value,
        }
    }

    /// Hands `value` to `pass` as plain bits and takes it back.
    #[inline(always)]
    fn with_bits<T, Bits>(value: T, pass: impl FnOnce(Bits) -> Bits) -> T {
        assert!(size_of::<T>() == size_of::<Bits>());
        let value = ManuallyDrop::new(value);
        // SAFETY: the sizes are equal. Every `Bits` above is made of `MaybeUninit`, which carries padding and pointers
        // unchanged, and the original is not dropped, so that the value goes on existing just once.
        unsafe { transmute_copy(&pass(transmute_copy(&value))) }
    }

    /// Whether the two types are one. `TypeId` asks for `'static`, which a benchmark's input need not be; the answer for
    /// a type with other lifetimes is that of the same type with `'static` ones, and no float has any.
    #[inline(always)]
    fn is<T, Float: 'static>() -> bool {
        trait Identify {
            fn type_id(&self) -> TypeId
            where
                Self: 'static;
        }
        impl<T> Identify for PhantomData<T> {
            #[inline(always)]
            fn type_id(&self) -> TypeId
            where
                Self: 'static,
            {
                TypeId::of::<T>()
            }
        }
        let phantom = PhantomData::<T>;
        // SAFETY: only the lifetime bound of the trait object changes, and the method reads no data through it.
        let phantom: &(dyn Identify + 'static) = unsafe { transmute::<&(dyn Identify + '_), _>(&phantom) };
        phantom.type_id() == TypeId::of::<Float>()
    }
}

/// Inline assembly is not stable here, or the interpreter has none: everything goes the standard library's way.
#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"), not(miri))))]
mod registers {
    // The type decides only where there are registers to fit.
    #[allow(clippy::extra_unused_type_parameters)]
    #[inline(always)]
    pub(super) const fn fit<T>() -> bool {
        false
    }

    #[inline(always)]
    pub(super) fn pass<T>(value: T) -> T {
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_every_size_come_back_unchanged() {
        assert!(black_box(true));
        assert_eq!(black_box(-7i8), -7);
        assert_eq!(black_box(40_000u16), 40_000);
        assert_eq!(black_box('é'), 'é');
        assert_eq!(black_box(1.5f32), 1.5);
        assert_eq!(black_box(-0.1f64), -0.1);
        assert_eq!(black_box(u64::MAX), u64::MAX);
        assert_eq!(black_box("text"), "text");
        assert_eq!(black_box((1u8, 2u32)), (1, 2));
        assert_eq!(black_box([1u64, 2, 3]), [1, 2, 3]);
        assert_eq!(black_box(()), ());
        assert_eq!(black_box(Some(Box::new(3))), Some(Box::new(3)));
    }

    #[test]
    fn a_value_is_dropped_exactly_once() {
        let shared = std::rc::Rc::new(());
        drop(black_box(shared.clone()));
        drop(black_box((shared.clone(), 1u8)));
        drop(black_box(vec![shared.clone()]));
        assert_eq!(std::rc::Rc::strong_count(&shared), 1);
    }

    #[test]
    fn values_of_every_size_are_used_up_and_dropped_once() {
        do_not_optimize_away(());
        do_not_optimize_away(7u8);
        do_not_optimize_away(1.5f32);
        do_not_optimize_away(-0.1f64);
        do_not_optimize_away((1u8, 2u32));
        do_not_optimize_away([1u64; 100]);
        do_not_optimize_away("text");
        let shared = std::rc::Rc::new(());
        do_not_optimize_away(shared.clone());
        do_not_optimize_away((shared.clone(), 1u8));
        do_not_optimize_away([(); 3].map(|()| shared.clone()));
        assert_eq!(std::rc::Rc::strong_count(&shared), 1);
    }

    #[test]
    fn a_borrowed_value_keeps_its_lifetime() {
        let text = String::from("local");
        let borrowed: &str = black_box(text.as_str());
        assert_eq!(borrowed, "local");
    }
}
