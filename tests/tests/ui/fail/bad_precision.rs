//! Literals that are no shares.

use nanobench::nanobench;

#[nanobench(precision = 1)]
fn f() {}

#[nanobench(precision = 1.0)]
fn g() {}

#[nanobench(precision = 0.0)]
fn h() {}

#[nanobench(precision = -0.1)]
fn i() {}

#[nanobench(precision = "1%")]
fn j() {}

fn main() {}
