//! What does it cost to sort a thousand random numbers?
//!
//! Each call gets numbers of its own by value, cloned while the clock stands still, so that nothing sorted is sorted again
//! and neither the clone nor the drop is timed. With the same numbers every time the processor would come to foresee the
//! comparisons.

use nanobench::nanobench;
use nanobench_examples::random_numbers;

const LENGTH: usize = 1_000;
const VECTORS: usize = 64;

fn vectors() -> Vec<Vec<u64>> {
    let numbers: Vec<u64> = random_numbers().take(VECTORS * LENGTH).collect();
    numbers.chunks(LENGTH).map(<[u64]>::to_vec).collect()
}

#[nanobench(inputs = vectors(), by = Vec::len)]
fn sort_unstable(mut numbers: Vec<u64>) -> Vec<u64> {
    numbers.sort_unstable();
    numbers
}

nanobench::main!();
