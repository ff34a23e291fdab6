//! An input that one call could change for the next.

use nanobench::nanobench;

#[nanobench(inputs = [vec![2, 1]])]
fn f(values: &mut Vec<u64>) {
    values.sort();
}

fn main() {}
