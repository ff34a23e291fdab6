//! How does the cost grow with the size?
//!
//! ```sh
//! cargo run --release -p nanobench-examples --example complexity
//! ```
//!
//! Three functions whose class everybody knows: sorting, binary search, and a loop within a loop. Each is measured at several
//! sizes, with new inputs for every call where it would otherwise learn them, and the class is named if its lead over the others is
//! real.

use std::time::Duration;

use nanobench::{Bench, black_box};
use nanobench_examples::random_numbers;

fn main() {
    let mut random = random_numbers();
    let mut numbers = |n: usize| random.by_ref().take(n).collect::<Vec<u64>>();

    let mut bench = Bench::new();
    bench.title("sort_unstable").max_time(Duration::from_millis(100));
    // Half a doubling from each to the next: a logarithm takes many sizes to be told from none.
    for n in (10..=28).map(|halves| 2f64.powf(f64::from(halves) / 2.0) as usize) {
        bench
            .complexity_n(n as f64)
            .with_inputs(|| numbers(n))
            .run_refs(format!("sort {n}"), |numbers| numbers.sort_unstable());
    }
    println!("\n{}", bench.complexity_big_o());

    bench.title("binary search");
    // Up to the size of a first-level cache: what waits for larger ones costs more with each of them, whatever the algorithm.
    for n in (2..=12).map(|doublings| 1usize << doublings) {
        let mut sorted = numbers(n);
        sorted.sort_unstable();
        let mut wanted = nanobench::Rng::new(n as u64);
        bench
            .complexity_n(n as f64)
            .with_inputs(|| sorted[wanted.bounded(n as u32) as usize])
            .run_values(format!("search among {n}"), |number| black_box(&sorted).binary_search(&number));
    }
    println!("\n{}", bench.complexity_big_o());

    bench.title("pairs");
    for n in [20, 50, 100, 200, 500, 1_000] {
        let numbers = numbers(n);
        bench.complexity_n(n as f64).run(format!("pairs of {n}"), || count_pairs(black_box(&numbers)));
    }
    println!("\n{}", bench.complexity_big_o());
}

/// How many pairs of numbers have a sum that a hash table of 256 slots would put into the first.
fn count_pairs(numbers: &[u64]) -> usize {
    let is_first = |a: u64, b: u64| a.wrapping_add(b).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56 == 0;
    numbers.iter().map(|&a| numbers.iter().filter(|&&b| is_first(a, b)).count()).sum()
}
