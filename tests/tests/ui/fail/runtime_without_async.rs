use nanobench::nanobench;

#[nanobench(runtime = Runtime::new())]
fn nothing() {}

fn main() {}
