//! What was seen during a run: the samples, and the tempo of the core around each of them.
//!
//! Before, between and after the samples of an epoch the two metronomes are read. The chain of dependent additions says how
//! many ticks a core cycle had in this epoch. The independent ones say, for each sample, whether the core was ours alone: if
//! fewer additions a cycle were possible just before or just after it, then another hardware thread was at work, and the sample
//! gets no weight.

use super::fit::{Samples, Tempo};
use crate::clock::{ClockFacts, Metronome};
use crate::config::Overhead;
use crate::measurement::Epoch;
use crate::stats::{dominant_mean, median, sort};

/// A sample counts if the worse of the two readings beside it is at least this share of what the core can do.
pub(super) const QUIET_SHARE: f64 = 0.93;

/// The two lengths of the chain of dependent additions, in hundreds.
const SHORT_CHAIN: u32 = 4;
const LONG_CHAIN: u32 = 16;

/// How often at least both lengths are timed in an epoch.
const MIN_CHAIN_PAIRS: usize = 8;

/// How many blocks of independent additions a reading times, how many additions these are, and about how many cycles they
/// take.
pub(super) const PULSE_BLOCKS: u32 = 20;
const PULSE_ADDS: f64 = 2_400.0;
const PULSE_CYCLES: f64 = 600.0;

/// How many steps of the clock a reading should be long, so that it is not wrong by more than a few per cent.
const MIN_PULSE_STEPS: f64 = 20.0;

/// If independent additions take so many times as long as in the best moment of an epoch, somebody else is there now.
const SHARED_PULSE: f64 = 1.15;

/// What a core does in a second, roughly: it only decides how long readings are on a clock of coarse steps.
const TYPICAL_CYCLES_PER_SECOND: f64 = 3e9;

/// How many epochs to either side have a say in an epoch's ticks per cycle.
const TEMPO_NEIGHBOURS: usize = 2;

/// How wrong a reading of the ticks per cycle can be, as a share, without having been disturbed.
const MAX_READING_ERROR: f64 = 0.03;

/// If the thread had to wait for a processor for a larger share of a sample than this, then the sample does not count.
const MAX_WAITED_SHARE: f64 = 0.01;

/// How many readings of the independent additions say what a core can do.
const MIN_READINGS: usize = 200;

/// Samples longer than this, in seconds, are as long as disturbances are: what was beside them says little about them.
pub(super) const LONGEST_GATED_SECONDS: f64 = 50e-6;

/// The least number of epochs with samples during which the core was ours alone.
const MIN_QUIET_EPOCHS: usize = 3;

/// If a larger share of the samples than this is left out, those that are not may have been taken for quiet by chance: a neighbour who
/// is always there and takes little makes readings near the limit. Figures of 20 processes differed by up to 7.6 and 4.8 % where four
/// fifths could be left out, and by up to 3.0 and 2.3 % with this.
pub(super) const MAX_LEFT_OUT: f64 = 0.6;

/// The readings of the metronomes in the epoch that is under way.
pub(crate) struct Readings<'a> {
    metronome: Option<&'a dyn Metronome>,
    facts: ClockFacts,
    /// By how much readings have to be longer than where the clock is fine.
    length: u32,
    /// The chains of both lengths in turns, short ones first, each with the number of readings of the independent additions before it.
    chains: Vec<(f64, usize)>,
    /// Ticks of the independent additions, one reading before the first sample and one after each.
    pulses: Vec<f64>,
}

impl<'a> Readings<'a> {
    /// Begins an epoch.
    pub(crate) fn begin(metronome: Option<&'a dyn Metronome>, facts: ClockFacts) -> Self {
        let pulse_ticks = PULSE_CYCLES / TYPICAL_CYCLES_PER_SECOND * facts.ticks_per_second;
        let length = (MIN_PULSE_STEPS * facts.step_ticks / pulse_ticks).ceil().max(1.0) as u32;
        let mut readings = Self { metronome, facts, length, chains: Vec::new(), pulses: Vec::new() };
        for _ in 0..MIN_CHAIN_PAIRS / 2 {
            readings.time_chain();
            readings.time_chain();
        }
        readings.between_samples();
        readings
    }

