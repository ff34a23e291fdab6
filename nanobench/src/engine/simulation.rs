//! The engine on a simulated machine whose costs are known: bias and coverage of its intervals, budgets, outcomes.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use super::*;
use crate::groups::Group;
use crate::measurement::Cost;

const TICKS_PER_SECOND: f64 = 2.6e9;
const PAIR_COST_TICKS: f64 = 63.4;

/// What is wrong with the simulated machine.
#[derive(Clone, Copy, Debug)]
struct Scenario {
    name: &'static str,
    /// The clock only shows multiples of this.
    step_ticks: f64,
    /// By how much the core clock wanders in all, as a share; it goes up and down once in 20 to 100 ms.
    drift: f64,
    /// The share of samples that an interrupt hits, 10 us on average.
    interrupts: f64,
    /// The standard deviation of a sample's duration, as a share.
    noise: f64,
}

const QUIET: Scenario = Scenario { name: "quiet", step_ticks: 26.0, drift: 0.0, interrupts: 0.0, noise: 0.002 };
const TROUBLED: Scenario =
    Scenario { name: "step, drift and interrupts", step_ticks: 26.0, drift: 0.05, interrupts: 0.01, noise: 0.002 };

struct Machine {
    scenario: Scenario,
    rng: Rng,
    now_ticks: f64,
    drift_ticks: f64,
    drift_phase: f64,
    /// For each sample its calls, and the speed at which they were made.
    log: Vec<(f64, f64)>,
}

impl Machine {
    fn new(scenario: Scenario, seed: u64) -> Rc<RefCell<Self>> {
        let mut rng = Rng::new(seed);
        Rc::new(RefCell::new(Self {
            scenario,
            now_ticks: 1e9 * rng.uniform01(),
            drift_ticks: (0.02 + 0.08 * rng.uniform01()) * TICKS_PER_SECOND,
            drift_phase: std::f64::consts::TAU * rng.uniform01(),
            rng,
            log: Vec::new(),
        }))
    }

    fn read(&self) -> u64 {
        let step = self.scenario.step_ticks;
        ((self.now_ticks / step).floor() * step) as u64
    }

    fn time(&mut self, calls: u64, quiet_ticks: f64) -> u64 {
        // Something goes on between two samples, so that they start anywhere within a step of the clock.
        self.now_ticks += 500.0 + 500.0 * self.rng.uniform01();
        let angle = std::f64::consts::TAU * self.now_ticks / self.drift_ticks + self.drift_phase;
        let slowness = 1.0 + self.scenario.drift / 2.0 * angle.sin();
        let mut ticks = quiet_ticks * slowness * (1.0 + self.scenario.noise * self.normal()).max(0.0);
        if self.rng.uniform01() < self.scenario.interrupts {
            ticks += -self.rng.uniform01().ln() * 10e-6 * TICKS_PER_SECOND;
        }
        self.log.push((calls as f64, slowness));
        let start = self.read();
        self.now_ticks += PAIR_COST_TICKS + ticks;
        self.read() - start
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.rng.uniform01()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.rng.uniform01()).cos()
    }

    /// By how much the last `samples` samples were slower than the machine's nominal speed.
    fn slowness(&self, samples: u64) -> f64 {
        let last = &self.log[self.log.len() - samples as usize..];
        let calls: f64 = last.iter().map(|(calls, _)| calls).sum();
        last.iter().map(|(calls, slowness)| calls * slowness).sum::<f64>() / calls
    }
}

impl Clock for Rc<RefCell<Machine>> {
    fn now_ticks(&self) -> u64 {
        self.borrow().read()
    }

    fn facts(&self) -> ClockFacts {
        ClockFacts {
            ticks_per_second: TICKS_PER_SECOND,
            step_ticks: self.borrow().scenario.step_ticks,
            pair_cost_ticks: PAIR_COST_TICKS,
        }
    }
}

struct Simulated {
    machine: Rc<RefCell<Machine>>,
    groups: Groups,
    /// Ticks per call of each group at nominal speed.
    costs: Vec<f64>,
}

impl Simulated {
    /// One input for each cost, or a function without inputs if there is only one.
    fn new(machine: &Rc<RefCell<Machine>>, costs: &[f64]) -> Self {
        let group = |input: usize| Group { label: input.to_string(), members: vec![input as u32] };
        let groups = match costs.len() {
            1 => Groups::NoInputs,
            several => Groups::Each((0..several).map(group).collect()),
        };
        Self { machine: machine.clone(), groups, costs: costs.to_vec() }
    }

