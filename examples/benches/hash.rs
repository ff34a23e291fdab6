//! What does a lookup in the standard library's hash map cost, for a key that is there and for one that is not?
//!
//! Ten thousand entries; half of the lookups find nothing, and nobody knows beforehand which.

use std::collections::HashMap;
use std::sync::LazyLock;

use nanobench::nanobench;
use nanobench_examples::random_numbers;

const ENTRIES: usize = 10_000;

static MAP: LazyLock<HashMap<u64, u64>> = LazyLock::new(|| random_numbers().take(ENTRIES).zip(0..).collect());

/// The keys of the map, and as many others.
fn keys() -> impl Iterator<Item = u64> {
    random_numbers().take(2 * ENTRIES)
}

#[nanobench(inputs = keys(), by = |key| if MAP.contains_key(key) { "present" } else { "absent" })]
fn lookup(key: u64) -> Option<u64> {
    MAP.get(&key).copied()
}

nanobench::main!();
