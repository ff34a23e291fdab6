//! The function keeps its attributes, documentation, visibility and body, and can be used as before.

#![deny(missing_docs, deprecated)]

#[path = "../registered.rs"]
mod registered;

/// A module.
pub mod inner {
    /// A benchmark.
    #[must_use]
    #[inline(always)]
    #[nanobench::nanobench(inputs = [2, 3])]
    #[allow(unused_variables)]
    pub fn square(x: u64) -> u64 {
        let unused = 5;
        let line = line!();
        assert_eq!(line, 17);
        x * x
    }
}

fn main() {
    assert_eq!(inner::square(3), 9);
    assert_eq!([1, 2].map(inner::square), [1, 4]);
    assert_eq!(registered::count(), 1);
}
