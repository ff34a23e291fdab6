//! What could be repeated has to be there.

use nanobench::nanobench;

#[nanobench(repeated)]
fn nothing() {}

fn main() {}