    fn mean_cost(&self) -> f64 {
        self.costs.iter().sum::<f64>() / self.costs.len() as f64
    }
}

impl Target for Simulated {
    fn groups(&self) -> &Groups {
        &self.groups
    }

    fn max_calls(&self) -> u64 {
        u64::MAX
    }

    fn sample(&mut self, _mode: Mode, calls: u64, order: &[u32]) -> u64 {
        let quiet_ticks = match self.groups {
            Groups::NoInputs => calls as f64 * self.costs[0],
            _ => order.iter().map(|&input| self.costs[input as usize]).sum(),
        };
        self.machine.borrow_mut().time(calls, quiet_ticks)
    }
}

fn ticks(nanoseconds: f64) -> f64 {
    nanoseconds * TICKS_PER_SECOND / 1e9
}

/// How often the interval of each row contained the truth, and the mean error as a share of it.
struct Score {
    coverage: f64,
    bias: f64,
}

fn score(scenario: Scenario, costs: &[f64], benchmarks: u64) -> Vec<Score> {
    let rows = if costs.len() > 1 { costs.len() + 1 } else { 1 };
    let mut covered = vec![0.0; rows];
    let mut errors = vec![0.0; rows];
    for seed in 0..benchmarks {
        let machine = Machine::new(scenario, seed);
        let mut target = Simulated::new(&machine, costs);
        let nominal: Vec<f64> = std::iter::once(target.mean_cost()).chain(costs.iter().copied()).collect();
        let measurement = measure("simulated", Mode::Throughput, &mut target, &Config::default(), &machine);
        let slowness = machine.borrow().slowness(measurement.samples);
        for (index, row) in measurement.rows.iter().enumerate() {
            let Cost { nanoseconds, interval: Some(interval), .. } = row.cost.unwrap() else { panic!("no interval") };
            let truth = nominal[index] * slowness;
            covered[index] += f64::from(u8::from(ticks(interval.low) <= truth && truth <= ticks(interval.high)));
            errors[index] += ticks(nanoseconds) / truth - 1.0;
        }
    }
    let share = |sum: f64| sum / benchmarks as f64;
    covered.into_iter().zip(errors).map(|(c, e)| Score { coverage: share(c), bias: share(e) }).collect()
}

fn assert_honest(scenario: Scenario, costs: &[f64]) {
    for (row, score) in score(scenario, costs, 1_000).into_iter().enumerate() {
        println!("{}: row {row}: coverage {:.3}, bias {:+.5}", scenario.name, score.coverage, score.bias);
        assert!((0.93..=0.97).contains(&score.coverage), "{}: row {row} covers {}", scenario.name, score.coverage);
        assert!(score.bias.abs() < 0.002, "{}: row {row} is biased by {}", scenario.name, score.bias);
    }
}

#[test]
fn intervals_without_inputs_cover_the_truth_on_a_quiet_machine() {
    assert_honest(QUIET, &[12.3]);
}

#[test]
fn intervals_without_inputs_cover_the_truth_under_step_drift_and_interrupts() {
    assert_honest(TROUBLED, &[12.3]);
}

#[test]
fn intervals_of_four_inputs_cover_the_truth_on_a_quiet_machine() {
    assert_honest(QUIET, &[31.0, 16.5, 17.0, 30.5]);
}

#[test]
fn intervals_of_four_inputs_cover_the_truth_under_step_drift_and_interrupts() {
    assert_honest(TROUBLED, &[31.0, 16.5, 17.0, 30.5]);
}

#[test]
fn slow_calls_are_measured_one_by_one() {
    let machine = Machine::new(TROUBLED, 7);
    let mut target = Simulated::new(&machine, &[0.002 * TICKS_PER_SECOND]);
    let measurement = measure("slow", Mode::Throughput, &mut target, &Config::default(), &machine);
    let cost = measurement.rows[0].cost.unwrap();
    assert!((cost.nanoseconds / 2e6 - 1.0).abs() < 0.03, "{cost:?}");
    assert!(measurement.epochs >= 11, "{measurement:?}");
}

#[test]
fn a_run_takes_no_longer_than_its_budget_and_one_call() {
    for call_ms in [0.001, 0.3, 3.0, 30.0, 300.0] {
        let machine = Machine::new(QUIET, 3);
        let mut target = Simulated::new(&machine, &[call_ms * 1e-3 * TICKS_PER_SECOND]);
        let config = Config { precision: 1e-9, ..Config::default() };
        let begin = machine.now_ticks();
        let measurement = measure("slow", Mode::Throughput, &mut target, &config, &machine);
        let spent_ms = (machine.now_ticks() - begin) as f64 / TICKS_PER_SECOND * 1e3;
        assert!(measurement.epochs > 0);
        // A first call, to find out what a call costs, and one that is measured are made in any case.
        let limit_ms = f64::max(50.0 + call_ms, 2.0 * call_ms) * 1.02;
        assert!(spent_ms <= limit_ms, "{call_ms} ms a call: {spent_ms} ms");
    }
}

