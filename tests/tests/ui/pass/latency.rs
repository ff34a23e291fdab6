//! Calls can be chained through every type that fits into one register or two.

#[path = "../registered.rs"]
mod registered;

use nanobench::__private::Mode;
use nanobench::nanobench;

macro_rules! chained {
    ($($name:ident: $input:ty, $inputs:expr, $output:ty;)+) => {$(
        #[nanobench(latency, inputs = $inputs)]
        fn $name(x: $input) -> $output {
            std::hint::black_box(x) as $output
        }
    )+};
}

chained! {
    bytes: u8, [0, 255], i8;
    words: u16, [7], i16;
    letters: char, ['a', 'é'], u32;
    truths: bool, [false, true], u64;
    from_float: f32, [1.5, f32::NAN], i32;
    to_float: i64, [i64::MIN], f64;
    narrower_float: f64, [0.5], f32;
    wide: u128, [u128::MAX], i128;
    sizes: usize, [1, 2, 3], isize;
}

#[nanobench(latency, inputs = 0..10, by = |x| x % 2, epochs = 3)]
fn with_other_options(x: u32) -> bool {
    x > 5
}

/// An integer by another name.
type Key = u64;

#[nanobench(latency, throughput, inputs = [1])]
fn renamed(key: Key) -> Key
where
    Key: Copy,
{
    key
}

#[nanobench(throughput)]
fn without_inputs() {}

#[nanobench(inputs = [1])]
fn neither(x: u8) {
    assert_eq!(x, 1);
}

fn main() {
    assert_eq!(registered::count(), 13);
    assert_eq!(registered::entry("bytes").modes, [Mode::Latency]);
    assert_eq!(registered::entry("renamed").modes, [Mode::Throughput, Mode::Latency]);
    assert_eq!(registered::entry("without_inputs").modes, [Mode::Throughput]);
    assert_eq!(registered::entry("neither").modes, [Mode::Throughput]);
}
