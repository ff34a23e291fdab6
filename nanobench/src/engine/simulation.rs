//! A simulated machine, what can be wrong with it, and how honest the engine is about functions whose costs on it are known.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use super::*;
use crate::groups::Group;
use crate::measurement::Cost;

pub(super) const TICKS_PER_SECOND: f64 = 2.6e9;
const PAIR_COST_TICKS: f64 = 63.4;
/// Ticks of the clock in a core cycle, at the nominal speed of the core.
pub(super) const TICKS_PER_CYCLE: f64 = 0.72;
/// By how much another hardware thread makes calls slower, and chains that overlap when it is asleep.
const SHARED_SLOWNESS: f64 = 1.5;
const SHARED_OVERLAP_SLOWNESS: f64 = 1.9;
/// The same for dependent additions, which hardly compete with it.
const SHARED_CHAIN_SLOWNESS: f64 = 1.01;

/// What is wrong with the simulated machine, and what it measures.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scenario {
    pub(super) name: &'static str,
    /// Ticks per call of each input; a single one is a function without inputs.
    pub(super) costs: &'static [f64],
    /// Ticks per call of the empty loop, which are a part of each cost.
    pub(super) loop_ticks: f64,
    /// The clock only shows multiples of this.
    pub(super) step_ticks: f64,
    /// By how much the core clock wanders in all, as a share; it goes up and down once in 20 to 100 ms.
    pub(super) drift: f64,
    /// The share of samples that an interrupt hits, 10 us on average.
    pub(super) interrupts: f64,
    /// The share of the time during which another hardware thread uses the core, in bursts of 0.3 ms on average.
    pub(super) sibling: f64,
    /// By how much it makes independent additions slower.
    pub(super) sibling_adds: f64,
    /// The standard deviation of a sample's duration, as a share.
    pub(super) noise: f64,
    /// The standard deviation, as a share, of what calls take at different times, as a predictor makes it that learns and forgets: it is
    /// alike for half a millisecond, and so for a few epochs.
    pub(super) wandering: f64,
    /// The standard deviation, as a share, of what calls of each input take by what the branch predictor happens to have learnt, until
    /// it forgets.
    pub(super) learnt: f64,
    /// The share of samples that take up to a tenth longer, more often less than more.
    pub(super) tail: f64,
    /// The share of samples that take a third longer, which is another level and not a tail.
    pub(super) second_level: f64,
    /// The share of samples during which the system runs another program for 4 ms.
    pub(super) waits: f64,
    pub(super) has_metronome: bool,
    /// Whether it is known how many additions the core can make in a cycle.
    pub(super) is_known: bool,
    /// Whether additions take no time, as where an emulator makes up the clock.
    pub(super) adds_are_free: bool,
}

pub(super) const QUIET: Scenario = Scenario {
    name: "quiet",
    costs: &[12.3],
    loop_ticks: 0.5,
    step_ticks: 26.0,
    drift: 0.0,
    interrupts: 0.0,
    sibling: 0.0,
    sibling_adds: 1.9,
    noise: 0.002,
    wandering: 0.0,
    learnt: 0.0,
    tail: 0.0,
    second_level: 0.0,
    waits: 0.0,
    has_metronome: true,
    is_known: true,
    adds_are_free: false,
};
pub(super) const TROUBLED: Scenario =
    Scenario { name: "step, drift and interrupts", drift: 0.05, interrupts: 0.01, ..QUIET };
pub(super) const FOUR_INPUTS: &[f64] = &[31.0, 16.5, 17.0, 30.5];

/// The machines on which the intervals have to be honest. A new kind of trouble gets a line here.
pub(super) const SCENARIOS: [Scenario; 15] = [
    QUIET,
    TROUBLED,
    Scenario { name: "drift", drift: 0.05, ..QUIET },
    Scenario { name: "interrupts", interrupts: 0.01, ..QUIET },
    Scenario { name: "a busy sibling", sibling: 0.3, ..QUIET },
    Scenario { name: "a sibling that waits for memory", sibling: 0.3, sibling_adds: 1.0, ..QUIET },
    Scenario { name: "a clock of 100 ticks", step_ticks: 100.0, ..QUIET },
    Scenario { name: "a clock of 100 ticks and an unknown core", step_ticks: 100.0, is_known: false, ..TROUBLED },
    Scenario { name: "a heavy right tail", tail: 0.2, ..QUIET },
    Scenario { name: "four inputs", costs: FOUR_INPUTS, ..QUIET },
    Scenario { name: "four inputs in trouble", costs: FOUR_INPUTS, ..TROUBLED },
    Scenario { name: "four inputs of very different costs", costs: &[5.0, 20.0, 60.0, 150.0], ..QUIET },
    Scenario { name: "a predictor that learns this or that", costs: FOUR_INPUTS, learnt: 0.02, noise: 0.02, ..QUIET },
    Scenario { name: "trouble without a metronome", has_metronome: false, ..TROUBLED },
    Scenario { name: "four inputs in trouble without one", costs: FOUR_INPUTS, has_metronome: false, ..TROUBLED },
];

