//! Nobody has made the promise that it asks for.

use nanobench::nanobench;

#[nanobench]
unsafe fn f() {}

fn main() {}
