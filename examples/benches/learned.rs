//! How many random branches does the branch predictor of this machine learn by heart?
//!
//! A list of random bits is walked over and over, with a branch on each. As long as the predictor remembers the whole list a branch
//! costs nothing, although nobody could guess the bits; a list that is longer than what it remembers costs half a misprediction a branch.
//! A benchmark that replays one list of inputs, however well shuffled, measures the first case, and a program that sees new data lives in
//! the second: that is why this framework draws the inputs of every sample anew.
//!
//! ```text
//! cargo bench --bench learned
//! ```
//!
//! The last table is about fresh lists: the bits change before every walk. On an EPYC of the fourth generation lists of up to 2^14
//! branches cost 1.3 to 2.8 cycles a branch, 2^16 cost 6, and from 2^17 on it is the 12 cycles of a fresh list.

use nanobench::{Bench, Rng, black_box};

const LENGTHS: std::ops::RangeInclusive<u32> = 6..=18;

/// Branches on every element. Both ways do something that cannot be done without a branch.
fn walk(bits: &[bool]) -> u64 {
    let mut sum = 0;
    for &bit in bits {
        if bit {
            sum = black_box(sum + 1);
        } else {
            sum = black_box(sum + 3);
        }
    }
    sum
}

fn main() {
    let is_measuring = std::env::args().any(|argument| argument == "--bench");
    let lengths = if is_measuring { LENGTHS } else { 6..=7 };
    let mut rng = Rng::new(1);
    let mut bits = |length: usize| (0..length).map(|_| rng.bounded(2) == 1).collect::<Vec<bool>>();

    let mut bench = Bench::new();
    bench.title("the same list again").unit("branch").relative(true);
    for exponent in lengths {
        let length = 1 << exponent;
        let list = bits(length);
        bench.batch(length as f64).run(format!("2^{exponent} branches"), || walk(black_box(&list)));
    }

    bench.title("a new list each time");
    for exponent in [6, 10] {
        let length = 1 << exponent;
        bench
            .batch(length as f64)
            .with_inputs(|| bits(length))
            .run_refs(format!("2^{exponent} branches"), |list| walk(list));
    }
}
