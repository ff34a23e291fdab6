use nanobench::{Bencher, nanobench};

#[nanobench]
fn measured(bencher: Bencher, n: u64) {
    bencher.run(|| n);
}

fn main() {}