pub(super) struct Machine {
    scenario: Scenario,
    rng: Rng,
    now_ticks: f64,
    drift_ticks: f64,
    drift_phase: f64,
    is_shared: bool,
    /// When the other hardware thread stops or starts.
    sibling_turn_ticks: f64,
    waited_ticks: f64,
    /// Where the wandering is, in standard deviations, and since when.
    wandered: (f64, f64),
    /// For each input by how much its calls take longer than on average, as a share, by what the branch predictor has learnt so
    /// far.
    learnt: Vec<f64>,
    /// How many samples there were when the predictor forgot for the first time.
    first_forgotten: Option<usize>,
    /// For each sample its calls, and the speed at which they were made; zero calls if the core was shared.
    log: Vec<(f64, f64)>,
}

impl Machine {
    pub(super) fn new(scenario: Scenario, seed: u64) -> Rc<RefCell<Self>> {
        let mut rng = Rng::new(seed);
        Rc::new(RefCell::new(Self {
            scenario,
            now_ticks: 1e9 * rng.uniform01(),
            drift_ticks: (0.02 + 0.08 * rng.uniform01()) * TICKS_PER_SECOND,
            drift_phase: std::f64::consts::TAU * rng.uniform01(),
            is_shared: false,
            sibling_turn_ticks: 0.0,
            waited_ticks: 0.0,
            wandered: (0.0, 0.0),
            learnt: Vec::new(),
            first_forgotten: None,
            rng,
            log: Vec::new(),
        }))
    }

    /// Lets the branch predictor learn what it does not know yet of so many inputs.
    fn learn(&mut self, inputs: usize) {
        while self.learnt.len() < inputs {
            let learnt = self.scenario.learnt * self.normal();
            self.learnt.push(learnt);
        }
    }

    fn read(&self) -> u64 {
        let step = self.scenario.step_ticks;
        ((self.now_ticks / step).floor() * step) as u64
    }

    fn slowness_now(&self) -> f64 {
        let angle = std::f64::consts::TAU * self.now_ticks / self.drift_ticks + self.drift_phase;
        1.0 + self.scenario.drift / 2.0 * angle.sin()
    }

    fn let_sibling_turn(&mut self) {
        let Scenario { sibling, .. } = self.scenario;
        while sibling > 0.0 && self.now_ticks >= self.sibling_turn_ticks {
            self.is_shared = !self.is_shared;
            let burst_ticks = 0.3e-3 * TICKS_PER_SECOND;
            let mean_ticks = if self.is_shared { burst_ticks } else { burst_ticks * (1.0 - sibling) / sibling };
            self.sibling_turn_ticks = self.now_ticks - self.rng.uniform01().ln() * mean_ticks;
        }
    }

    /// Goes on for a region of so many ticks at nominal speed; `shared` is by how much a sibling makes it slower. Returns what
    /// the clock makes of it, and whether all of it was undisturbed.
    fn pass(&mut self, nominal_ticks: f64, shared: f64) -> (u64, bool) {
        // Something goes on between two regions, so that they start anywhere within a step of the clock.
        self.now_ticks += 60.0 + 2.0 * self.scenario.step_ticks * self.rng.uniform01();
        self.let_sibling_turn();
        let start = self.read();
        let mut left_ticks = nominal_ticks;
        let mut is_alone = true;
        self.now_ticks += PAIR_COST_TICKS;
        while left_ticks > 0.0 {
            let slowness = self.slowness_now() * if self.is_shared { shared } else { 1.0 };
            is_alone &= !self.is_shared;
            let until_turn =
                if self.scenario.sibling > 0.0 { self.sibling_turn_ticks - self.now_ticks } else { f64::MAX };
            let step_ticks = (left_ticks * slowness).min(until_turn.max(1.0));
            self.now_ticks += step_ticks;
            left_ticks -= step_ticks / slowness;
            if left_ticks < 1e-6 {
                break;
            }
            self.let_sibling_turn();
        }
        (self.read() - start, is_alone)
    }