#[test]
fn a_budget_that_allows_no_interval_is_said_to_be_too_short() {
    let machine = Machine::new(QUIET, 3);
    let mut target = Simulated::new(&machine, &[TICKS_PER_SECOND]);
    let measurement = measure("slow", Mode::Throughput, &mut target, &Config::default(), &machine);
    assert_eq!(measurement.rows[0].outcome, Outcome::Unstable(Instability::TooFewEpochs));
    assert_eq!(measurement.rows[0].cost.unwrap().interval, None);
}

#[test]
fn groups_that_had_no_turn_say_so_and_the_mix_still_has_a_cost() {
    let machine = Machine::new(QUIET, 4);
    let costs = [0.01 * TICKS_PER_SECOND; 8];
    let mut target = Simulated::new(&machine, &costs);
    let measurement = measure("slow", Mode::Throughput, &mut target, &Config::default(), &machine);
    assert!((measurement.rows[0].cost.unwrap().nanoseconds / 1e7 - 1.0).abs() < 0.01);
    assert_eq!(measurement.rows[1].outcome, Outcome::NotMeasured);
}

#[test]
fn calls_that_cost_nothing_are_said_to_be_optimised_away() {
    let machine = Machine::new(QUIET, 5);
    let mut target = Simulated::new(&machine, &[0.0]);
    let measurement = measure("nothing", Mode::Throughput, &mut target, &Config::default(), &machine);
    assert_eq!(measurement.rows[0].outcome, Outcome::OptimizedAway);
    assert_eq!(measurement.rows[0].cost, None);
}

#[test]
fn a_group_that_cannot_be_told_from_nothing_is_below_the_floor() {
    let machine = Machine::new(Scenario { noise: 0.3, ..QUIET }, 6);
    let mut target = Simulated::new(&machine, &[100.0, 0.001]);
    let measurement = measure("uneven", Mode::Throughput, &mut target, &Config::default(), &machine);
    assert_eq!(measurement.rows[2].outcome, Outcome::BelowFloor, "{measurement:?}");
}

#[test]
fn epochs_that_disagree_are_called_unstable() {
    let machine = Machine::new(Scenario { noise: 1.0, ..QUIET }, 8);
    let mut target = Simulated::new(&machine, &[1_000.0]);
    let measurement = measure("random", Mode::Throughput, &mut target, &Config::default(), &machine);
    assert!(matches!(measurement.rows[0].outcome, Outcome::Unstable(_)), "{measurement:?}");
}

#[test]
fn a_longer_budget_gives_a_narrower_interval() {
    let width = |max_time| {
        let machine = Machine::new(QUIET, 9);
        let mut target = Simulated::new(&machine, &[31.0, 16.5]);
        let config = Config { precision: 1e-9, max_time, ..Config::default() };
        let interval =
            measure("uneven", Mode::Throughput, &mut target, &config, &machine).rows[1].cost.unwrap().interval.unwrap();
        interval.high - interval.low
    };
    assert!(width(Duration::from_millis(40)) < 0.6 * width(Duration::from_millis(4)));
}

#[test]
fn the_batch_divides_the_cost() {
    let machine = Machine::new(QUIET, 10);
    let mut target = Simulated::new(&machine, &[2_600.0]);
    let config = Config { batch: 10.0, unit: "byte".into(), ..Config::default() };
    let measurement = measure("batch", Mode::Throughput, &mut target, &config, &machine);
    assert!((measurement.rows[0].cost.unwrap().nanoseconds / 100.0 - 1.0).abs() < 0.01);
    assert_eq!(measurement.unit.as_deref(), Some("byte"));
}

#[test]
fn the_total_is_the_time_of_all_timed_calls() {
    let machine = Machine::new(QUIET, 11);
    let mut target = Simulated::new(&machine, &[26_000.0]);
    let measurement = measure("total", Mode::Throughput, &mut target, &Config::default(), &machine);
    let expected = measurement.calls as f64 * 10e-6;
    assert!((measurement.rows[0].cost.unwrap().total_seconds / expected - 1.0).abs() < 0.02);
}
