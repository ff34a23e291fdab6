//! Groups are modules.

#[nanobench::group(epochs = 3)]
fn f() {}

fn main() {}
