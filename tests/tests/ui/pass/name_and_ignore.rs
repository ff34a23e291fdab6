//! A name of one's own, a flag, raw names of options and a comma at the end.

#[path = "../registered.rs"]
mod registered;

use nanobench::nanobench;

#[rustfmt::skip]
#[nanobench(name = "memcpy, 3 bytes: \u{b5}", ignore,)]
fn renamed() {}

#[nanobench(r#ignore, r#name = r"raw\string")]
fn raw() {}

fn main() {
    assert_eq!(registered::count(), 2);
    assert!(registered::entry("memcpy, 3 bytes: \u{b5}").ignore);
    assert!(registered::entry(r"raw\string").ignore);
}
