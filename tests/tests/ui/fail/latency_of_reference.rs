//! A reference could wait for a result, but what it refers to would be there already.

use nanobench::nanobench;

#[nanobench(latency, inputs = [1, 2])]
fn reference(x: &u64) -> u64 {
    *x
}

#[nanobench(latency, inputs = ["a".to_owned()])]
fn unsized_reference(text: &str) -> usize {
    text.len()
}

#[nanobench(latency, inputs = ["a"])]
fn static_reference(text: &'static str) -> usize {
    text.len()
}

fn main() {}
