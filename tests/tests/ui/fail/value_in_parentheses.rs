//! A value in parentheses, as in other attributes.

use nanobench::nanobench;

#[nanobench(epochs(51))]
fn f() {}

fn main() {}
