//! References to types without a size: the inputs are of any type that lends them.

#[path = "../registered.rs"]
mod registered;

use std::ffi::{CStr, CString, OsStr, OsString};
use std::path::{Path, PathBuf};

use nanobench::nanobench;

#[nanobench(inputs = ["a", "bc"], by = |text| text.len())]
fn literal(text: &str) -> usize {
    text.len()
}

#[nanobench(inputs = [String::from("a")], by = |text| text.len())]
fn string(text: &str) -> usize {
    text.len()
}

#[nanobench(inputs = [vec![1, 2, 3], vec![]], by = |values| values.len())]
fn slice(values: &[u8]) -> usize {
    values.len()
}

#[nanobench(inputs = [[1, 2, 3]])]
fn slice_of_array(values: &[u64]) -> usize {
    values.len()
}

#[nanobench(inputs = [PathBuf::from("a/b")])]
fn path(path: &Path) -> usize {
    path.components().count()
}

#[nanobench(inputs = [OsString::from("a")])]
fn os_str(text: &std::ffi::OsStr) -> usize {
    text.len()
}

#[nanobench(inputs = [OsStr::new("a")])]
fn os_str_from_reference(text: &OsStr) -> usize {
    text.len()
}

#[nanobench(inputs = [c"a".to_owned(), CString::default()])]
fn c_str(text: &CStr) -> usize {
    text.to_bytes().len()
}

fn main() {
    assert_eq!(registered::count(), 8);
    assert_eq!(literal("abc"), 3);
}
