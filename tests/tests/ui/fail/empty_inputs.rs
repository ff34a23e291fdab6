//! Lists that are visibly empty.

use nanobench::nanobench;

#[nanobench(inputs = [])]
fn f(x: u64) -> u64 {
    x
}

#[nanobench(inputs = vec![])]
fn g(x: u64) -> u64 {
    x
}

fn main() {}
