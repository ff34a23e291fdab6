use nanobench::nanobench;

#[nanobench(args = [1, 2], inputs = [3, 4])]
fn twice(n: u64) -> u64 {
    2 * n
}

fn main() {}
