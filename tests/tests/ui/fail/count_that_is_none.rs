//! Literals that are no whole numbers.

use nanobench::nanobench;

#[nanobench(epochs = 1.5)]
fn f() {}

#[nanobench(warmup = "10")]
fn g() {}

#[nanobench(min_epoch_iterations = -1)]
fn h() {}

fn main() {}
