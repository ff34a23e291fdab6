//! A function, a parameter and a type with raw names. The benchmark's name is the plain word.

#[path = "../registered.rs"]
mod registered;

use nanobench::nanobench;

#[allow(non_camel_case_types)]
type r#struct = u64;

#[nanobench(inputs = [1])]
fn r#loop(r#in: r#struct) -> u64 {
    r#in
}

#[nanobench]
fn r#match() {}

fn main() {
    assert_eq!(registered::count(), 2);
    assert_eq!(registered::entry("loop").line, 11);
    assert_eq!(registered::entry("match").name, "match");
}
