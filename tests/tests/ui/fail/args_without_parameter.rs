use nanobench::nanobench;

#[nanobench(args = [1, 2])]
fn nothing() {}

fn main() {}
