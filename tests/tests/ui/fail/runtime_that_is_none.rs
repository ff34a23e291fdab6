use nanobench::nanobench;

struct Idle;

#[nanobench(runtime = Idle)]
async fn nothing() {}

fn main() {}
