use nanobench::nanobench;

#[nanobench(args = [])]
fn twice(n: u64) -> u64 {
    2 * n
}

fn main() {}
