//! Parameters taken by value. The type of the parameter is the type of the inputs.

#[path = "../registered.rs"]
mod registered;

use std::collections::BTreeMap;

use nanobench::nanobench;

#[nanobench(inputs = [1, 2, 300_000_000_000])]
fn integer(x: u64) -> u64 {
    x
}

#[nanobench(inputs = [(1, 0.5), (2, 0.25)])]
fn tuple((a, b): (u8, f32)) -> f32 {
    f32::from(a) * b
}

#[nanobench(inputs = [vec![2, 1], vec![]])]
fn owned(mut values: Vec<u32>) -> Vec<u32> {
    values.sort();
    values
}

#[nanobench(inputs = [BTreeMap::from([(1, "a".into())])])]
fn two_type_arguments(map: BTreeMap<u8, String>) -> usize {
    map.len()
}

#[nanobench(inputs = [[0; 4], [1; 4]])]
fn array([a, .., b]: [u64; 4]) -> u64 {
    a + b
}

#[nanobench(inputs = [])]
#[cfg(any())]
fn configured_out(x: Missing) {}

#[nanobench(inputs = [u8::is_ascii_digit as fn(&u8) -> bool])]
fn function_pointer(f: fn(&u8) -> bool) -> bool {
    f(&b'5')
}

#[nanobench(inputs = ["a", "b"])]
fn static_reference(text: &'static str) -> &'static str {
    text
}

fn main() {
    assert_eq!(registered::count(), 7);
    assert_eq!(integer(1), 1);
    assert_eq!(owned(vec![2, 1]), [1, 2]);
}
