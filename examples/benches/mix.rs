//! Two questions about the finaliser of splitmix64: how many independent values can it mix in a given time, and how long
//! does it take from a value to the mixed one?
//!
//! The first row is the throughput, which matters where many keys are hashed one after the other: a processor works on
//! several at once. The second is the latency, which matters where the next step needs the result, such as a generator of
//! random numbers that feeds on its own output: 12 cycles on current processors, three for each multiplication and one for
//! each of the six other operations, whatever else the processor could do meanwhile.
//!
//! Both are far shorter than what it takes to read a clock. `cargo bench --bench mix -- --sweep` shows how it comes that they
//! can be measured all the same: the cost of a call in samples of 1, 10, 100, ... calls, with nothing subtracted.
//!
//! ```text
//! | calls per sample |       throughput ns/call |          latency ns/call |       empty loop ns/call | benchmark
//! |-----------------:|-------------------------:|-------------------------:|-------------------------:|:----------
//! |                1 |            30.63 +- 1.19 |            31.12 +- 1.40 |            26.83 +- 2.38 | `mix`
//! |               10 |         4.1813 +- 0.1804 |         7.0227 +- 0.0926 |         3.1422 +- 0.1569 | `mix`
//! |              100 |         1.4840 +- 0.0128 |         4.5836 +- 0.0150 |         0.6394 +- 0.0189 | `mix`
//! |            1,000 |         1.2043 +- 0.0013 |         4.3433 +- 0.0018 |         0.3932 +- 0.0021 | `mix`
//! |            8,192 |         1.1757 +- 0.0002 |         4.3215 +- 0.0036 |         0.3197 +- 0.0109 | `mix`
//!
//! `mix`: the last two rows differ by up to 2.4 %, in intervals of up to +-0.1 %, and memory limits a sample of this function to
//! that many calls; the clock's part of the last one is about 0.3 %
//! ```
//!
//! A single call shows the clock, and hardly a difference between a function and none. With 1,000 calls the figures have all
//! but stopped changing, and with 8,192 what is left of the clock does not matter. The latency has two cycles more than that of
//! the function by itself, since each call waits for the one before through two instructions. The empty loop is not to be
//! subtracted: the processor runs it beside the rest.

use nanobench::nanobench;

/// Three shifts, three exclusive ors, two multiplications: each depends on the one before.
#[nanobench(throughput, latency, inputs = [0x9e37_79b9_7f4a_7c15])]
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

nanobench::main!();
