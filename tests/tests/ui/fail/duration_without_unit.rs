//! Numbers where a unit is needed.

use nanobench::nanobench;

#[nanobench(max_time = 5)]
fn f() {}

#[nanobench(min_epoch_time = 0.5)]
fn g() {}

fn main() {}
