//! How much of something calls do, for rates per second, and what counts as a size.

/// What a call can do an amount of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Bytes.
    Bytes,
    /// Items, whatever they are.
    Items,
    /// Characters.
    Chars,
}

/// How much of something a call does with each input.
#[derive(Clone, Debug, PartialEq)]
pub struct Amounts {
    /// What is counted.
    pub counted: Counted,
    /// For each input, or a single one for all.
    pub per_input: Vec<f64>,
}

/// How large an argument is, for `complexity`: the number itself, or how long it is. And how much is counted of something.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a number nor something with a length",
    note = "`complexity` needs the size of each argument, and what counts bytes, items or characters returns a number"
)]
pub trait Size {
    /// The size, as a number.
    fn size(&self) -> f64;
}

macro_rules! numbers {
    ($($number:ty)*) => {
        $(impl Size for $number {
            fn size(&self) -> f64 {
                *self as f64
            }
        })*
    };
}

numbers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64);

impl Size for str {
    fn size(&self) -> f64 {
        self.len() as f64
    }
}

impl Size for String {
    fn size(&self) -> f64 {
        self.len() as f64
    }
}

impl<T> Size for [T] {
    fn size(&self) -> f64 {
        self.len() as f64
    }
}

impl<T> Size for Vec<T> {
    fn size(&self) -> f64 {
        self.len() as f64
    }
}

impl<T, const N: usize> Size for [T; N] {
    fn size(&self) -> f64 {
        N as f64
    }
}

impl<T: Size + ?Sized> Size for &T {
    fn size(&self) -> f64 {
        (**self).size()
    }
}