    /// Reads the metronomes between two samples.
    pub(crate) fn between_samples(&mut self) {
        let Some(metronome) = self.metronome else { return };
        self.time_chain();
        self.pulses.push(metronome.independent_ticks(PULSE_BLOCKS * self.length) as f64 - self.facts.pair_cost_ticks);
    }

    fn time_chain(&mut self) {
        let Some(metronome) = self.metronome else { return };
        let hundreds = if self.chains.len() % 2 == 0 { SHORT_CHAIN } else { LONG_CHAIN };
        self.chains.push((metronome.dependent_ticks(hundreds * self.length) as f64, self.pulses.len()));
    }

    /// The readings of the chains of one length. Those do not count beside which the independent additions took longer than in the
    /// best moment of the epoch, if there are enough others: a neighbour makes a chain longer too, if only by a per cent.
    fn chains(&self, is_long: bool) -> Vec<f64> {
        let longest_pulse = SHARED_PULSE * self.pulses.iter().copied().fold(f64::INFINITY, f64::min);
        let each = || self.chains.iter().skip(usize::from(is_long)).step_by(2);
        let is_quiet =
            |&&(_, pulse): &&(f64, usize)| self.pulses.get(pulse).is_none_or(|&ticks| ticks <= longest_pulse);
        let quiet: Vec<f64> = each().filter(is_quiet).map(|&(ticks, _)| ticks).collect();
        if quiet.len() >= MIN_CHAIN_PAIRS { quiet } else { each().map(|&(ticks, _)| ticks).collect() }
    }

    /// Ends the epoch: ticks per cycle, and for each sample the ticks of an independent addition, the worse of those before and
    /// after it.
    pub(super) fn end(mut self) -> (f64, Vec<f64>) {
        if self.metronome.is_none() {
            return (1.0, Vec::new());
        }
        while self.chains.len() < 2 * MIN_CHAIN_PAIRS || self.chains.len() % 2 == 1 {
            self.time_chain();
        }
        let mean = |is_long: bool| dominant_mean(&mut self.chains(is_long), self.facts.step_ticks);
        let difference = mean(true) - mean(false);
        let length = f64::from(self.length);
        let ticks_per_cycle = difference / (100.0 * f64::from(LONG_CHAIN - SHORT_CHAIN) * length);
        let ticks_per_add = |ticks: f64| ticks.max(1.0) / (PULSE_ADDS * length);
        let beside = self.pulses.windows(2).map(|pair| ticks_per_add(pair[0].max(pair[1]))).collect();
        (ticks_per_cycle, beside)
    }
}

/// How long a sample took, in ticks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timing {
    /// The function.
    pub(crate) ticks: f64,
    /// The empty loop beside it; nothing if it was not timed.
    pub(crate) loop_ticks: f64,
    /// For how long the thread had to wait for a processor meanwhile.
    pub(crate) waited_ticks: f64,
}

impl Timing {
    /// How long it took in all.
    pub(crate) fn whole_ticks(&self) -> f64 {
        self.ticks + self.loop_ticks
    }
}

/// All samples of a run.
pub(crate) struct Record {
    groups: usize,
    overhead: Overhead,
    counts: Vec<u64>,
    timings: Vec<Timing>,
    /// For each sample, the ticks of an independent addition beside it; empty where there is no metronome.
    ticks_per_add: Vec<f64>,
    /// For each epoch, the end of its samples, and its ticks per cycle.
    epochs: Vec<(usize, f64)>,
}

/// The samples that count.
pub(crate) struct Chosen {
    pub(crate) samples: Samples,
    /// Those of the empty loop, where it was timed.
    pub(crate) loop_samples: Samples,
    /// The tempo of each epoch that has samples left.
    pub(crate) tempi: Vec<Tempo>,
    /// The share of all samples that were left out since the core was shared.
    pub(crate) left_out: f64,
    /// The share of all samples beside which the core was shared.
    pub(crate) shared: f64,
    /// Whether these had to be taken all the same.
    pub(crate) is_shared: bool,
    /// By how much at most others on the core made calls take longer, in samples too long to be judged: a share.
    pub(crate) company: f64,
}

