use nanobench::nanobench;

#[nanobench(bytes = "many")]
fn nothing() {}

fn main() {}
