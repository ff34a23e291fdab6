//! The cost of each input by leave-one-out with Highway's parameters, in a program of one's own.
//!
//! [`nanobench::measure`] shuffles the inputs afresh for every timing, so that no branch predictor can learn their order, and gives each
//! input a result or the reason why it has none. The first lines are what Highway's nanobenchmark prints for copies of a few
//! bytes. [`Durations`] adds up several such measurements, as highwayhash's did: the median over them, and how far they lie apart.
//!
//! ```text
//! cargo run --release --example per_input
//! ```

use std::fmt::Display;

use nanobench::black_box;
use nanobench::leave_one_out::{Durations, MeasureError, Params, PerInput};
use nanobench_examples::collatz_steps;

fn copy(length: usize) -> u8 {
    let from = black_box([1u8; 8]);
    let mut to = [0u8; 8];
    to[..length].copy_from_slice(&from[..length]);
    to[0]
}

/// The number of bytes that a number takes as a varint, seven bits in each.
fn varint_bytes(mut number: u32) -> u32 {
    let mut bytes = 1;
    while number > 0x7f {
        number >>= 7;
        bytes += 1;
    }
    bytes
}

const LENGTHS: [usize; 8] = [3, 3, 4, 4, 7, 7, 8, 8];
/// Short ones are more frequent than long ones.
const NUMBERS: [u32; 8] = [5, 100, 17, 300, 3, 20_000, 90, 3_000_000];
const STARTS: [u64; 8] = [6, 11, 7, 9, 25, 39, 27, 73];

fn print<T: Display>(name: &str, costs: &[PerInput<T>]) {
    println!("{name}");
    for cost in costs {
        println!("{cost}");
    }
}

fn main() -> Result<(), MeasureError> {
    let params = Params::default();
    print("copies of so many bytes", &nanobench::measure(copy, LENGTHS, &params)?);
    print("\nlengths of varints", &nanobench::measure(varint_bytes, NUMBERS, &params)?);
    print("\nCollatz steps from", &nanobench::measure(collatz_steps, STARTS, &params)?);

    println!("\nfive measurements of the copies, in ticks for a byte");
    let mut durations = Durations::new(LENGTHS)?;
    let mut once = params;
    once.max_evals = 1;
    for _ in 0..5 {
        durations.measure(copy, &once)?;
    }
    for item in durations.items() {
        println!("{}", item.scaled(1.0 / *item.input() as f64));
    }
    Ok(())
}
