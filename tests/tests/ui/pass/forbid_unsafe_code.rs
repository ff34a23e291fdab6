//! The registration contains `unsafe`, which is not the user's.

#![forbid(unsafe_code)]

#[path = "../registered.rs"]
mod registered;

use nanobench::nanobench;

#[nanobench]
fn plain() {}

#[nanobench(latency, inputs = [1, 2], by = |x| *x, epochs = 3)]
fn with_inputs(x: u64) -> u64 {
    x
}

fn main() {
    assert_eq!(registered::count(), 2);
}
