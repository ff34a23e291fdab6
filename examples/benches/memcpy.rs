//! What does a copy of a few bytes cost when its length is not known beforehand?
//!
//! Short copies are a chain of branches on the length. With the same length over and over the processor foresees them all.
//! With this mix it does best to bet on the path that 4 and 7 share, and pays for the lost bet whenever 3 or 8 comes.

use nanobench::{black_box, nanobench};

#[nanobench(inputs = [3, 3, 4, 4, 7, 7, 8, 8])]
fn copy(length: usize) -> u8 {
    let from = black_box([1u8; 8]);
    let mut to = [0u8; 8];
    to[..length].copy_from_slice(&from[..length]);
    to[0]
}

nanobench::main!();