/// The additions per cycle that were possible beside samples.
struct AddsBeside {
    /// Empty where there is no metronome.
    per_cycle: Vec<f64>,
    /// With the core to oneself.
    most: f64,
}

impl AddsBeside {
    /// Whether the core was ours alone just before and just after a sample.
    fn is_alone(&self, sample: usize) -> bool {
        self.per_cycle.get(sample).is_none_or(|adds| *adds >= QUIET_SHARE * self.most)
    }
}

impl Record {
    pub(crate) fn new(groups: usize, overhead: Overhead) -> Self {
        Self {
            groups,
            overhead,
            counts: Vec::new(),
            timings: Vec::new(),
            ticks_per_add: Vec::new(),
            epochs: Vec::new(),
        }
    }

    /// Adds a sample to the epoch that is under way: the calls of each group, and how long they took.
    pub(crate) fn push(&mut self, counts: &[u64], timing: Timing) {
        self.counts.extend_from_slice(counts);
        self.timings.push(timing);
    }

    /// What a sample says of the function: where the loop is subtracted, how much longer than that it took.
    fn figure_ticks(&self, timing: &Timing) -> f64 {
        match self.overhead {
            Overhead::Raw | Overhead::Show => timing.ticks,
            Overhead::Subtract => timing.ticks - timing.loop_ticks,
        }
    }

    /// Ends the epoch with the readings that were taken during it. If they make no sense, as when the clock stood still or was
    /// moved, the epoch is forgotten and the answer is no.
    pub(crate) fn end_epoch(&mut self, readings: Readings) -> bool {
        let (ticks_per_cycle, ticks_per_add) = readings.end();
        let is_plausible = ticks_per_cycle > 0.0;
        if is_plausible {
            self.ticks_per_add.extend(ticks_per_add);
            self.epochs.push((self.timings.len(), ticks_per_cycle));
        } else {
            let kept = self.epochs.last().map_or(0, |&(end, _)| end);
            self.timings.truncate(kept);
            self.counts.truncate(kept * self.groups);
        }
        is_plausible
    }

    pub(crate) fn epochs(&self) -> usize {
        self.epochs.len()
    }

    pub(crate) fn samples(&self) -> usize {
        self.timings.len()
    }

    /// How many calls of each group were made.
    pub(crate) fn calls(&self) -> Vec<u64> {
        let mut calls = vec![0; self.groups];
        for counts in self.counts.chunks(self.groups) {
            for (sum, count) in calls.iter_mut().zip(counts) {
                *sum += count;
            }
        }
        calls
    }

    /// What each epoch saw, with the clock's part of a sample as given.
    pub(crate) fn epochs_seen(&self, clock_ticks: f64, facts: &ClockFacts, has_metronome: bool) -> Vec<Epoch> {
        let mut begin = 0;
        let epoch = |(&(end, _), ticks_per_cycle): (&(usize, f64), f64)| {
            let samples = std::mem::replace(&mut begin, end)..end;
            let clock_ticks = samples.len() as f64 * clock_ticks;
            let iterations: u64 = self.counts[samples.start * self.groups..end * self.groups].iter().sum();
            let sum: f64 = self.timings[samples].iter().map(|timing| self.figure_ticks(timing)).sum();
            let ticks = (sum - clock_ticks).max(0.0) / iterations as f64;
            Epoch {
                iterations,
                seconds_per_call: ticks / facts.ticks_per_second,
                cycles_per_call: has_metronome.then_some(ticks / ticks_per_cycle),
            }
        };
        self.epochs.iter().zip(self.ticks_per_cycle()).map(epoch).collect()
    }

    /// How long all samples took together, less the loop where it is subtracted.
    pub(crate) fn total_ticks(&self) -> f64 {
        self.timings.iter().map(|timing| self.figure_ticks(timing)).sum::<f64>().max(0.0)
    }

    /// How long the empty loop took in all samples together.
    pub(crate) fn total_loop_ticks(&self) -> f64 {
        self.timings.iter().map(|timing| timing.loop_ticks).sum()
    }

