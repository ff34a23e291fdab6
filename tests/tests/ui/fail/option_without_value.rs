//! Options that are nothing without a value.

use nanobench::nanobench;

#[nanobench(epochs)]
fn f() {}

#[nanobench(min_epoch_time, unit =)]
fn g() {}

#[nanobench(inputs)]
fn h(x: u64) -> u64 {
    x
}

fn main() {}
