use nanobench::nanobench;

#[nanobench(args = ["one", "two"])]
fn twice(n: u64) -> u64 {
    2 * n
}

fn main() {}
