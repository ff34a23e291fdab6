//! The empty loop beside the function: shown, and taken off.

use super::*;
use crate::measurement::{Figure, Interval};

/// The loop takes one or two cycles a call, and the functions little more.
const FAST: Scenario = Scenario { name: "a fast function", costs: &[3.3], loop_ticks: 1.1, ..QUIET };
const FOUR_FAST: &[f64] = &[2.1, 5.0, 3.3, 9.5];

fn with(overhead: Overhead) -> Config {
    Config { overhead, ..Config::default() }
}

/// What a run of `scenario` found out, and how many ticks it took.
fn measured(scenario: Scenario, seed: u64, config: &Config) -> (Measurement, f64) {
    let machine = Machine::new(scenario, seed);
    let begin = machine.now_ticks();
    let mut target = Simulated::new(&machine, scenario.costs);
    let measurement = measure("simulated", Mode::Throughput, &mut target, config, &machine);
    (measurement, (machine.now_ticks() - begin) as f64)
}

#[test]
fn intervals_of_what_is_left_without_the_loop_and_of_the_loop_cover_the_truth() {
    let (subtract, show) = (with(Overhead::Subtract), with(Overhead::Show));
    let four = Scenario { name: "four fast inputs", costs: FOUR_FAST, ..FAST };
    let scenarios = [
        (FAST, &subtract),
        (Scenario { name: "drift and interrupts", drift: 0.05, interrupts: 0.01, ..FAST }, &subtract),
        (Scenario { name: "a busy sibling", sibling: 0.3, ..FAST }, &subtract),
        (Scenario { name: "a clock of 100 ticks", step_ticks: 100.0, ..FAST }, &subtract),
        (Scenario { name: "a heavy right tail", tail: 0.2, ..FAST }, &subtract),
        (Scenario { name: "no metronome", drift: 0.05, has_metronome: false, ..FAST }, &subtract),
        (four, &subtract),
        (
            Scenario { name: "four inputs in trouble", costs: FOUR_INPUTS, drift: 0.05, interrupts: 0.01, ..FAST },
            &subtract,
        ),
        (Scenario { name: "shown", ..four }, &show),
    ];
    // Differences take longer to be as precise, and in a longer run more of the core clock's drift is in the interval too.
    assert_honest(&scenarios, 0.93..=0.985);
}

/// The scores of one benchmark after the other, which are fewer where each takes long to simulate.
fn scored(scenario: Scenario, config: &Config) -> Vec<Score> {
    let scores = score(scenario, 0..400, config);
    for (row, Score { coverage, bias, .. }) in scores.iter().enumerate() {
        println!("{}, row {row}: coverage {coverage:.3}, bias {bias:+.5}", scenario.name);
    }
    scores
}

#[test]
fn a_loop_that_is_short_beside_a_step_of_the_clock_has_a_wide_interval_and_not_a_wrong_one() {
    let scores = scored(Scenario { name: "a slow function", costs: &[1_000.0], ..FAST }, &with(Overhead::Subtract));
    assert!(scores[0].coverage > 0.93 && scores[0].bias.abs() < 0.005);
    assert!(scores[1].coverage > 0.93 && scores[1].bias.abs() < 0.02 && scores[1].half_width > 0.1);
}

#[test]
fn the_loop_can_be_taken_off_what_was_found_by_leaving_one_out() {
    let config = Config { estimator: Estimator::LeaveOneOut, ..with(Overhead::Subtract) };
    let scores = scored(Scenario { name: "leave one out", costs: FOUR_FAST, ..FAST }, &config);
    for Score { coverage, bias, .. } in &scores[..5] {
        assert!((0.92..=0.995).contains(coverage) && bias.abs() < 0.005);
    }
    // The figures of the groups take so long that what is left of the steps of the clock shows in that of the loop.
    assert!(scores[5].bias.abs() < 0.0005);
}

#[test]
fn what_costs_nothing_beyond_the_loop_has_an_interval_that_begins_at_zero() {
    let nothing = Scenario { costs: &[1.1], ..FAST };
    let benchmarks = 200;
    let mut below_floor = 0;
    for seed in 0..benchmarks {
        let (Measurement { rows, .. }, _) = measured(nothing, seed, &with(Overhead::Subtract));
        let Figure { value, interval } = rows[0].cost.unwrap().nanoseconds;
        let Interval { low, high } = interval.unwrap();
        assert!(0.0 <= low && low <= value && value <= high && ticks(high) < 0.1, "{rows:?}");
        if rows[0].outcome == Outcome::BelowFloor {
            assert_eq!(low, 0.0, "{rows:?}");
            below_floor += 1;
        }
    }
    // An interval of 95 % misses zero once in forty times on that side.
    assert!(below_floor * 40 >= benchmarks * 38, "{below_floor} of {benchmarks}");
}

