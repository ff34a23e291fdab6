//! Lifetime parameters, named and left out.

#[path = "../registered.rs"]
mod registered;

use nanobench::nanobench;

#[derive(Clone, Debug, PartialEq)]
struct Word<'a>(&'a str);

#[nanobench(inputs = ["a"])]
fn named<'a>(text: &'a str) -> usize {
    text.len()
}

#[nanobench(inputs = [Word("a")])]
fn in_a_value<'a>(word: Word<'a>) -> &'a str {
    word.0
}

#[nanobench(inputs = [Word("a")])]
fn behind_a_reference<'a>(word: &Word<'a>) -> &'a str {
    word.0
}

#[nanobench(inputs = [("a", 1)])]
fn left_out((text, number): (&str, usize)) -> usize {
    text.len() + number
}

#[nanobench]
fn of_the_result_only<'a>() -> &'a str {
    "a"
}

fn main() {
    assert_eq!(registered::count(), 5);
    assert_eq!(in_a_value(Word("a")), "a");
}