    /// Ticks per cycle of every epoch: the median of its own and those of the epochs around it. The core clock moves slowly, so a
    /// chain that was disturbed shows as an epoch that is unlike its neighbours. An epoch in which somebody else was there all the
    /// time has no say where there are others.
    pub(crate) fn ticks_per_cycle(&self) -> Vec<f64> {
        let mut begin = 0;
        let least_ticks_per_add = |&(end, _): &(usize, f64)| {
            let samples = std::mem::replace(&mut begin, end)..end;
            self.ticks_per_add.get(samples).unwrap_or_default().iter().copied().fold(f64::INFINITY, f64::min)
        };
        let least: Vec<f64> = self.epochs.iter().map(least_ticks_per_add).collect();
        let limit = SHARED_PULSE * least.iter().copied().fold(f64::INFINITY, f64::min);
        let around = |epoch: usize| {
            let window = epoch.saturating_sub(TEMPO_NEIGHBOURS)..(epoch + TEMPO_NEIGHBOURS + 1).min(self.epochs.len());
            let is_quiet = |epoch: usize| least[epoch] <= limit;
            let has_quiet = window.clone().any(is_quiet);
            let counting = window.filter(|&epoch| is_quiet(epoch) || !has_quiet);
            median(&mut counting.map(|epoch| self.epochs[epoch].1).collect::<Vec<f64>>())
        };
        (0..self.epochs.len()).map(around).collect()
    }

    /// The samples that count: those during which the core was ours alone, or all if these are too few.
    pub(crate) fn counting(&self, metronome: Option<&dyn Metronome>, facts: &ClockFacts) -> Chosen {
        let quiet = self.quiet(metronome, facts);
        // Too few of them give no figure; all samples then have to do, and the result says so.
        let is_enough = quiet.tempi.len() >= MIN_QUIET_EPOCHS && quiet.left_out <= MAX_LEFT_OUT;
        if !is_enough && quiet.left_out > 0.0 {
            Chosen { is_shared: true, left_out: quiet.left_out, shared: quiet.shared, ..self.all() }
        } else {
            quiet
        }
    }

    /// What a call took in the samples during which the core was ours alone, loop and all; none if these are too few to say.
    pub(super) fn quiet_ticks_per_call(&self, metronome: Option<&dyn Metronome>, facts: &ClockFacts) -> Option<f64> {
        let quiet = self.are_quiet(&self.adds_beside(metronome), facts);
        let (mut samples, mut calls, mut ticks) = (0, 0, 0.0);
        let each = self.timings.iter().zip(self.counts.chunks(self.groups));
        for ((timing, counts), _) in each.zip(quiet).filter(|&(_, is_quiet)| is_quiet) {
            samples += 1;
            calls += counts.iter().sum::<u64>();
            ticks += timing.ticks;
        }
        let is_enough = calls > 0 && f64::from(samples) >= (1.0 - MAX_LEFT_OUT) * self.samples() as f64;
        is_enough.then(|| ticks / calls as f64)
    }

    /// The samples during which the core was ours alone.
    fn quiet(&self, metronome: Option<&dyn Metronome>, facts: &ClockFacts) -> Chosen {
        let adds = self.adds_beside(metronome);
        let quiet = self.are_quiet(&adds, facts);
        let chosen = self.select(&|index| quiet[index]);
        let shared = (0..self.samples()).filter(|&index| !adds.is_alone(index)).count() as f64;
        let longest_gated = LONGEST_GATED_SECONDS * facts.ticks_per_second;
        let slowness = |index: usize| match self.timings[index].whole_ticks() > longest_gated && !adds.is_alone(index) {
            true => adds.most / adds.per_cycle[index] - 1.0,
            false => 0.0,
        };
        // The mean over samples and not over time: few that are long only since they were interrupted say nothing.
        let company = (0..self.samples()).map(slowness).sum::<f64>() / self.samples().max(1) as f64;
        Chosen { shared: shared / self.samples().max(1) as f64, company, ..chosen }
    }

