//! Threads are counted.

use nanobench::nanobench;

#[nanobench(threads = "all")]
fn f() {}

#[nanobench(threads = [])]
fn g() {}

fn main() {}
