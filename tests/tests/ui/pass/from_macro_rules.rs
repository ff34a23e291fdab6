//! Functions, and all parts of them, out of `macro_rules!`.

#[path = "../registered.rs"]
mod registered;

use nanobench::nanobench;

macro_rules! sums {
    ($($name:ident: $ty:ty = $inputs:expr, $label:literal, $epochs:expr;)*) => {
        $(
            #[nanobench(inputs = $inputs, by = |x| *x, name = $label, epochs = $epochs * 2, batch = $epochs + 1)]
            fn $name(x: $ty) -> $ty {
                x
            }
        )*
    };
}

sums! {
    small: u8 = [1, 2], "sum of u8", 1 + 2;
    large: u64 = [1, 2], "sum of u64", 3;
}

macro_rules! borrowed {
    ($ty:ty, $life:lifetime) => {
        #[nanobench(inputs = ["a"])]
        fn reference<$life>(x: $ty) -> usize {
            x.len()
        }

        #[nanobench(inputs = ["a"])]
        fn referent(x: &str) -> usize {
            x.len()
        }
    };
}

borrowed!(&str, 'a);

macro_rules! time {
    ($literal:literal, $(#[$attribute:meta])* $vis:vis fn $body:block) => {
        $(#[$attribute])*
        #[nanobench(max_time = $literal, precision = 0.5)]
        $vis fn time() $body
    };
}

time!("5ms", #[inline] pub fn { let _ = 5; });

macro_rules! whole {
    ($item:item) => {
        #[nanobench]
        $item
    };
}

whole! {
    /// Documented.
    pub(crate) fn item() {}
}

macro_rules! hygienic {
    () => {
        #[nanobench(inputs = [1])]
        fn hygienic(x: u8) -> u8 {
            x
        }
    };
}

hygienic!();

fn main() {
    assert_eq!(registered::count(), 7);
    assert_eq!(registered::settings("sum of u8").epochs, Some(6));
    assert_eq!(registered::settings("sum of u8").batch, Some(4.0));
    assert_eq!(registered::settings("time").max_time, Some(std::time::Duration::from_millis(5)));
    assert_eq!(small(1), 1);
    item();
}
