//! Inputs are those of a single function.

#[nanobench::group(inputs = [1, 2], epochs = 0)]
mod sums {
    #[nanobench::nanobench]
    fn f() {}
}

fn main() {}
