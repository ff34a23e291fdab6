//! How can something be measured that takes less time than a look at the clock?
//!
//! This follows the article "Measuring something faster than the clock". The function is `mix` of the example of that name, a few
//! cycles long. Everything is done by hand here, with nothing but `nanobench-timer` and `black_box`, to show what the framework does
//! for you; the `mix` example asks the same questions in two lines.
//!
//! * A single call (K = 1) shows the clock: a function and none look alike.
//! * With more calls in a sample the cost per call falls until it stays: from there on the clock does not matter, and K should not be
//!   larger than that, since longer samples catch more interruptions.
//! * Independent calls overlap, dependent ones wait for each other: two questions with two answers.
//! * The empty loop is shown and not subtracted: the processor runs it beside the rest.
//! * Inputs and results go through `black_box`, or the compiler would do the work once, or never.
//! * The program stays on one processor, says how fast its core was right after, shows the median and the minimum, and does it all three
//!   times.
//!
//! ```text
//! cargo bench --bench faster_than_the_clock
//! ```

use std::io::{self, Write};

use nanobench::black_box;
use nanobench_timer::robust::median;
use nanobench_timer::{affinity, frequency, metronome, pair_cost, start, stop};

const CALLS: [u64; 5] = [1, 10, 100, 1_000, 1_000_000];
const RUNS: usize = 3;

/// So many samples of one size, or fewer where they are long.
const SAMPLES: u64 = 201;
const MOST_CALLS: u64 = 20_000_000;

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The ticks of `calls` calls that do not wait for each other.
#[inline(never)]
fn independent(calls: u64) -> u64 {
    let begin = start();
    for input in 0..calls {
        black_box(mix(black_box(input)));
    }
    stop().wrapping_sub(begin)
}

/// The ticks of `calls` calls each of which works on the result of the one before.
#[inline(never)]
fn dependent(calls: u64) -> u64 {
    let mut value = black_box(1);
    let begin = start();
    for _ in 0..calls {
        value = black_box(mix(value));
    }
    stop().wrapping_sub(begin)
}

/// The ticks of the same loop around nothing.
#[inline(never)]
fn empty(calls: u64) -> u64 {
    let begin = start();
    for input in 0..calls {
        black_box(input);
    }
    stop().wrapping_sub(begin)
}

/// The ticks of so many calls.
type Timed = fn(u64) -> u64;

const FUNCTIONS: [(&str, Timed); 3] = [("independent", independent), ("dependent", dependent), ("empty", empty)];

/// Ticks of the clock in a core cycle, now: a chain of additions takes as many cycles as it has links.
fn ticks_per_cycle() -> f64 {
    let chain = |blocks| {
        let mut ticks: Vec<f64> = (0..101).map(|_| metronome::dependent_ticks(blocks) as f64).collect();
        median(&mut ticks)
    };
    let blocks = 40;
    (chain(2 * blocks) - chain(blocks)) / f64::from(blocks * metronome::DEPENDENT_ADDS)
}

/// The median and the least of what a call takes, in ticks, with everything that a sample costs.
fn ticks_per_call(function: Timed, calls: u64) -> (f64, f64) {
    let samples = (MOST_CALLS / calls).clamp(5, SAMPLES);
    let mut ticks: Vec<f64> = (0..samples).map(|_| function(calls) as f64 / calls as f64).collect();
    (median(&mut ticks), ticks.iter().copied().fold(f64::INFINITY, f64::min))
}

fn main() -> io::Result<()> {
    // `cargo test` runs bench targets too, to see whether they work.
    let is_measuring = std::env::args().any(|argument| argument == "--bench");
    let (calls, runs) = if is_measuring { (&CALLS[..], RUNS) } else { (&CALLS[..2], 1) };

    let mut out = io::stdout().lock();
    let pinned = affinity::suggested_cpu().and_then(|cpu| affinity::pin_to(cpu).ok());
    let place =
        pinned.as_ref().and_then(affinity::Pinned::cpu).map_or_else(String::new, |cpu| format!("on CPU {cpu}; "));
    let ticks_per_second = frequency().ticks_per_second;
    let nanoseconds = |ticks: f64| ticks / ticks_per_second * 1e9;
    writeln!(
        out,
        "{place}reading the clock before and after costs {:.1} ns; its smallest step is {:.1} ns\n",
        nanoseconds(pair_cost().mean_ticks),
        nanoseconds(nanobench_timer::step_ticks() as f64)
    )?;
    for run in 1..=runs {
        writeln!(
            out,
            "| run {run}: calls a sample | function | median ns | minimum ns | median cycles | minimum cycles |"
        )?;
        writeln!(out, "|---:|:---|---:|---:|---:|---:|")?;
        for &calls in calls {
            for (name, function) in FUNCTIONS {
                let (median, least) = ticks_per_call(function, calls);
                let ticks_per_cycle = ticks_per_cycle();
                let (median_ns, least_ns) = (nanoseconds(median), nanoseconds(least));
                let (median, least) = (median / ticks_per_cycle, least / ticks_per_cycle);
                writeln!(out, "| {calls} | {name} | {median_ns:.3} | {least_ns:.3} | {median:.2} | {least:.2} |")?;
            }
        }
        writeln!(out, "\nthe core was at {:.0} MHz right after\n", ticks_per_second / ticks_per_cycle() / 1e6)?;
    }
    Ok(())
}
