//! What does a lookup cost whose data is in the caches, and what does it cost when all of it has to come from memory?
//!
//! A service that looks something up once in a while pays the second price. On a virtual machine with 32 MiB of third-level cache
//! (EPYC, fourth generation) and pages of 4 KiB, `cargo bench --bench cold` said, in nanoseconds:
//!
//! | | warm | cold |
//! |---|---|---|
//! | binary search among 100,000 numbers | 27 | 3,300 to 3,500 |
//! | lookup in a hash map of as many | 18 | 1,220 to 1,300 |
//! | 1 and 8 steps of a chain through 512 KiB | | 660 to 810, and 3,330 to 3,470 |
//! | 1 and 8 steps of a chain through 16 MiB | | 880 to 970, and 4,760 to 4,820 |
//! | nothing at all | | less than 30 |
//!
//! So a further step costs 380 or 550: a line from memory, and the translation of its address, which itself is not in the caches. In
//! the larger chain hardly two steps share a part of the tables. The first step costs more, since it has to find the chain. The
//! search is then about as long as nine misses that wait for each other, and the map as three.

use std::collections::HashMap;
use std::sync::LazyLock;

use nanobench::nanobench;
use nanobench_examples::random_numbers;

const ENTRIES: usize = 100_000;

static SORTED: LazyLock<Vec<u64>> = LazyLock::new(|| {
    let mut numbers: Vec<u64> = random_numbers().take(ENTRIES).collect();
    numbers.sort_unstable();
    numbers
});

static MAP: LazyLock<HashMap<u64, u64>> = LazyLock::new(|| random_numbers().take(ENTRIES).zip(0..).collect());

/// The keys of both, all in the same row. The first call makes the data, and `warmup` keeps it out of the search for the length
/// of an epoch.
fn keys() -> impl Iterator<Item = u64> {
    random_numbers().take(ENTRIES)
}

#[nanobench(inputs = keys(), by = |_| "any", warmup = 1)]
fn binary_search_warm(key: u64) -> Result<usize, usize> {
    SORTED.binary_search(&key)
}

#[nanobench(cold, inputs = keys(), by = |_| "any")]
fn binary_search_cold(key: u64) -> Result<usize, usize> {
    SORTED.binary_search(&key)
}

#[nanobench(inputs = keys(), by = |_| "any", warmup = 1)]
fn lookup_warm(key: u64) -> Option<u64> {
    MAP.get(&key).copied()
}

#[nanobench(cold, inputs = keys(), by = |_| "any")]
fn lookup_cold(key: u64) -> Option<u64> {
    MAP.get(&key).copied()
}

/// At each place stands the next one. A place fills a cache line.
type Chain = Vec<[usize; 8]>;

const NEAR_PLACES: usize = 1 << 13;
const FAR_PLACES: usize = 1 << 18;

static NEAR: LazyLock<Chain> = LazyLock::new(|| chain(NEAR_PLACES));
static FAR: LazyLock<Chain> = LazyLock::new(|| chain(FAR_PLACES));

/// A chain through all places in random order.
fn chain(places: usize) -> Chain {
    let mut next: Vec<usize> = (0..places).collect();
    // Sattolo's shuffle leaves a single cycle (S. Sattolo, Information Processing Letters 22, 1986).
    for (last, random) in (1..places).rev().zip(random_numbers()) {
        next.swap(last, random as usize % last);
    }
    next.into_iter().map(|next| [next; 8]).collect()
}

/// Each step waits for the one before.
fn follow(chain: &Chain, steps: usize, from: u64) -> usize {
    (0..steps).fold(from as usize % chain.len(), |place, _| chain[place][0])
}

#[nanobench(cold, inputs = random_numbers().take(1_000), by = |_| "any")]
fn near_1(from: u64) -> usize {
    follow(&NEAR, 1, from)
}

#[nanobench(cold, inputs = random_numbers().take(1_000), by = |_| "any")]
fn near_8(from: u64) -> usize {
    follow(&NEAR, 8, from)
}

#[nanobench(cold, inputs = random_numbers().take(1_000), by = |_| "any")]
fn far_1(from: u64) -> usize {
    follow(&FAR, 1, from)
}

#[nanobench(cold, inputs = random_numbers().take(1_000), by = |_| "any")]
fn far_8(from: u64) -> usize {
    follow(&FAR, 8, from)
}

#[nanobench(cold)]
fn nothing() {}

nanobench::main!();
