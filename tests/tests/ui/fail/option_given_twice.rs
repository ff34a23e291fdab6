//! The second of two equal options is the mistake.

use nanobench::nanobench;

#[nanobench(epochs = 3, warmup = 1, epochs = 4)]
fn f() {}

#[nanobench(ignore, r#ignore)]
fn g() {}

fn main() {}
