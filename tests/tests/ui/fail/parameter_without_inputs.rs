//! A parameter that gets nothing.

use nanobench::nanobench;

#[nanobench]
fn f(x: u64) -> u64 {
    x
}

#[nanobench(epochs = 3)]
fn g(text: &str) -> usize {
    text.len()
}

fn main() {}
