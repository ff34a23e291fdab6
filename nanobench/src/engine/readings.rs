//! The metronomes beside samples: how long a core cycle is, and whether the core was ours alone.
//!
//! Before, between and after the samples of an epoch the metronomes are read. The chain of dependent additions says how many ticks
//! a core cycle had in this epoch. The other two say for each sample whether another hardware thread was at work just before or just
//! after it: the independent additions if it competes for the same units, the overlapping chains even if it only waits for its memory.

use crate::clock::{ClockFacts, Metronome};
use crate::stats::{dominant_mean, sort};

/// A sample counts if the worse of the two readings beside it is at least this share of what the core can do.
const QUIET_SHARE: f64 = 0.93;

/// Chains that take so many cycles each, which is what they are long, do not overlap.
const SERIAL_CHAIN_CYCLES: f64 = 90.0;

/// By how much more a call took while a neighbour was awake and left the adders alone, at most as far as was seen: a decoder of text.
const CUT_SLOWNESS: f64 = 0.6;

/// The two lengths of the chain of dependent additions, in hundreds.
const SHORT_CHAIN: u32 = 4;
const LONG_CHAIN: u32 = 16;

/// How often at least both lengths are timed in an epoch.
const MIN_CHAIN_PAIRS: usize = 8;

/// How many blocks of independent additions a reading times, how many additions these are, and about how many cycles they
/// take.
const PULSE_BLOCKS: u32 = 20;
const PULSE_ADDS: f64 = 2_400.0;
const PULSE_CYCLES: f64 = 600.0;

/// How many blocks of overlapping chains a reading times, and how many chains these are.
const OVERLAP_BLOCKS: u32 = 3;
const OVERLAP_CHAINS: f64 = 6.0;

/// How many steps of the clock a reading should be long, so that it is not wrong by more than a few per cent.
const MIN_PULSE_STEPS: f64 = 20.0;

/// If independent additions, or overlapping chains, take so many times as long as in the best moment, somebody else is there now.
const SHARED_ADDS: f64 = 1.15;
const SHARED_CHAINS: f64 = 1.4;

/// What a core does in a second, roughly: it only decides how long readings are on a clock of coarse steps.
const TYPICAL_CYCLES_PER_SECOND: f64 = 3e9;

/// The readings of the metronomes in the epoch that is under way.
pub(super) struct Readings<'a> {
    metronome: Option<&'a dyn Metronome>,
    facts: ClockFacts,
    /// The chains of both lengths in turns, short ones first, each with the number of pulses before it.
    chains: Vec<(f64, usize)>,
    /// One reading before the first sample and one after each.
    pulses: Vec<Pulse>,
}

/// What tells whether the core is ours alone now, or was beside a sample, in ticks of the clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pulse {
    /// An independent addition.
    add_ticks: f64,
    /// One of the overlapping chains; zero where there are none.
    chain_ticks: f64,
}

impl Pulse {
    /// What there is without a metronome.
    pub(super) const NONE: Self = Self { add_ticks: 0.0, chain_ticks: 0.0 };

    /// Anything is better.
    pub(super) const WORST: Self = Self { add_ticks: f64::INFINITY, chain_ticks: f64::INFINITY };

    /// Asks the metronomes.
    pub(super) fn read(metronome: &dyn Metronome, facts: &ClockFacts) -> Self {
        let length = length(facts);
        let mean_ticks = |elapsed_ticks: u64, count: f64| {
            (elapsed_ticks as f64 - facts.pair_cost_ticks).max(1.0) / (count * f64::from(length))
        };
        let add_ticks = mean_ticks(metronome.independent_ticks(PULSE_BLOCKS * length), PULSE_ADDS);
        // The chains come last: by then the stores of whatever was timed before have left the queue.
        let elapsed_ticks = metronome.overlapping_ticks(OVERLAP_BLOCKS * length);
        Self { add_ticks, chain_ticks: elapsed_ticks.map_or(0.0, |ticks| mean_ticks(ticks, OVERLAP_CHAINS)) }
    }

    /// The worse of two readings.
    pub(super) fn max(self, other: Self) -> Self {
        Self { add_ticks: self.add_ticks.max(other.add_ticks), chain_ticks: self.chain_ticks.max(other.chain_ticks) }
    }

    /// The better of two readings.
    pub(super) fn min(self, other: Self) -> Self {
        Self { add_ticks: self.add_ticks.min(other.add_ticks), chain_ticks: self.chain_ticks.min(other.chain_ticks) }
    }

    /// The best of some readings.
    pub(super) fn best(pulses: impl Iterator<Item = Self>) -> Self {
        pulses.fold(Self::WORST, Self::min)
    }

    /// What the best tenth of the readings reached.
    pub(super) fn best_tenth(pulses: &[Self]) -> Self {
        let best = |ticks: fn(&Self) -> f64| least_tenth(pulses.iter().map(ticks)).unwrap_or(f64::INFINITY);
        Self { add_ticks: best(|pulse| pulse.add_ticks), chain_ticks: best(|pulse| pulse.chain_ticks) }
    }

    /// Whether nobody more was there than in the best moment.
    pub(super) fn is_near(self, best: Self) -> bool {
        self.add_ticks <= SHARED_ADDS * best.add_ticks && self.chain_ticks <= SHARED_CHAINS * best.chain_ticks
    }

    /// The reading in core cycles.
    pub(super) fn beside(self, ticks_per_cycle: f64) -> Beside {
        Beside { add_cycles: self.add_ticks / ticks_per_cycle, chain_cycles: self.chain_ticks / ticks_per_cycle }
    }
}

/// The same in core cycles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beside {
    pub(super) add_cycles: f64,
    pub(super) chain_cycles: f64,
}

