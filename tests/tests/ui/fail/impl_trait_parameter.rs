//! A parameter of any type with a trait.

use nanobench::nanobench;

#[nanobench(inputs = ["a"])]
fn f(text: impl AsRef<str>) -> usize {
    text.as_ref().len()
}

#[nanobench(inputs = ["a"])]
fn g(text: &impl ToString) -> usize {
    text.to_string().len()
}

fn main() {}
