//! A shoot-out of random generators: how long does a number take from each?
//!
//! ```sh
//! cargo run --release -p nanobench-examples --example random_generators
//! ```
//!
//! Each number depends on the state that the one before has left, so the generators are compared by what a program that draws
//! one number after the other waits for. The table is sorted by nothing but the order below; `relative` is against the first.

use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;

use nanobench::{Bench, Case, Rng, black_box};

/// Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// Marsaglia, "Xorshift RNGs", 2003.
struct XorShift(u64);

impl XorShift {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// O'Neill, "PCG: A Family of Simple Fast Space-Efficient Statistically Good Algorithms for Random Number Generation", 2014:
/// PCG-XSH-RR with 64 bits of state.
struct Pcg(u64);

impl Pcg {
    fn next(&mut self) -> u32 {
        let old = self.0;
        self.0 = old.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mixed = (((old >> 18) ^ old) >> 27) as u32;
        mixed.rotate_right((old >> 59) as u32)
    }
}

/// The hash of a counter, with the function that the standard library's maps use.
struct Counter(u64);

impl Counter {
    fn next(&mut self) -> u64 {
        self.0 += 1;
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(self.0);
        hasher.finish()
    }
}

fn main() {
    let mut romu = Rng::new(1);
    let (mut split_mix, mut xor_shift, mut pcg, mut counter) = (SplitMix(1), XorShift(1), Pcg(1), Counter(1));

    let mut bench = Bench::new();
    bench.title("random generators").unit("number").relative(true);
    bench.run("RomuDuoJr", || romu.next_u64());
    bench.run("SplitMix64", || split_mix.next());
    bench.run("xorshift64", || xor_shift.next());
    bench.run("PCG32", || pcg.next());
    bench.run("SipHash of a counter", || counter.next());
    bench.run("RomuDuoJr, bounded", || romu.bounded(black_box(1_000)));

    bench.compare([
        Case::new("RomuDuoJr", || romu.next_u64()),
        Case::new("SplitMix64", || split_mix.next()),
        Case::new("xorshift64", || xor_shift.next()),
    ]);
}
