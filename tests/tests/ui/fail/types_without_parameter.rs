use nanobench::nanobench;

#[nanobench(types = [u8, u16])]
fn nothing() {}

fn main() {}
