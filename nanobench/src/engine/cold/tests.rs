use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;

use super::*;
use crate::clock::{Clock, ClockFacts, Metronome};
use crate::config::{Overhead, Overrides};
use crate::engine::compare::compare_calls;
use crate::engine::{CLOCK_COST_DEVIATION, measure_calls};
use crate::groups::Group;
use crate::measurement::{Instability, Measurement, Outcome};
use crate::rng::Rng;
use crate::target::Mode;

const TICKS_PER_SECOND: f64 = 2.6e9;
const FACTS: ClockFacts = ClockFacts { ticks_per_second: TICKS_PER_SECOND, step_ticks: 26.0, pair_cost_ticks: 63.4 };
/// What a turn of the empty loop takes.
const LOOP_TICKS: f64 = 2.0;
/// An eviction takes 4.7 ms.
const EVICTION_TICKS: f64 = 4.7e-3 * TICKS_PER_SECOND;

/// A machine on which cold calls cost what they do with a heavy right tail.
struct Machine {
    now_ticks: f64,
    rng: Rng,
    /// By how much the clock's part of a sample is more than is known.
    clock_error_ticks: f64,
    evictions: u64,
    /// The calls of each sample, and how many evictions there were before.
    samples: Vec<(u64, u64)>,
}

impl Machine {
    fn new(seed: u64) -> Rc<RefCell<Self>> {
        let mut rng = Rng::new(seed);
        Rc::new(RefCell::new(Self {
            now_ticks: 1e9 * rng.uniform01(),
            // Reading the clock never takes less than no time.
            clock_error_ticks: FACTS.pair_cost_ticks * (CLOCK_COST_DEVIATION * normal(&mut rng)).clamp(-0.95, 0.95),
            rng,
            evictions: 0,
            samples: Vec::new(),
        }))
    }

    fn read(&self) -> u64 {
        ((self.now_ticks / FACTS.step_ticks).floor() * FACTS.step_ticks) as u64
    }

    fn exponential(&mut self) -> f64 {
        -(1.0 - self.rng.uniform01()).ln()
    }

    /// The cost of a call, `mean_ticks` on average: a tenth of them wait half as long again, or much longer. One of 500 is
    /// interrupted for 10 us, which is no part of the mean.
    fn call_ticks(&mut self, mean_ticks: f64) -> f64 {
        let mut ticks = 0.85 + 0.1 * self.exponential();
        if self.rng.uniform01() < 0.1 {
            ticks += 0.5 * self.exponential();
        }
        let interrupt = if self.rng.uniform01() < 0.002 { self.exponential() * 1e-5 * TICKS_PER_SECOND } else { 0.0 };
        mean_ticks * ticks + interrupt
    }

    fn evict(&mut self) {
        self.now_ticks += EVICTION_TICKS;
        self.evictions += 1;
    }
}

fn normal(rng: &mut Rng) -> f64 {
    (-2.0 * (1.0 - rng.uniform01()).ln()).sqrt() * (std::f64::consts::TAU * rng.uniform01()).cos()
}

impl Clock for Rc<RefCell<Machine>> {
    fn now_ticks(&self) -> u64 {
        self.borrow().read()
    }

    fn facts(&self) -> ClockFacts {
        FACTS
    }

    fn metronome(&self) -> Option<&dyn Metronome> {
        Some(self)
    }
}

impl Metronome for Rc<RefCell<Machine>> {
    fn dependent_ticks(&self, _hundreds: u32) -> u64 {
        panic!("there is no metronome where calls are cold")
    }

    fn independent_ticks(&self, _blocks: u32) -> u64 {
        panic!("there is no metronome where calls are cold")
    }

    fn overlapping_ticks(&self, _blocks: u32) -> Option<u64> {
        panic!("there is no metronome where calls are cold")
    }

    fn known_adds_per_cycle(&self) -> Option<f64> {
        Some(4.0)
    }

    fn are_chains_known_to_overlap(&self) -> bool {
        true
    }
}

struct Simulated {
    machine: Rc<RefCell<Machine>>,
    groups: Groups,
    /// The mean cost of each input.
    mean_ticks: Vec<f64>,
}

impl Simulated {
    fn new(machine: &Rc<RefCell<Machine>>, groups: Groups, mean_ticks: &[f64]) -> Self {
        Self { machine: machine.clone(), groups, mean_ticks: mean_ticks.to_vec() }
    }

