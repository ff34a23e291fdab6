//! A single value instead of a list.

use nanobench::nanobench;

#[nanobench(inputs = 5)]
fn f(x: u64) -> u64 {
    x
}

#[nanobench(inputs = [5], by = "x")]
fn g(x: u64) -> u64 {
    x
}

fn main() {}
