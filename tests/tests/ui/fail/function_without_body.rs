//! A function of a trait, to be written elsewhere.

use nanobench::nanobench;

trait T {
    #[nanobench]
    fn f();
}

fn main() {}
