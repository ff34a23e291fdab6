//! The clock as a user of the crate sees it. Nothing here relates two timings to each other: a machine that others
//! use, or an emulator, may stretch any of them.

use std::time::Duration;

use nanobench_timer::affinity::{Pinned, pin_to, suggested_cpu};
use nanobench_timer::{
    ClockPair, ClockSource, FrequencySource, clock_source, fallback_reason, frequency, pair_cost, start, start_u32,
    step_ticks, stop, stop_u32,
};

/// Counters of two CPUs need not agree to the last tick.
fn stay_on_one_cpu() -> Option<Pinned> {
    pin_to(suggested_cpu()?).ok()
}

#[test]
fn the_clock_does_not_run_backwards() {
    let _pinned = stay_on_one_cpu();
    for _ in 0..10_000 {
        let begin = start();
        let end = stop();
        assert!(end.wrapping_sub(begin) as i64 >= 0, "{begin} to {end}");
    }
}

#[test]
fn the_short_readings_belong_to_the_same_clock() {
    // Within a second, the low halves differ by what the whole readings differ by, whichever is read first.
    let _pinned = stay_on_one_cpu();
    let outer_begin = start();
    let begin = start_u32();
    let end = stop_u32();
    let outer_end = stop();
    let outer = outer_end.wrapping_sub(outer_begin);
    if outer < u64::from(u32::MAX) {
        assert!(u64::from(end.wrapping_sub(begin)) <= outer);
    }
}

#[test]
fn a_sleep_is_never_measured_as_shorter_than_it_was() {
    let frequency = frequency();
    let begin = start();
    std::thread::sleep(Duration::from_millis(20));
    let elapsed_ns = frequency.nanoseconds(stop().wrapping_sub(begin) as f64);
    // The system guarantees the 20 ms by its own clock, and the two may disagree a little.
    assert!(elapsed_ns >= 19e6, "{elapsed_ns} ns with {frequency}");
}

#[test]
fn facts_about_the_clock_do_not_change() {
    assert_eq!(clock_source(), clock_source());
    assert_eq!(fallback_reason(), fallback_reason());
    assert_eq!(frequency(), frequency());
    assert_eq!(pair_cost(), pair_cost());
    assert_eq!(step_ticks(), step_ticks());
}

#[test]
fn the_frequency_is_plausible_and_has_an_error() {
    let frequency = frequency();
    assert!((1e3..1e11).contains(&frequency.ticks_per_second), "{frequency:?}");
    assert!(frequency.error_ppm >= 0.0, "{frequency:?}");
    assert!(frequency.error_ppm.is_finite(), "{frequency:?}");
}

#[test]
fn the_operating_systems_clock_ticks_in_nanoseconds() {
    let frequency = frequency();
    let is_os_clock = clock_source() == ClockSource::OperatingSystem;
    assert_eq!(is_os_clock, frequency.source == FrequencySource::Definition);
    if is_os_clock {
        assert_eq!((frequency.ticks_per_second, frequency.error_ppm), (1e9, 0.0));
    }
}

#[test]
fn a_counter_in_use_needs_no_excuse() {
    if clock_source() != ClockSource::OperatingSystem {
        assert_eq!(fallback_reason(), None);
    }
}

#[test]
fn an_empty_region_has_a_cost() {
    let cost = pair_cost();
    assert!(cost.mean_ticks.is_finite() && cost.mean_ticks >= 0.0, "{cost:?}");
    assert!(step_ticks() >= 1);
}

#[test]
fn a_longer_baseline_never_makes_the_frequency_worse() {
    let begin = ClockPair::now();
    std::thread::sleep(Duration::from_millis(50));
    let refined = frequency().refined(&begin, &ClockPair::now());
    assert!(refined.error_ppm <= frequency().error_ppm);
    assert_eq!(refined.source, frequency().source);
}

#[test]
fn several_threads_may_ask_first() {
    let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(|| (clock_source(), pair_cost(), frequency()))).collect();
    for thread in threads {
        assert_eq!(thread.join().unwrap(), (clock_source(), pair_cost(), frequency()));
    }
}
