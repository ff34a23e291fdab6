use nanobench::nanobench;

#[nanobench(args = [Some(1), None], complexity)]
fn twice(n: Option<u64>) -> Option<u64> {
    n.map(|n| 2 * n)
}

fn main() {}
