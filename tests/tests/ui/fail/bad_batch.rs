//! Amounts that no work can have.

use nanobench::nanobench;

#[nanobench(batch = 0)]
fn f() {}

#[nanobench(batch = -1.5)]
fn g() {}

#[nanobench(batch = "1024")]
fn h() {}

fn main() {}