    fn plain(machine: &Rc<RefCell<Machine>>, mean_ticks: f64) -> Self {
        Self::new(machine, Groups::NoInputs, &[mean_ticks])
    }
}

impl Target for Simulated {
    fn groups(&self) -> &Groups {
        &self.groups
    }

    fn max_calls(&self) -> u64 {
        u64::MAX
    }

    fn sample_after(&mut self, timed: Timed, calls: u64, order: &[u32], gate: &mut dyn FnMut()) -> u64 {
        gate();
        let mut machine = self.machine.borrow_mut();
        let evictions = machine.evictions;
        machine.samples.push((calls, evictions));
        machine.now_ticks += 60.0 + 52.0 * machine.rng.uniform01();
        let start = machine.read();
        machine.now_ticks += FACTS.pair_cost_ticks + machine.clock_error_ticks;
        if timed == Timed::EmptyLoop {
            machine.now_ticks += LOOP_TICKS * calls as f64;
            return machine.read() - start;
        }
        for call in 0..calls as usize {
            let mean_ticks = self.mean_ticks[order.get(call).map_or(0, |&input| input as usize)];
            machine.now_ticks += machine.call_ticks(mean_ticks);
        }
        machine.read() - start
    }
}

fn settings(config: &Config) -> Config {
    Eviction::of_bytes(LINE_BYTES).settings(config)
}

fn measured(machine: &Rc<RefCell<Machine>>, target: &mut Simulated, config: &Config) -> Measurement {
    let evict = || machine.borrow_mut().evict();
    let config = settings(&Config { cold: true, ..config.clone() });
    measure_calls("cold", Mode::Throughput, &mut Cold::new(target, &evict), &config, machine)
}

fn ticks(nanoseconds: f64) -> f64 {
    nanoseconds * TICKS_PER_SECOND / 1e9
}

#[test]
fn intervals_contain_the_mean_of_single_calls_whose_clock_is_not_quite_known() {
    for mean_ticks in [300.0, 1_000.0, 3_000.0] {
        let benchmarks = 10_000;
        let (mut coverage, mut bias) = (0.0, 0.0);
        for seed in 0..benchmarks {
            let machine = Machine::new(seed);
            let measurement = measured(&machine, &mut Simulated::plain(&machine, mean_ticks), &Config::default());
            assert!(measurement.epochs.len() >= 11 && measurement.samples == measurement.calls, "{measurement:?}");
            let figure = measurement.rows[0].cost.unwrap().nanoseconds;
            let interval = figure.interval.unwrap();
            let is_covered = ticks(interval.low) <= mean_ticks && mean_ticks <= ticks(interval.high);
            coverage += f64::from(u8::from(is_covered)) / benchmarks as f64;
            bias += (ticks(figure.value) / mean_ticks - 1.0) / benchmarks as f64;
        }
        println!("{mean_ticks}: coverage {coverage:.3}, bias {bias:+.4}");
        // With a tail to the right, means of a hundred calls are more often too low than too high, and so are the intervals.
        // Errors of the clock that end at its own cost make the intervals of the shortest calls a little too wide.
        assert!((0.93..=0.99).contains(&coverage) && bias.abs() < 0.01, "{mean_ticks}: {coverage}, {bias}");
    }
}

#[test]
fn what_is_not_known_of_the_clock_is_in_the_interval_however_many_calls_there_are() {
    let machine = Machine::new(1);
    let config = Config { max_time: Duration::from_secs(20), ..Config::default() };
    let measurement = measured(&machine, &mut Simulated::plain(&machine, 300.0), &config);
    let half_width_ticks = ticks(measurement.rows[0].cost.unwrap().nanoseconds.half_width().unwrap());
    assert!(half_width_ticks > FACTS.pair_cost_ticks * 0.9, "{half_width_ticks}");
}

