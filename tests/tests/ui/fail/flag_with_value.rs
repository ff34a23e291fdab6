//! A flag is there or not.

use nanobench::nanobench;

#[nanobench(ignore = true)]
fn f() {}

fn main() {}
