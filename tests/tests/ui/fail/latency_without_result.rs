//! Without a result there is nothing for the next input to wait for, and one without a type cannot be put into a register.

use nanobench::nanobench;

#[nanobench(latency, inputs = [1, 2])]
fn nothing(x: u64) {
    assert!(x > 0);
}

#[nanobench(latency, inputs = [1, 2])]
fn something(x: u64) -> impl Copy {
    x
}

#[nanobench(latency, inputs = [1, 2])]
fn reference_and_nothing(x: &u64) {
    assert!(*x > 0);
}

fn main() {}
