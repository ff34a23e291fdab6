//! Counts of which there has to be one at least.

use nanobench::nanobench;

#[nanobench(epochs = 0)]
fn f() {}

#[nanobench(clock_resolution_multiple = 0x0_u64)]
fn g() {}

fn main() {}
