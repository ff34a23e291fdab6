//! What was seen during a run: the samples, and what the metronomes said around each of them. Samples beside which the core was not
//! ours alone get no weight.

use super::fit::{Samples, Tempo};
use super::readings::{Alone, Beside, Pulse, Readings, best_adds_per_cycle};
use crate::clock::{ClockFacts, Metronome};
use crate::config::Overhead;
use crate::measurement::Epoch;
use crate::stats::median;

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

/// For how long samples do not count, in seconds of their own time, after somebody else was seen on the core: until then the caches hold
/// what he left there. Of 200 processes beside a busy neighbour, figures of lookups in a table of 280 KiB were more than 4 % off in 13
/// without this, and in 2 with it.
const RECOVERY_SECONDS: f64 = 60e-6;

/// The least number of epochs with samples during which the core was ours alone.
const MIN_QUIET_EPOCHS: usize = 3;

/// If a larger share of the samples than this is left out, those that are not may have been taken for quiet by chance: a neighbour who
/// is always there and takes little makes readings near the limit. Figures of 20 processes differed by up to 7.6 and 4.8 % where four
/// fifths could be left out, and by up to 3.0 and 2.3 % with this.
pub(super) const MAX_LEFT_OUT: f64 = 0.6;

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
    /// For each sample what was read beside it; empty where there is no metronome.
    pulses: Vec<Pulse>,
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
    /// Whether so much of it was shared that the figures are not to be relied on.
    pub(crate) is_shared: bool,
    /// By how much at most others on the core made calls take longer, in samples too long to be judged: a share.
    pub(crate) company: f64,
}

impl Record {
    pub(crate) fn new(groups: usize, overhead: Overhead) -> Self {
        Self { groups, overhead, counts: Vec::new(), timings: Vec::new(), pulses: Vec::new(), epochs: Vec::new() }
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
        let (ticks_per_cycle, pulses) = readings.end();
        let is_plausible = ticks_per_cycle > 0.0;
        if is_plausible {
            self.pulses.extend(pulses);
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
        let best_of_epoch = |&(end, _): &(usize, f64)| {
            let samples = std::mem::replace(&mut begin, end)..end;
            Pulse::best(self.pulses.get(samples).unwrap_or_default().iter().copied())
        };
        let best_of_epochs: Vec<Pulse> = self.epochs.iter().map(best_of_epoch).collect();
        let best = Pulse::best(best_of_epochs.iter().copied());
        let around = |epoch: usize| {
            let window = epoch.saturating_sub(TEMPO_NEIGHBOURS)..(epoch + TEMPO_NEIGHBOURS + 1).min(self.epochs.len());
            let is_quiet = |epoch: usize| best_of_epochs[epoch].is_near(best);
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
        let beside = self.beside();
        let quiet = self.are_quiet(&self.are_alone(&Alone::of(metronome, &beside), &beside), facts);
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
        let beside = self.beside();
        let alone = Alone::of(metronome, &beside);
        let are_alone = self.are_alone(&alone, &beside);
        let quiet = self.are_quiet(&are_alone, facts);
        let chosen = self.select(&|index| quiet[index]);
        let shared = are_alone.iter().filter(|is_alone| !**is_alone).count() as f64;
        let longest_gated = LONGEST_GATED_SECONDS * facts.ticks_per_second;
        let is_long = |&(timing, _): &(&Timing, &Beside)| timing.whole_ticks() > longest_gated;
        let slowness = self.timings.iter().zip(&beside).filter(is_long).map(|(_, beside)| alone.slowness(beside));
        // The mean over samples and not over time: few that are long only since they were interrupted say nothing.
        let company = slowness.sum::<f64>() / self.samples().max(1) as f64;
        Chosen { shared: shared / self.samples().max(1) as f64, company, ..chosen }
    }

    /// For each sample whether the core was ours alone during all of it, and for long enough before, as far as one can tell.
    fn are_quiet(&self, are_alone: &[bool], facts: &ClockFacts) -> Vec<bool> {
        let longest_gated = LONGEST_GATED_SECONDS * facts.ticks_per_second;
        let recovery_ticks = RECOVERY_SECONDS * facts.ticks_per_second;
        let mut alone_ticks = f64::INFINITY;
        let is_quiet = |(index, timing): (usize, &Timing)| {
            let before_ticks = alone_ticks;
            alone_ticks = if are_alone[index] { alone_ticks + timing.whole_ticks() } else { 0.0 };
            if timing.whole_ticks() > longest_gated {
                return timing.waited_ticks <= MAX_WAITED_SHARE * timing.whole_ticks();
            }
            // Someone who pauses for a moment may be back within the sample.
            let is_alone_next = are_alone.get(index + 1).is_none_or(|&is_alone| is_alone);
            are_alone[index] && is_alone_next && before_ticks >= recovery_ticks
        };
        self.timings.iter().enumerate().map(is_quiet).collect()
    }

    /// For each sample whether the core was ours alone just before and just after it; without a metronome it was.
    fn are_alone(&self, alone: &Alone, beside: &[Beside]) -> Vec<bool> {
        if beside.is_empty() {
            return vec![true; self.samples()];
        }
        beside.iter().map(|beside| alone.agrees_with(beside)).collect()
    }

    /// All samples, whoever shared the core.
    pub(crate) fn all(&self) -> Chosen {
        self.select(&|_| true)
    }

    /// For each sample what was read beside it, in core cycles; empty where there is no metronome.
    fn beside(&self) -> Vec<Beside> {
        let mut beside = Vec::with_capacity(self.pulses.len());
        for (&(end, _), ticks_per_cycle) in self.epochs.iter().zip(self.ticks_per_cycle()) {
            let epoch = beside.len()..end.min(self.pulses.len());
            beside.extend(self.pulses[epoch].iter().map(|pulse| pulse.beside(ticks_per_cycle)));
        }
        beside
    }

    /// What the core could do in its best moments, where there are enough readings to say so.
    pub(crate) fn best_adds_per_cycle(&self) -> Option<f64> {
        let beside = self.beside();
        (beside.len() >= MIN_READINGS).then(|| best_adds_per_cycle(&beside))
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
