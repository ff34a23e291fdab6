//! Calling it would only make a future.

use nanobench::nanobench;

#[nanobench]
async fn f() {}

fn main() {}
