//! Labels: closures whose parameter needs no type, closures that have one, and functions.

#[path = "../registered.rs"]
mod registered;

use std::collections::BTreeMap;

use nanobench::nanobench;

#[nanobench(inputs = 0..1_000, by = |x| x % 3)]
fn closure(x: u64) -> u64 {
    x
}

#[nanobench(inputs = [vec![1], vec![1, 2]], by = |values: &Vec<u8>| values.len(), epochs = 3)]
fn typed_closure(values: &Vec<u8>) -> usize {
    values.len()
}

#[nanobench(inputs = [BTreeMap::from([(1, 2)])], by = |map: &BTreeMap<u8, u8>| map.len(), epochs = 3)]
fn comma_between_the_bars(map: &BTreeMap<u8, u8>) -> usize {
    map.len()
}

#[nanobench(by = Vec::len, inputs = [vec![1], vec![1, 2]])]
fn function(values: Vec<u8>) -> usize {
    values.len()
}

#[nanobench(inputs = [true, false], by = |&hit| if hit { "hit" } else { "miss" })]
fn words(hit: bool) -> bool {
    hit
}

const LIMIT: u32 = 5;

#[nanobench(inputs = [1, 9], by = |x| -> bool { *x < LIMIT }, epochs = 3)]
fn comparison(x: u32) -> u32 {
    x
}

fn main() {
    assert_eq!(registered::count(), 6);
}
