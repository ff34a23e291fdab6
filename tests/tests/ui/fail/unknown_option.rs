//! An option that does not exist, near to one that does and far from all.

use nanobench::nanobench;

#[nanobench(epoch = 3)]
fn near() {}

#[nanobench(colour = "red")]
fn far() {}

fn main() {}
