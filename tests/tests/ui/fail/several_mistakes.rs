//! All mistakes in options and signature are reported at once.

use nanobench::nanobench;

#[nanobench(epochs = 0, max_time = 5, color = true, by = |x| x, ignore = 1)]
async fn f<T>(_x: impl Into<T>, _y: &mut T) {}

fn main() {}
