//! The modes are flags of their own.

use nanobench::nanobench;

#[nanobench(latency = true, inputs = [1])]
fn with_value(x: u64) -> u64 {
    x
}

#[nanobench(throughput = false, latency, inputs = [1])]
fn switched_off(x: u64) -> u64 {
    x
}

#[nanobench(latency, latency, inputs = [1])]
fn twice(x: u64) -> u64 {
    x
}

#[nanobench(mode = "latency", inputs = [1])]
fn as_a_mode(x: u64) -> u64 {
    x
}

fn main() {}