#[test]
fn without_the_loop_nothing_has_to_be_known_of_the_clock() {
    let config = Config { overhead: Overhead::Subtract, ..Config::default() };
    let (benchmarks, call_ticks) = (2_000, 100.0);
    let (mut coverage, mut bias) = (0.0, 0.0);
    for seed in 0..benchmarks {
        let machine = Machine::new(seed);
        let measurement = measured(&machine, &mut Simulated::plain(&machine, call_ticks), &config);
        let figure = measurement.rows[0].cost.unwrap().nanoseconds;
        let (interval, truth) = (figure.interval.unwrap(), call_ticks - LOOP_TICKS);
        assert!(ticks(figure.half_width().unwrap()) < FACTS.pair_cost_ticks / 2.0, "{figure:?}");
        coverage += f64::from(u8::from(ticks(interval.low) <= truth && truth <= ticks(interval.high)));
        bias += (ticks(figure.value) / truth - 1.0) / benchmarks as f64;
    }
    coverage /= benchmarks as f64;
    println!("coverage {coverage:.3}, bias {bias:+.4}");
    assert!((0.92..=0.985).contains(&coverage) && bias.abs() < 0.01, "{coverage}, {bias}");
}

#[test]
fn each_call_is_alone_behind_an_eviction_and_a_pass_without_calls() {
    let machine = Machine::new(2);
    measured(&machine, &mut Simulated::plain(&machine, 1_000.0), &Config::default());
    let samples = &machine.borrow().samples;
    assert!(samples.len() > 100);
    for (index, pair) in samples.chunks(2).enumerate() {
        let evictions = index as u64 + 1;
        assert_eq!(pair, [(0, evictions), (1, evictions)]);
    }
}

#[test]
fn a_run_keeps_to_its_budget_which_is_longer_where_nobody_set_one() {
    for (config, seconds) in
        [(Config::default(), 0.5), (Config { max_time: Duration::from_millis(80), ..Config::default() }, 0.08)]
    {
        let machine = Machine::new(3);
        let begin = machine.now_ticks();
        measured(&machine, &mut Simulated::plain(&machine, 1_000.0), &config);
        let spent_seconds = (machine.now_ticks() - begin) as f64 / TICKS_PER_SECOND;
        let sample_seconds = EVICTION_TICKS / TICKS_PER_SECOND;
        assert!((seconds..seconds + 1.1 * sample_seconds).contains(&spent_seconds), "{spent_seconds}");
    }
}

#[test]
fn figures_with_a_tail_and_without_cycles_are_none_to_distrust() {
    let machine = Machine::new(4);
    let measurement = measured(&machine, &mut Simulated::plain(&machine, 1_000.0), &Config::default());
    let row = &measurement.rows[0];
    assert_eq!((&row.outcome, row.cost.unwrap().cycles, measurement.core_clock), (&Outcome::Ok, None, None));
}

#[test]
fn inputs_of_two_costs_have_their_mean_and_are_not_taken_for_a_disturbance() {
    let costs: Vec<f64> = (0..40).map(|input| if input % 8 == 0 { 5_000.0 } else { 1_000.0 }).collect();
    let mut mean = 0.0;
    for seed in 0..200 {
        let machine = Machine::new(seed);
        let groups = Groups::Mix { inputs: costs.len(), too_many: true };
        let row = measured(&machine, &mut Simulated::new(&machine, groups, &costs), &Config::default()).rows.remove(0);
        assert!(!matches!(row.outcome, Outcome::Unstable(Instability::Bimodal { .. })), "{row:?}");
        mean += ticks(row.cost.unwrap().nanoseconds.value) / 200.0;
    }
    // Few calls that cost much more than the others have less weight than they should.
    assert!((mean / 1_500.0 - 1.0).abs() < 0.07, "{mean}");
}

#[test]
fn each_group_of_inputs_has_its_cost() {
    let group = |label: &str, members: Vec<u32>| Group { label: label.into(), members };
    let groups = Groups::Each(vec![group("hit", vec![0]), group("miss", vec![1])]);
    let config = Config { compare_repeated: true, ..Config::default() };
    let mut means = [0.0; 5];
    for seed in 0..50 {
        let machine = Machine::new(seed);
        let mut target = Simulated::new(&machine, groups.clone(), &[3_000.0, 800.0]);
        let rows = measured(&machine, &mut target, &config).rows;
        for (row, mean) in rows.iter().zip(&mut means) {
            *mean += ticks(row.cost.unwrap().nanoseconds.value) / 50.0;
            assert_eq!(row.cost.unwrap().mdape.is_some(), row.label.is_none() || row.is_repeated, "{row:?}");
        }
    }
    for (mean, expected) in means.iter().zip([1_900.0, 3_000.0, 3_000.0, 800.0, 800.0]) {
        assert!((mean / expected - 1.0).abs() < 0.03, "{means:?}");
    }
}

