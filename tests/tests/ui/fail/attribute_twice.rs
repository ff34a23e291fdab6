//! Two attributes on one function.

use nanobench::nanobench;

#[nanobench]
#[nanobench(epochs = 3)]
fn f() {}

#[nanobench]
#[nanobench::nanobench]
fn g() {}

fn main() {}
