//! Labels for no inputs.

use nanobench::nanobench;

#[nanobench(by = |x| x)]
fn f() {}

fn main() {}
