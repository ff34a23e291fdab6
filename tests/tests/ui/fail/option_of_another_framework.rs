//! An option by the name that it has elsewhere.

use nanobench::nanobench;

#[nanobench(args = [1, 2])]
fn f(x: u64) -> u64 {
    x
}

#[nanobench(sample_count = 100)]
fn g() {}

fn main() {}