#[test]
fn calls_that_cost_nothing_are_below_the_floor() {
    let machine = Machine::new(6);
    let measurement = measured(&machine, &mut Simulated::plain(&machine, 0.0), &Config::default());
    assert_eq!(measurement.rows[0].outcome, Outcome::BelowFloor);
}

#[test]
fn a_comparison_is_cold_as_well() {
    let machine = Machine::new(7);
    let evict = || machine.borrow_mut().evict();
    let (mut slow, mut fast) = (Simulated::plain(&machine, 2_000.0), Simulated::plain(&machine, 1_000.0));
    let (mut slow, mut fast) = (Cold::new(&mut slow, &evict), Cold::new(&mut fast, &evict));
    let mut targets: [(&str, &mut dyn Target); 2] = [("slow", &mut slow), ("fast", &mut fast)];
    let config = settings(&Config { cold: true, ..Config::default() });
    let comparison = compare_calls(&mut targets, Mode::Throughput, &config, &machine);
    assert!((comparison.entries[1].relative / 2.0 - 1.0).abs() < 0.1, "{comparison:?}");
    assert!(machine.borrow().samples.iter().all(|&(calls, _)| calls <= 1));
}

#[test]
fn settings_that_somebody_gave_stay() {
    let config = Config::default();
    let cold = settings(&config);
    assert_eq!((cold.max_time, cold.epoch_iterations, cold.warmup), (DEFAULT_MAX_TIME, 1, 1));
    let given = Overrides { max_time: Some(config.max_time), warmup: Some(3), ..Overrides::default() };
    let cold = settings(&config.clone().overridden(&[&given]));
    assert_eq!((cold.max_time, cold.warmup), (config.max_time, 3));
    let calls = Config { min_epoch_iterations: 4, ..config.clone() };
    assert_eq!(settings(&calls).epoch_iterations, 4);
    assert_eq!(settings(&Config { epoch_iterations: 2, ..calls }).epoch_iterations, 2);
    let large = Eviction::of_bytes(3 * DEFAULT_BYTES).settings(&config);
    assert_eq!(large.max_time, 3 * DEFAULT_MAX_TIME);
}

#[test]
fn each_line_of_the_buffer_is_written_to_once() {
    let eviction = Eviction::of_bytes(4 * LINE_BYTES);
    eviction.run();
    let words: Vec<u64> = eviction.words.iter().map(Cell::get).collect();
    assert_eq!(words, [[2, 1, 1, 1, 1, 1, 1, 1]; 4].concat());
}

/// A directory of processors, each with caches of a kind and a size.
fn cpus(name: &str, cpus: &[&[(&str, &str)]]) -> PathBuf {
    let path = std::env::temp_dir().join(format!("nanobench-{}-{name}", std::process::id()));
    for (cpu, caches) in cpus.iter().enumerate() {
        for (index, (kind, size)) in caches.iter().enumerate() {
            let cache = path.join(format!("cpu{cpu}/cache/index{index}"));
            std::fs::create_dir_all(&cache).unwrap();
            std::fs::write(cache.join("type"), format!("{kind}\n")).unwrap();
            std::fs::write(cache.join("size"), format!("{size}\n")).unwrap();
        }
    }
    path
}

#[test]
fn the_buffer_is_twice_the_caches_of_the_core_that_has_most() {
    let small: &[_] = &[("Data", "32K"), ("Instruction", "32K"), ("Unified", "512K")];
    let large: &[_] = &[("Data", "64K"), ("Instruction", "64K"), ("Unified", "1024K"), ("Unified", "32M")];
    let path = cpus("two-kinds", &[small, large]);
    std::fs::create_dir_all(path.join("cpufreq")).unwrap();
    assert_eq!(buffer_bytes(&path), 2 * ((64 << 10) + (1 << 20) + (32 << 20)));
    std::fs::remove_dir_all(path).unwrap();
}

#[test]
fn caches_that_nobody_tells_of_are_taken_to_be_of_a_usual_size() {
    assert_eq!(buffer_bytes(Path::new("/no/such/directory")), DEFAULT_BYTES);
    let path = cpus("unknown", &[&[("Unified", "large"), ("Instruction", "32K")]]);
    assert_eq!(buffer_bytes(&path), DEFAULT_BYTES);
    std::fs::remove_dir_all(path).unwrap();
}
