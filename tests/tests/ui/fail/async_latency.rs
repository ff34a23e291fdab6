use nanobench::nanobench;

#[nanobench(latency, inputs = [1])]
async fn next(x: u64) -> u64 {
    x + 1
}

fn main() {}
