//! A function can be a test and a benchmark.

#![deny(warnings)]

#[path = "../registered.rs"]
#[allow(dead_code)]
mod registered;

use nanobench::nanobench;

#[nanobench]
#[test]
fn checked() {
    assert_eq!(1 + 1, 2);
}

#[nanobench]
#[test]
#[ignore = "slow"]
fn checked_sometimes() {}

fn main() {
    assert_eq!(registered::count(), 2);
    assert!(!registered::entry("checked").ignore && registered::entry("checked_sometimes").ignore);
}
