//! Two options with nothing between them, and an option with nothing before its value.

use nanobench::nanobench;

#[nanobench(ignore epochs = 3)]
fn f() {}

#[nanobench(warmup: 3)]
fn g() {}

fn main() {}