    /// The same for a region that would take so many ticks at nominal speed if nothing got in its way.
    fn disturbed_pass(&mut self, quiet_ticks: f64) -> (u64, bool) {
        let Scenario { noise, tail, second_level, interrupts, waits, .. } = self.scenario;
        let mut ticks = quiet_ticks * (1.0 + noise * self.normal()).max(0.0);
        if self.rng.uniform01() < tail {
            ticks *= 1.0 + 0.1 * self.rng.uniform01().powi(3);
        }
        if self.rng.uniform01() < second_level {
            ticks *= 4.0 / 3.0;
        }
        if self.rng.uniform01() < waits {
            ticks += 4e-3 * TICKS_PER_SECOND;
            self.waited_ticks += 4e-3 * TICKS_PER_SECOND;
        }
        if self.rng.uniform01() < interrupts {
            ticks += -self.rng.uniform01().ln() * 10e-6 * TICKS_PER_SECOND;
        }
        self.pass(ticks, SHARED_SLOWNESS)
    }

    /// A sample of the function.
    fn time(&mut self, calls: u64, quiet_ticks: f64) -> u64 {
        let slowness = self.slowness_now();
        let wandering = self.wander();
        let (elapsed_ticks, is_alone) = self.disturbed_pass(quiet_ticks * (1.0 + self.scenario.wandering * wandering));
        self.log.push((if is_alone { calls as f64 } else { 0.0 }, slowness));
        elapsed_ticks
    }

    /// Lets the wandering go on, as a process by Ornstein and Uhlenbeck.
    fn wander(&mut self) -> f64 {
        let (before, since_ticks) = self.wandered;
        let kept = (-(self.now_ticks - since_ticks) / (0.5e-3 * TICKS_PER_SECOND)).exp();
        let now = kept * before + (1.0 - kept * kept).sqrt() * self.normal();
        self.wandered = (now, self.now_ticks);
        now
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.rng.uniform01()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.rng.uniform01()).cos()
    }

    /// How many samples were taken.
    pub(super) fn samples(&self) -> u64 {
        self.log.len() as u64
    }

    /// By how much the samples that had the core to themselves were slower than at nominal speed: the last `samples` ones, or those
    /// since the predictor began to forget, between which there are others that only teach it.
    pub(super) fn slowness(&self, samples: u64) -> f64 {
        let last = &self.log[self.first_forgotten.unwrap_or(self.log.len() - samples as usize)..];
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

    fn metronome(&self) -> Option<&dyn Metronome> {
        self.borrow().scenario.has_metronome.then_some(self)
    }

    fn waited_seconds(&self) -> Option<f64> {
        Some(self.borrow().waited_ticks / TICKS_PER_SECOND)
    }

    fn forget_branches(&self, _random_bits: &mut dyn FnMut() -> u64) -> bool {
        let mut machine = self.borrow_mut();
        machine.learnt.clear();
        let samples = machine.log.len();
        machine.first_forgotten.get_or_insert(samples);
        true
    }
}

impl Metronome for Rc<RefCell<Machine>> {
    fn dependent_ticks(&self, hundreds: u32) -> u64 {
        if self.borrow().scenario.adds_are_free {
            return 0;
        }
        self.borrow_mut().pass(f64::from(hundreds) * 100.0 * TICKS_PER_CYCLE, SHARED_CHAIN_SLOWNESS).0
    }

    fn independent_ticks(&self, blocks: u32) -> u64 {
        let sibling_adds = self.borrow().scenario.sibling_adds;
        self.borrow_mut().pass(f64::from(blocks) * 30.0 * TICKS_PER_CYCLE, sibling_adds).0
    }

    fn overlapping_ticks(&self, blocks: u32) -> Option<u64> {
        Some(self.borrow_mut().pass(f64::from(blocks) * 122.0 * TICKS_PER_CYCLE, SHARED_OVERLAP_SLOWNESS).0)
    }

    fn known_adds_per_cycle(&self) -> Option<f64> {
        self.borrow().scenario.is_known.then_some(4.0)
    }

    fn are_chains_known_to_overlap(&self) -> bool {
        self.borrow().scenario.is_known
    }
}

