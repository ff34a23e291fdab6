//! A function with the calling convention of another language.

use nanobench::nanobench;

#[nanobench]
extern "C" fn f() {}

fn main() {}
