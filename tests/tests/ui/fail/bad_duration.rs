//! Texts that are no durations.

use nanobench::nanobench;

#[nanobench(min_epoch_time = "5")]
fn no_unit() {}

#[nanobench(max_epoch_time = "5 sec")]
fn unknown_unit() {}

#[nanobench(max_time = "soon")]
fn no_number() {}

#[nanobench(min_epoch_time = "0.5ns")]
fn too_fine() {}

#[nanobench(max_time = "0s")]
fn zero() {}

#[nanobench(max_epoch_time = "600000000 min")]
fn too_long() {}

fn main() {}
