//! Every kind of case, where names mean something else than usual.

#![no_implicit_prelude]
#![deny(warnings)]
#![forbid(unsafe_code)]

mod std {}
mod core {}
#[allow(dead_code)]
struct Option;
#[allow(dead_code)]
struct Box;

use ::nanobench::Bencher;

#[::nanobench::nanobench(args = [1, 2], complexity, bytes = |n| *n)]
fn by_value(n: u64) -> u64 {
    n
}

#[::nanobench::nanobench(args = ["a", "b"])]
fn by_reference(text: &str) -> &str {
    text
}

#[::nanobench::nanobench(args = [3], inputs = [1, 2], by = |x| x % 2)]
fn mixed(n: u64, x: &u64) -> u64 {
    n + x
}

#[::nanobench::nanobench(types = [u8, ::std::vec::Vec<(u8, u16)>], consts = [1, { 1 + 1 }])]
fn generic<T: ::std::default::Default, const N: usize>() -> [T; N] {
    ::std::array::from_fn(|_| T::default())
}

#[::nanobench::nanobench(types = [u8], args = [T::default()], inputs = [T::default()])]
fn of_parameter<'a, T>(_arg: &'a T, input: T) -> T
where
    T: ::std::default::Default,
{
    input
}

#[::nanobench::nanobench(args = [1])]
fn prepared(bencher: Bencher, n: usize) {
    bencher.bytes(1.0).run(|| n);
}

#[::nanobench::nanobench]
async fn eventually() {}

#[::nanobench::nanobench]
#[ignore = "slow"]
fn ignored() {}

macro_rules! bench {
    ($name:ident, $value:expr) => {
        #[::nanobench::nanobench(args = [$value])]
        fn $name(n: u64) -> u64 {
            n
        }
    };
}

bench!(from_macro, 1 + 1);

::nanobench::main!();
