//! Results that borrow from the input.

#[path = "../registered.rs"]
mod registered;

use std::borrow::Cow;

use nanobench::nanobench;

#[nanobench(inputs = [" a "])]
fn slice(text: &str) -> &str {
    text.trim()
}

#[nanobench(inputs = [" a ".to_owned()])]
fn named<'a>(text: &'a str) -> Option<&'a str> {
    text.split(' ').next()
}

#[nanobench(inputs = ["a b"])]
fn owning(text: &str) -> Vec<&str> {
    text.split(' ').collect()
}

#[nanobench(inputs = [vec![1, 2]])]
fn of_a_sized_type(values: &Vec<u8>) -> Option<&u8> {
    values.iter().max()
}

#[nanobench(inputs = ["a"])]
fn hidden(text: &str) -> Cow<'_, str> {
    text.into()
}

#[nanobench(inputs = ["a"])]
fn opaque(text: &str) -> impl Iterator<Item = char> {
    text.chars()
}

fn main() {
    assert_eq!(registered::count(), 6);
    assert_eq!(slice(" a "), "a");
}
