//! What does it cost to parse a number, depending on how many digits it has?
//!
//! Four thousand numbers of one to nineteen digits, every length as likely as any other: the loop over the digits ends where
//! the processor does not expect it. `by` turns the lengths into rows.

use nanobench::nanobench;
use nanobench_examples::random_numbers;

/// Each a random number whose length another random number has decided.
fn numbers() -> Vec<String> {
    let mut random = random_numbers();
    let number = move || {
        let length = random.next()? % 19;
        let least = 10u64.pow(length as u32);
        Some((least + random.next()? % (9 * least)).to_string())
    };
    std::iter::from_fn(number).take(4_000).collect()
}

#[nanobench(inputs = numbers(), by = String::len)]
fn parse(digits: &str) -> Option<u64> {
    digits.parse().ok()
}

nanobench::main!();
