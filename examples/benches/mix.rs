//! How many independent values can the finaliser of splitmix64 mix in a given time?

use nanobench::nanobench;

/// Three shifts, three exclusive ors, two multiplications: each depends on the one before.
#[nanobench(inputs = [0x9e37_79b9_7f4a_7c15])]
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

nanobench::main!();
