//! Latency is the time from an input to its result, so there has to be an input.

use nanobench::nanobench;

#[nanobench(latency)]
fn no_parameter() -> u64 {
    5
}

#[nanobench(throughput, latency, epochs = 3)]
fn nothing_at_all() {}

#[nanobench(latency)]
fn no_inputs(x: u64) -> u64 {
    x
}

fn main() {}
