use nanobench::nanobench;

#[nanobench(complexity)]
fn nothing() {}

fn main() {}
