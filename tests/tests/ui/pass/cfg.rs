//! Conditional compilation, before and after the attribute.

#[path = "../registered.rs"]
mod registered;

use nanobench::nanobench;

#[nanobench]
#[cfg(any())]
fn gone() -> DoesNotExist {}

#[cfg(any())]
#[nanobench]
fn gone_too() -> DoesNotExist {}

#[cfg_attr(all(), nanobench(inputs = [1]))]
fn conditional(x: u8) -> u8 {
    x
}

#[cfg_attr(any(), nanobench)]
fn not_a_benchmark(_: DoesNotMatter) {}

struct DoesNotMatter;

fn main() {
    assert_eq!(registered::count(), 1);
    not_a_benchmark(DoesNotMatter);
}
