//! More parameters than one.

use nanobench::nanobench;

#[nanobench(inputs = [(1, 2)])]
fn f(a: u64, b: u64) -> u64 {
    a + b
}

fn main() {}