impl Beside {
    /// The worse of two.
    pub(super) fn worse(self, other: Self) -> Self {
        Self {
            add_cycles: self.add_cycles.max(other.add_cycles),
            chain_cycles: self.chain_cycles.max(other.chain_cycles),
        }
    }
}

/// What there is beside samples if the core is ours alone.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alone {
    add_cycles: f64,
    /// Whether the chains overlap then. If nothing says so, they have no say.
    do_chains_overlap: bool,
}

impl Alone {
    /// By what is known of the core, and by the best tenth of what was seen where nothing is.
    pub(super) fn of(metronome: Option<&dyn Metronome>, seen: &[Beside]) -> Self {
        let known_adds_per_cycle = metronome.and_then(Metronome::known_adds_per_cycle);
        let is_known_to_overlap = metronome.is_some_and(Metronome::are_chains_known_to_overlap);
        let best_chain_cycles = least_tenth(seen.iter().map(|beside| beside.chain_cycles));
        Self {
            add_cycles: 1.0 / known_adds_per_cycle.unwrap_or_else(|| best_adds_per_cycle(seen)),
            do_chains_overlap: is_known_to_overlap
                || best_chain_cycles.is_some_and(|cycles| cycles < SERIAL_CHAIN_CYCLES),
        }
    }

    /// Whether the core was ours alone where this was read.
    pub(super) fn agrees_with(&self, beside: &Beside) -> bool {
        QUIET_SHARE * beside.add_cycles <= self.add_cycles && !self.is_chain_cut(beside)
    }

    /// By how much at most somebody else has made calls slower where this was read, as a share.
    pub(super) fn slowness(&self, beside: &Beside) -> f64 {
        if self.agrees_with(beside) {
            return 0.0;
        }
        let least = if self.is_chain_cut(beside) { CUT_SLOWNESS } else { 0.0 };
        (beside.add_cycles / self.add_cycles - 1.0).max(least)
    }

    fn is_chain_cut(&self, beside: &Beside) -> bool {
        self.do_chains_overlap && beside.chain_cycles >= SERIAL_CHAIN_CYCLES
    }
}

/// What the best tenth of the readings reached: without a better reference, the core is taken to have been ours then.
pub(super) fn best_adds_per_cycle(seen: &[Beside]) -> f64 {
    least_tenth(seen.iter().map(|beside| beside.add_cycles)).map_or(0.0, |cycles| 1.0 / cycles)
}

/// What a tenth of the values does not exceed.
fn least_tenth(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.collect();
    sort(&mut sorted);
    sorted.get(sorted.len() / 10).copied()
}

/// By how much readings have to be longer than where the clock is fine.
fn length(facts: &ClockFacts) -> u32 {
    let pulse_ticks = PULSE_CYCLES / TYPICAL_CYCLES_PER_SECOND * facts.ticks_per_second;
    (MIN_PULSE_STEPS * facts.step_ticks / pulse_ticks).ceil().max(1.0) as u32
}

impl<'a> Readings<'a> {
    /// Begins an epoch.
    pub(super) fn begin(metronome: Option<&'a dyn Metronome>, facts: ClockFacts) -> Self {
        let mut readings = Self { metronome, facts, chains: Vec::new(), pulses: Vec::new() };
        for _ in 0..MIN_CHAIN_PAIRS / 2 {
            readings.time_chain();
            readings.time_chain();
        }
        readings.between_samples();
        readings
    }

    /// Reads the metronomes between two samples.
    pub(super) fn between_samples(&mut self) {
        let Some(metronome) = self.metronome else { return };
        self.time_chain();
        self.pulses.push(Pulse::read(metronome, &self.facts));
    }

    fn time_chain(&mut self) {
        let Some(metronome) = self.metronome else { return };
        let hundreds = if self.chains.len() % 2 == 0 { SHORT_CHAIN } else { LONG_CHAIN };
        self.chains.push((metronome.dependent_ticks(hundreds * length(&self.facts)) as f64, self.pulses.len()));
    }

    /// The readings of the chains of one length. Those do not count beside which somebody was there who was not in the best moment
    /// of the epoch, if there are enough others: a neighbour makes a chain longer too, if only by a per cent.
    fn chains(&self, is_long: bool) -> Vec<f64> {
        let best = Pulse::best(self.pulses.iter().copied());
        let each = || self.chains.iter().skip(usize::from(is_long)).step_by(2);
        let is_quiet = |&&(_, pulse): &&(f64, usize)| self.pulses.get(pulse).is_none_or(|pulse| pulse.is_near(best));
        let quiet: Vec<f64> = each().filter(is_quiet).map(|&(ticks, _)| ticks).collect();
        if quiet.len() >= MIN_CHAIN_PAIRS { quiet } else { each().map(|&(ticks, _)| ticks).collect() }
    }

    /// Ends the epoch: ticks per cycle, and for each sample the worse of the readings before and after it.
    pub(super) fn end(mut self) -> (f64, Vec<Pulse>) {
        if self.metronome.is_none() {
            return (1.0, Vec::new());
        }
        while self.chains.len() < 2 * MIN_CHAIN_PAIRS || self.chains.len() % 2 == 1 {
            self.time_chain();
        }
        let mean = |is_long: bool| dominant_mean(&mut self.chains(is_long), self.facts.step_ticks);
        let difference = mean(true) - mean(false);
        let ticks_per_cycle =
            difference / (100.0 * f64::from(LONG_CHAIN - SHORT_CHAIN) * f64::from(length(&self.facts)));
        let beside = self.pulses.windows(2).map(|pair| pair[0].max(pair[1])).collect();
        (ticks_per_cycle, beside)
    }
}
