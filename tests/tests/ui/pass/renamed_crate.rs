//! The crate under another path, and the attribute under another name.

#[path = "../registered.rs"]
mod registered;

mod tools {
    pub mod bench {
        pub use nanobench::{__private, nanobench};
    }
}

extern crate nanobench as other;

use tools::bench::nanobench as measured;

#[measured(crate = crate::tools::bench)]
fn absolute() {}

#[measured(crate = tools::bench, inputs = [1], by = |x| *x, epochs = 3)]
fn relative(x: u8) -> u8 {
    x
}

#[other::nanobench(crate = other)]
fn through_extern_crate() {}

#[::nanobench::nanobench(crate = ::nanobench)]
fn from_the_root() {}

fn main() {
    assert_eq!(registered::count(), 4);
}
