//! Parameters taken by reference. The inputs are what the references refer to.

#[path = "../registered.rs"]
mod registered;

use nanobench::nanobench;

#[nanobench(inputs = [1, 2])]
fn integer(x: &u64) -> u64 {
    *x
}

#[nanobench(inputs = [String::from("a")])]
fn string(text: &String) -> usize {
    text.len()
}

#[nanobench(inputs = [[1, 2, 3]])]
fn array(values: &[u8; 3]) -> u8 {
    values[0]
}

#[nanobench(inputs = ["a", "b"])]
fn twice(text: &&str) -> usize {
    text.len()
}

#[nanobench(inputs = (0..4).map(|x| vec![x; 10]))]
fn generic_type(values: &Vec<u16>) -> u16 {
    values.iter().sum()
}

fn main() {
    assert_eq!(registered::count(), 5);
    assert_eq!(integer(&1), 1);
}