pub(super) struct Simulated {
    machine: Rc<RefCell<Machine>>,
    groups: Groups,
    /// Ticks per call of each group at nominal speed.
    costs: Vec<f64>,
    /// Behind those of how many other inputs the predictor keeps what it learns.
    learns_behind: usize,
}

impl Simulated {
    /// One input for each cost, or a function without inputs if there is only one.
    pub(super) fn new(machine: &Rc<RefCell<Machine>>, costs: &[f64]) -> Self {
        let group = |input: usize| Group { label: input.to_string(), members: vec![input as u32] };
        let groups = match costs.len() {
            1 => Groups::NoInputs,
            several => Groups::Each((0..several).map(group).collect()),
        };
        Self { machine: machine.clone(), groups, costs: costs.to_vec(), learns_behind: 0 }
    }

    /// The same of another function, which has nothing in common with that of `other`.
    pub(super) fn learnt_behind(self, other: &Self) -> Self {
        Self { learns_behind: other.learns_behind + other.costs.len(), ..self }
    }

    pub(super) fn mean_cost(&self) -> f64 {
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

    fn sample_after(&mut self, timed: Timed, calls: u64, order: &[u32], gate: &mut dyn FnMut()) -> u64 {
        gate();
        let mut machine = self.machine.borrow_mut();
        machine.learn(self.learns_behind + self.costs.len());
        if timed == Timed::EmptyLoop {
            let quiet_ticks = calls as f64 * machine.scenario.loop_ticks;
            return machine.disturbed_pass(quiet_ticks).0;
        }
        let quiet_ticks = match self.groups {
            Groups::NoInputs => calls as f64 * self.costs[0],
            _ => {
                let cost = |input: usize| self.costs[input] * (1.0 + machine.learnt[self.learns_behind + input]);
                order.iter().map(|&input| cost(input as usize)).sum()
            }
        };
        machine.time(calls, quiet_ticks)
    }
}

/// Nanoseconds in ticks.
pub(super) fn ticks(nanoseconds: f64) -> f64 {
    nanoseconds * TICKS_PER_SECOND / 1e9
}

/// How honest the row of a benchmark was.
#[derive(Clone, Copy, Default)]
pub(super) struct Score {
    /// How often the interval contained the truth.
    pub(super) coverage: f64,
    /// The mean error in ns, as a share of the truth.
    pub(super) bias: f64,
    /// The mean error in cycles, likewise; zero without a metronome.
    pub(super) cycles_bias: f64,
    /// The mean half-width of the interval, likewise.
    pub(super) half_width: f64,
}

pub(super) fn score(scenario: Scenario, seeds: Range<u64>, config: &Config) -> Vec<Score> {
    let known_ticks = if config.overhead == Overhead::Subtract { scenario.loop_ticks } else { 0.0 };
    let costs = || scenario.costs.iter().map(|cost| cost - known_ticks);
    let mean = costs().sum::<f64>() / scenario.costs.len() as f64;
    let mut nominal = vec![mean];
    if scenario.costs.len() > 1 {
        nominal.extend(costs());
    }
    if config.overhead != Overhead::Raw {
        nominal.push(scenario.loop_ticks);
    }
    let mut scores = vec![Score::default(); nominal.len()];
    let share = 1.0 / (seeds.end - seeds.start) as f64;
    for seed in seeds {
        let machine = Machine::new(scenario, seed);
        let mut target = Simulated::new(&machine, scenario.costs);
        let measurement = measure("simulated", Mode::Throughput, &mut target, config, &machine);
        let slowness = machine.borrow().slowness(measurement.samples);
        assert_eq!(measurement.rows.len(), nominal.len());
        for ((row, nominal), score) in measurement.rows.iter().zip(&nominal).zip(&mut scores) {
            let Cost { nanoseconds, cycles, .. } = row.cost.unwrap();
            let interval = nanoseconds.interval.unwrap();
            let truth = nominal * slowness;
            let is_covered = ticks(interval.low) <= truth && truth <= ticks(interval.high);
            score.coverage += share * f64::from(u8::from(is_covered));
            score.bias += share * (ticks(nanoseconds.value) / truth - 1.0);
            score.half_width += share * (ticks(interval.high) / truth - ticks(interval.low) / truth) / 2.0;
            score.cycles_bias += share * cycles.map_or(0.0, |cycles| cycles.value * TICKS_PER_CYCLE / nominal - 1.0);
        }
    }
    scores
}
