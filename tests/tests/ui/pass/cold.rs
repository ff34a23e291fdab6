//! `cold` is a flag, for functions with and without inputs and beside other options.

#[path = "../registered.rs"]
mod registered;

use nanobench::nanobench;
use registered::settings;

#[nanobench(cold)]
fn plain() {}

#[nanobench(cold, latency, repeated, inputs = [1, 2])]
fn number(x: u64) -> u64 {
    x + 1
}

#[nanobench]
fn warm() {}

fn main() {
    assert_eq!(registered::count(), 3);
    assert_eq!(settings("plain").cold, Some(true));
    assert_eq!((settings("number").cold, settings("number").compare_repeated), (Some(true), Some(true)));
    assert!(registered::entry("warm").settings.is_none());
}
