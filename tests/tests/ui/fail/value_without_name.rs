//! A value that no option takes.

use nanobench::nanobench;

#[nanobench([1, 2, 3])]
fn f(x: u64) -> u64 {
    x
}

#[nanobench("name")]
fn g() {}

fn main() {}
