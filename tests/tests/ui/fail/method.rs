//! Functions of a type, with a receiver.

use nanobench::nanobench;

struct S;

impl S {
    #[nanobench]
    fn by_reference(&self) {}

    #[nanobench]
    fn by_value(self) {}

    #[nanobench]
    fn typed(self: Box<Self>) {}
}

fn main() {}
