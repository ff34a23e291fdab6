//! A mistake in an option is the only error: the function is still there for its other users.

use nanobench::nanobench;

#[nanobench(epochs = 0)]
fn f() -> u64 {
    5
}

pub fn user() -> u64 {
    f()
}

fn main() {}
