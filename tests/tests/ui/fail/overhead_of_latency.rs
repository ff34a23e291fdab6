use nanobench::nanobench;

#[nanobench(latency, overhead = "subtract", inputs = [1])]
fn alone(x: u64) -> u64 {
    x + 1
}

#[nanobench(latency, throughput, overhead = "subtract", inputs = [1])]
fn both(x: u64) -> u64 {
    x + 1
}

#[nanobench(overhead = 1)]
fn of_a_number() {}

fn main() {}
