//! Which of several ways is the fastest, and is the difference real?
//!
//! ```sh
//! cargo run --release -p nanobench-examples --example comparing
//! ```
//!
//! The last byte of a short text that is neither white space nor a sign, found in four ways. A table with `relative(true)` shows
//! figures that were measured one after the other, and what happened to the machine between them is in the comparison.
//! `compare` lets them take turns in short rounds, which it takes to tell ways apart that differ by a per cent, and to call equal
//! what is equal: the first way takes part twice.

use nanobench::{Bench, Case, black_box};

const TEXT: &str = "a text as long as this one, with something at its end?!  ";

fn is_wanted(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn backwards(text: &str) -> Option<usize> {
    text.bytes().rposition(is_wanted)
}

fn forwards(text: &str) -> Option<usize> {
    text.bytes().enumerate().fold(None, |last, (index, byte)| if is_wanted(byte) { Some(index) } else { last })
}

fn by_search(text: &str) -> Option<usize> {
    text.rfind(|c: char| c.is_ascii_alphanumeric())
}

fn main() {
    let mut bench = Bench::new();
    bench.title("one after the other").relative(true);
    bench.run("backwards", || backwards(black_box(TEXT)));
    bench.run("by search", || by_search(black_box(TEXT)));
    bench.run("forwards", || forwards(black_box(TEXT)));

    let comparison = bench.compare([
        Case::new("backwards", || backwards(black_box(TEXT))),
        Case::new("backwards again", || backwards(black_box(TEXT))),
        Case::new("by search", || by_search(black_box(TEXT))),
        Case::new("forwards", || forwards(black_box(TEXT))),
    ]);
    let same = if comparison.is_significant(1) { "differs from itself" } else { "is as fast as itself" };
    println!("\nThe first way {same}.");
}
