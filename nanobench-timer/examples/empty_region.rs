//! Prints what the crate knows about this machine's clock, and times a region with nothing in it and one with something
//! small.
//!
//! ```text
//! cargo run --release -p nanobench-timer --example empty_region
//! ```

use std::hint::black_box;

use nanobench_timer::{
    affinity, clock_source, fallback_reason, frequency, pair_cost, resolution_ticks_over_cpus, robust, start,
    start_u32, step_ticks, stop, stop_u32,
};

const SAMPLES: usize = 4096;

fn main() -> std::io::Result<()> {
    // Before it is pinned, since it is about all CPUs.
    let resolution = resolution_ticks_over_cpus();
    let pinned = affinity::suggested_cpu().map(affinity::pin_to).transpose()?;
    if let Some(cpu) = pinned.as_ref().and_then(affinity::Pinned::cpu) {
        println!("CPU          {cpu}");
    }
    println!("clock        {}", clock_source());
    if let Some(reason) = fallback_reason() {
        println!("             because {reason}");
    }
    let frequency = frequency();
    println!("frequency    {frequency}");
    if let Some(deviation) = frequency.table_deviation_ppm {
        println!("             the table is off by {deviation:+.1} ppm from a calibration");
    }
    println!("step         {} ticks = {:.2} ns", step_ticks(), frequency.nanoseconds(step_ticks() as f64));
    println!("resolution   {resolution} ticks = {:.2} ns on most CPUs", frequency.nanoseconds(resolution as f64));
    let cost = pair_cost();
    let cost_ns = frequency.nanoseconds(cost.mean_ticks);
    println!("pair cost    {:.2} ticks = {cost_ns:.2} ns, mode {} ticks", cost.mean_ticks, cost.mode_ticks);

    let show = |name: &str, mut samples: Vec<f64>| {
        let ticks = robust::dominant_mean(&mut samples, step_ticks() as f64);
        println!("{name} {ticks:.2} ticks = {:.2} ns", frequency.nanoseconds(ticks));
    };
    show("empty       ", sample(|| {}));
    show("empty, u32  ", sample_u32(|| {}));
    let mut value = 1_u64;
    show(
        "100 products",
        sample(|| {
            for _ in 0..100 {
                value = black_box(value.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            }
        }),
    );
    Ok(())
}

#[inline(never)]
fn sample(mut region: impl FnMut()) -> Vec<f64> {
    let mut samples = Vec::with_capacity(SAMPLES);
    for _ in 0..SAMPLES {
        let begin = start();
        region();
        let end = stop();
        samples.push(end.wrapping_sub(begin) as i64 as f64);
    }
    samples
}

#[inline(never)]
fn sample_u32(mut region: impl FnMut()) -> Vec<f64> {
    let mut samples = Vec::with_capacity(SAMPLES);
    for _ in 0..SAMPLES {
        let begin = start_u32();
        region();
        let end = stop_u32();
        samples.push(f64::from(end.wrapping_sub(begin)));
    }
    samples
}