    /// For each sample whether the core was ours alone during all of it, as far as one can tell.
    fn are_quiet(&self, adds: &AddsBeside, facts: &ClockFacts) -> Vec<bool> {
        let longest_gated = LONGEST_GATED_SECONDS * facts.ticks_per_second;
        let mut quiet = Vec::with_capacity(self.samples());
        for &(end, _) in &self.epochs {
            let epoch = quiet.len()..end;
            quiet.extend(epoch.clone().map(|index| {
                let timing = &self.timings[index];
                if timing.whole_ticks() > longest_gated {
                    return timing.waited_ticks <= MAX_WAITED_SHARE * timing.whole_ticks();
                }
                // Someone who pauses for a moment may be back within the sample, so its neighbours have to be quiet as well.
                let neighbours = index.saturating_sub(1).max(epoch.start)..(index + 2).min(epoch.end);
                neighbours.into_iter().all(|index| adds.is_alone(index))
            }));
        }
        quiet
    }

    /// The additions that were possible beside each sample, and those that are when the core is ours alone.
    fn adds_beside(&self, metronome: Option<&dyn Metronome>) -> AddsBeside {
        let per_cycle = self.adds_per_cycle();
        let most = metronome.and_then(Metronome::known_adds_per_cycle).unwrap_or_else(|| best_tenth(&per_cycle));
        AddsBeside { per_cycle, most }
    }

    /// All samples, whoever shared the core.
    pub(crate) fn all(&self) -> Chosen {
        self.select(&|_| true)
    }

    /// For each sample, the additions per cycle that were possible beside it; empty where there is no metronome.
    fn adds_per_cycle(&self) -> Vec<f64> {
        let mut adds_per_cycle = Vec::with_capacity(self.ticks_per_add.len());
        for (&(end, _), ticks_per_cycle) in self.epochs.iter().zip(self.ticks_per_cycle()) {
            let epoch = adds_per_cycle.len()..end.min(self.ticks_per_add.len());
            adds_per_cycle
                .extend(self.ticks_per_add[epoch].iter().map(|ticks_per_add| ticks_per_cycle / ticks_per_add));
        }
        adds_per_cycle
    }

    /// What the core could do in its best moments, where there are enough readings to say so.
    pub(crate) fn best_adds_per_cycle(&self) -> Option<f64> {
        let adds_per_cycle = self.adds_per_cycle();
        (adds_per_cycle.len() >= MIN_READINGS).then(|| best_tenth(&adds_per_cycle))
    }

    fn select(&self, counts: &dyn Fn(usize) -> bool) -> Chosen {
        let (mut samples, mut loop_samples) = (Samples::new(self.groups), Samples::new(1));
        let mut tempi = Vec::new();
        let (mut begin, mut selected_in_all) = (0, 0);
        for (&(end, reading), ticks_per_cycle) in self.epochs.iter().zip(self.ticks_per_cycle()) {
            let mut selected = 0;
            for index in (begin..end).filter(|&index| counts(index)) {
                let calls = &self.counts[index * self.groups..(index + 1) * self.groups];
                samples.push(calls, self.figure_ticks(&self.timings[index]));
                if self.overhead != Overhead::Raw {
                    loop_samples.push(&[calls.iter().sum()], self.timings[index].loop_ticks);
                }
                selected += 1;
            }
            if selected > 0 {
                samples.end_epoch(ticks_per_cycle);
                loop_samples.end_epoch(ticks_per_cycle);
                // A disturbed reading had no say in the value and should have none in its uncertainty.
                let plausible =
                    (1.0 - MAX_READING_ERROR) * ticks_per_cycle..=(1.0 + MAX_READING_ERROR) * ticks_per_cycle;
                let reading = reading.clamp(*plausible.start(), *plausible.end());
                tempi.push(Tempo { ticks_per_cycle, reading, samples: f64::from(selected) });
            }
            selected_in_all += selected;
            begin = end;
        }
        let left_out = 1.0 - f64::from(selected_in_all) / self.samples().max(1) as f64;
        Chosen { samples, loop_samples, tempi, left_out, shared: 0.0, is_shared: false, company: 0.0 }
    }
}

/// What the best tenth of the readings reached: without a better reference, the core is taken to have been ours then.
pub(super) fn best_tenth(adds_per_cycle: &[f64]) -> f64 {
    let mut sorted = adds_per_cycle.to_vec();
    sort(&mut sorted);
    sorted.get(sorted.len() * 9 / 10).copied().unwrap_or(0.0)
}
