//! Names that could not be read or filtered.

use nanobench::nanobench;

#[nanobench(name = "")]
fn f() {}

#[nanobench(name = "two\nlines")]
fn g() {}

#[nanobench(name = b"bytes")]
fn h() {}

#[nanobench(name = f)]
fn i() {}

#[nanobench(unit = " ")]
fn j() {}

#[nanobench(unit = 5)]
fn k() {}

fn main() {}
