//! Functions without parameters, of every kind that can be called by itself.

#[path = "../registered.rs"]
mod registered;

use nanobench::nanobench;

#[nanobench]
fn plain() -> u64 {
    1
}

#[nanobench()]
pub fn empty_parentheses() {}

#[nanobench]
pub(crate) const fn constant() -> u64 {
    3
}

#[nanobench]
fn owning() -> String {
    "five".to_owned()
}

#[nanobench]
fn opaque() -> impl Iterator<Item = u8> {
    0..6
}

#[nanobench]
fn where_clause() -> u8
where
    u8: Copy,
{
    7
}

fn main() {
    assert_eq!(registered::count(), 6);
    assert_eq!(plain() + constant(), 4);
    assert_eq!(registered::entry("plain").module_path, module_path!());
    assert!(!registered::entry("plain").ignore);
    assert!(registered::entry("plain").settings.is_none());
    assert!(registered::entry("plain").file.ends_with("no_inputs.rs"));
    assert_eq!(registered::entry("plain").line, 8);
}
