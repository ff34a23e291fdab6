//! Anything to iterate over can be `inputs`, and a comma inside of it does not end it.

#[path = "../registered.rs"]
mod registered;

use std::collections::HashMap;
use std::iter;

use nanobench::nanobench;

const KEYS: [u64; 3] = [1, 2, 3];

fn pairs<A: From<u8>, B: From<u8>>() -> Vec<(A, B)> {
    vec![(1.into(), 2.into())]
}

#[nanobench(inputs = KEYS)]
fn constant(x: u64) -> u64 {
    x
}

#[nanobench(inputs = 1..=3, epochs = 3)]
fn range(x: u64) -> u64 {
    x
}

#[nanobench(inputs = pairs::<u16, u32>(), epochs = 3)]
fn type_arguments((a, b): (u16, u32)) -> u32 {
    u32::from(a) + b
}

#[nanobench(inputs = <HashMap<u8, u8> as Default>::default().into_iter().chain([(1, 2)]), epochs = 3)]
fn qualified_path((a, _): (u8, u8)) -> u8 {
    a
}

#[nanobench(inputs = { let mut x = 1; iter::repeat_with(move || { x *= 3; x }).take(10) })]
fn block(x: u64) -> u64 {
    x
}

#[nanobench(inputs = if KEYS[0] < 3 { [1, 2] } else { [3, 4] }, epochs = 3)]
fn condition(x: u64) -> u64 {
    x
}

#[nanobench(inputs = std::env::args().map(|argument| argument.len()),)]
fn run_time(x: usize) -> usize {
    x
}

fn main() {
    assert_eq!(registered::count(), 7);
}
