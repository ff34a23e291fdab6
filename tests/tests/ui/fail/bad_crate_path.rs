//! A path in quotes, and what is no path at all.

use nanobench::nanobench;

#[nanobench(crate = "nanobench")]
fn f() {}

#[nanobench(crate = nanobench())]
fn g() {}

fn main() {}
