use nanobench::{Bencher, nanobench};

#[nanobench(inputs = [1, 2])]
fn measured(bencher: Bencher) {
    bencher.run(|| 1);
}

fn main() {}
