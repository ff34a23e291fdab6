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
//! |                1 |            26.71 +- 1.28 |            27.38 +- 1.66 |            24.25 +- 1.88 | `mix`
//! |               10 |         3.6148 +- 0.1456 |         6.2124 +- 0.1284 |         2.8167 +- 0.1292 | `mix`
//! |              100 |         1.2816 +- 0.0151 |         4.0279 +- 0.0159 |         0.5133 +- 0.0161 | `mix`
//! |            1,000 |         1.0541 +- 0.0017 |         3.8140 +- 0.0014 |         0.2992 +- 0.0012 | `mix`
//! |           10,000 |         1.0314 +- 0.0002 |         3.7919 +- 0.0002 |         0.2740 +- 0.0003 | `mix`
//! |          100,000 |         1.0305 +- 0.0023 |         3.7908 +- 0.0505 |         0.2718 +- 0.0003 | `mix`
//!
//! `mix`: from 10,000 calls per sample on the figures agree
//! ```
//!
//! A single call shows the clock, and hardly a difference between a function and none. With 1,000 calls the figures have all
//! but stopped changing, and with 10,000 what is left of the clock does not matter. The latency has two cycles more than that of
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
