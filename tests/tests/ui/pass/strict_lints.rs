//! A crate that allows no warning: measuring a function is a use of it, and nothing in the expansion is remarkable.

#![deny(warnings, future_incompatible, let_underscore, nonstandard_style, rust_2024_compatibility, unused)]
#![forbid(
    missing_docs,
    dead_code,
    absolute_paths_not_starting_with_crate,
    elided_lifetimes_in_paths,
    explicit_outlives_requirements,
    missing_copy_implementations,
    missing_debug_implementations,
    redundant_lifetimes,
    single_use_lifetimes,
    trivial_casts,
    trivial_numeric_casts,
    unreachable_pub,
    unsafe_code,
    unused_import_braces,
    unused_lifetimes,
    unused_qualifications,
    unused_results,
    variant_size_differences
)]

use std::path::{Path, PathBuf};
use std::time::Duration;

use nanobench::nanobench;

const AMOUNT: f64 = 3.0;

#[nanobench]
fn plain() {}

#[nanobench(
    latency,
    throughput,
    inputs = [1, 2],
    by = |x| *x,
    epochs = 3,
    max_time = "1ms",
    max_epoch_time = Duration::from_millis(1),
    unit = "byte",
    batch = AMOUNT
)]
fn with_inputs(x: u64) -> u64 {
    x
}

#[nanobench(inputs = [PathBuf::from("a")], unit = String::from("byte"), batch = 3_u8)]
fn by_reference(path: &Path) -> usize {
    path.components().count()
}

fn main() {}
