//! Inputs that nobody takes.

use nanobench::nanobench;

#[nanobench(inputs = [1, 2])]
fn f() {}

fn main() {}