#[test]
fn what_costs_less_than_the_loop_is_said_to_cost_nothing_and_never_less() {
    let overlapped = Scenario { costs: &[1.0, 6.0], ..FAST };
    for seed in 0..20 {
        let (Measurement { rows, .. }, _) = measured(overlapped, seed, &with(Overhead::Subtract));
        assert_eq!(rows[1].outcome, Outcome::BelowFloor, "{rows:?}");
        for figure in [rows[1].cost.unwrap().nanoseconds, rows[1].cost.unwrap().cycles.unwrap()] {
            assert_eq!((figure.value, figure.interval.unwrap().low), (0.0, 0.0), "{rows:?}");
            assert!(figure.interval.unwrap().high > 0.0, "it is not known to be nothing: {rows:?}");
        }
        assert!((ticks(rows[2].cost.unwrap().nanoseconds.value) / 4.9 - 1.0).abs() < 0.05, "{rows:?}");
    }
}

#[test]
fn what_each_epoch_saw_is_without_the_loop_too() {
    let (measurement, _) = measured(FAST, 1, &with(Overhead::Subtract));
    for epoch in measurement.epochs() {
        let ticks = epoch.seconds_per_call * TICKS_PER_SECOND;
        assert!((ticks / 2.2 - 1.0).abs() < 0.03, "{epoch:?}");
    }
    let total = measurement.rows[0].cost.unwrap().total_seconds * TICKS_PER_SECOND;
    assert!((total / (2.2 * measurement.calls as f64) - 1.0).abs() < 0.03, "{total}");
    let shown = measured(FAST, 1, &with(Overhead::Show)).0;
    assert!((shown.epochs()[0].seconds_per_call * TICKS_PER_SECOND / 3.3 - 1.0).abs() < 0.03, "{shown:?}");
}

#[test]
fn nobody_waits_for_a_precise_figure_of_the_loop() {
    let slow = Scenario { costs: &[100_000.0], ..FAST };
    for overhead in [Overhead::Show, Overhead::Subtract] {
        let (measurement, spent_ticks) = measured(slow, 1, &with(overhead));
        let [row, empty_loop] = &measurement.rows[..] else { panic!("{measurement:?}") };
        assert_eq!((&row.outcome, &empty_loop.outcome), (&Outcome::Ok, &Outcome::BelowFloor));
        assert!(spent_ticks < 0.03 * TICKS_PER_SECOND, "{spent_ticks}");
    }
}

#[test]
fn the_loop_has_one_row_behind_those_of_the_inputs_and_of_their_repetition() {
    let scenario = Scenario { costs: FOUR_FAST, ..FAST };
    let config = Config { compare_repeated: true, ..with(Overhead::Subtract) };
    let (measurement, _) = measured(scenario, 1, &config);
    assert_eq!(measurement.rows.len(), 10);
    for (index, row) in measurement.rows.iter().enumerate() {
        assert_eq!((row.is_empty_loop, measurement.is_loop_subtracted(row)), (index == 9, index != 9), "{row:?}");
    }
    let repeated = measurement.rows[2].cost.unwrap().nanoseconds.value;
    assert!(measurement.rows[2].is_repeated && (ticks(repeated) / 1.0 - 1.0).abs() < 0.05, "{measurement:?}");
    assert_eq!(measurement.empty_loop_nanoseconds(), Some(measurement.rows[9].cost.unwrap().nanoseconds));
}

/// Writes down what it is asked for.
struct Observed {
    target: Simulated,
    asked: Vec<(Timed, u64, Vec<u32>)>,
}

impl Target for Observed {
    fn groups(&self) -> &Groups {
        self.target.groups()
    }

    fn max_calls(&self) -> u64 {
        self.target.max_calls()
    }

    fn sample_after(&mut self, timed: Timed, calls: u64, order: &[u32], gate: &mut dyn FnMut()) -> u64 {
        self.asked.push((timed, calls, order.to_vec()));
        self.target.sample_after(timed, calls, order, gate)
    }
}

fn asked(mode: Mode, overhead: Overhead) -> Vec<(Timed, u64, Vec<u32>)> {
    let machine = Machine::new(QUIET, 3);
    let mut target = Observed { target: Simulated::new(&machine, FOUR_FAST), asked: Vec::new() };
    measure("observed", mode, &mut target, &with(overhead), &machine);
    target.asked
}

#[test]
fn the_loop_gets_the_calls_and_the_sequence_of_the_function_and_neither_always_comes_first() {
    for overhead in [Overhead::Show, Overhead::Subtract] {
        let asked = asked(Mode::Throughput, overhead);
        let mut loops_first = 0.0;
        for pair in asked.chunks(2) {
            let [(first, calls, order), (second, same_calls, same_order)] = pair else { panic!("{}", asked.len()) };
            assert!(first != second && calls == same_calls && order == same_order);
            loops_first += f64::from(u8::from(*first == Timed::EmptyLoop));
        }
        let share = loops_first / (asked.len() / 2) as f64;
        assert!((0.4..0.6).contains(&share), "{share}");
    }
}

#[test]
fn nobody_times_a_loop_that_nobody_wants_to_know_of() {
    for (mode, overhead) in
        [(Mode::Throughput, Overhead::Raw), (Mode::Latency, Overhead::Show), (Mode::Latency, Overhead::Subtract)]
    {
        assert!(asked(mode, overhead).iter().all(|(timed, ..)| *timed == Timed::Function(mode)));
    }
}
