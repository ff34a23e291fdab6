//! Items that are no functions.

use nanobench::nanobench;

#[nanobench]
struct S;

#[nanobench]
mod m {}

#[nanobench]
const N: u64 = 1;

/// Documented.
#[nanobench]
pub(crate) static T: u64 = 1;

#[nanobench]
impl S {}

fn main() {}
