//! Two questions about the finaliser of splitmix64: how many independent values can it mix in a given time, and how long
//! does it take from a value to the mixed one?
//!
//! The first row is the throughput, which matters where many keys are hashed one after the other: a processor works on
//! several at once. The second is the latency, which matters where the next step needs the result, such as a generator of
//! random numbers that feeds on its own output: 12 cycles on current processors, three for each multiplication and one for
//! each of the six other operations, whatever else the processor could do meanwhile.

use nanobench::nanobench;

/// Three shifts, three exclusive ors, two multiplications: each depends on the one before.
#[nanobench(throughput, latency, inputs = [0x9e37_79b9_7f4a_7c15])]
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

nanobench::main!();
