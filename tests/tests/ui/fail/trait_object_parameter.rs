//! A reference to a trait object.

use nanobench::nanobench;

#[nanobench(inputs = ["a"])]
fn f(text: &dyn ToString) -> usize {
    text.to_string().len()
}

fn main() {}
