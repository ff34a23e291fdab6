//! Several targets against each other: rounds in which each has a turn, and what they say about the ratios.
//!
//! The samples of a round follow each other within some tens of microseconds, so what changes slowly, such as the clock
//! of the core, hits all of them and is not in their ratio. What comes and goes quickly hits some of them, by chance;
//! the order of the turns ([`williams`]) gives everybody the same chance, and the statistic ([`signed_rank`]) only asks
//! for that. Rounds during which somebody else used the core do not count. Before each block of rounds the branch predictor forgets
//! and learns the targets anew, since what it happens to know of one of them would favour it in all rounds.
//!
//! Of the settings of an epoch, those of time are about all samples of a block of rounds together, and those of calls
//! about each sample.

mod log_ratios;
mod signed_rank;
#[cfg(test)]
mod tests;
mod williams;

use std::cmp::Ordering;

use super::cold::{Cold, Eviction};
use super::readings::{Alone, Beside, Readings};
use super::record::{LONGEST_GATED_SECONDS, MAX_LEFT_OUT};
use super::sweep::order;
use super::{is_learnt_anew, metronome};
use crate::clock::{Clock, ClockFacts, Metronome};
use crate::comparison::{Comparison, ComparisonEntry, Lead};
use crate::config::Config;
use crate::groups::Groups;
use crate::rng::Rng;
use crate::stats;
use crate::target::{Mode, Target};
use log_ratios::LogRatios;

/// How often a comparison of equal targets may find a difference, of all ratios together.
const VERDICT_ERROR: f64 = 0.005;

/// How often the intervals that are shown may miss, all ratios together.
const SHOWN_ERROR: f64 = 0.05;

/// After how many rounds the ratios are computed for the first time. Each further time there are twice as many.
const FIRST_LOOK: u64 = 16;

/// If it is certain, as certain as a verdict has to be, that a ratio differs from one by less than this share of the
/// precision, there is no need to find out in which direction.
const NEGLIGIBLE: f64 = 0.25;

/// For how many rounds there should be time, even if the cheapest target then gets shorter samples than it should.
const WANTED_ROUNDS: f64 = 100.0;

/// The most calls that the search for their number makes, when they seem to cost nothing.
const MAX_CALLS: f64 = u32::MAX as f64;

/// Compares `targets`, all in `mode`, within `max_time` for each.
///
/// # Panics
///
/// If there are fewer than two.
pub(crate) fn compare<'t>(
    targets: &mut [(&'t str, &'t mut (dyn Target + 't))],
    mode: Mode,
    config: &Config,
    clock: &dyn Clock,
) -> Comparison {
    assert!(targets.len() >= 2, "a comparison needs at least two entries");
    if !config.cold {
        return compare_calls(targets, mode, config, clock);
    }
    let eviction = Eviction::new();
    let evict = || eviction.run();
    let mut cold: Vec<(&str, Cold)> =
        targets.iter_mut().map(|(name, target)| (*name, Cold::new(&mut **target, &evict))).collect();
    let mut targets: Vec<(&str, &mut dyn Target)> = Vec::new();
    for (name, target) in &mut cold {
        targets.push((name, target));
    }
    compare_calls(&mut targets, mode, &eviction.settings(config), clock)
}

/// The same for targets that have already been made cold if they have to be.
pub(super) fn compare_calls<'t>(
    targets: &mut [(&'t str, &'t mut (dyn Target + 't))],
    mode: Mode,
    config: &Config,
    clock: &dyn Clock,
) -> Comparison {
    let mut run = Run::new(targets, mode, config, clock);
    run.warm_up();
    let calls = run.shared_calls();
    let look = run.measure(calls);
    run.comparison(&look)
}

/// The state of a comparison.
struct Run<'a, 't> {
    targets: &'a mut [(&'t str, &'t mut (dyn Target + 't))],
    mode: Mode,
    config: &'a Config,
    clock: &'a dyn Clock,
    metronome: Option<&'a dyn Metronome>,
    facts: ClockFacts,
    begin_ticks: u64,
    budget_ticks: f64,
    rng: Rng,
    order: Vec<u32>,
    /// The orders of the turns in a block.
    block: Vec<Vec<usize>>,
    rounds: Vec<Round>,
}

/// One sample of each target.
struct Round {
    /// How many calls each sample made.
    calls: u64,
    /// What the samples took, the cost of the clock not included.
    ticks: Vec<f64>,
    /// The worst of what was read beside the samples; none where that says nothing.
    beside: Option<Beside>,
}

/// What a call of each target costs, as far as the search for the number of calls knows.
struct CallCosts {
    ticks: Vec<f64>,
    /// What a call of all of them takes together, with everything that has to be done for it.
    wall_ticks: f64,
}

impl CallCosts {
    /// The lower of two readings of each: whatever disturbs them makes them higher.
    fn least(&self, other: &Self) -> Self {
        Self {
            ticks: self.ticks.iter().zip(&other.ticks).map(|(a, b)| a.min(*b)).collect(),
            wall_ticks: self.wall_ticks.min(other.wall_ticks),
        }
    }
}

/// What the rounds so far say.
struct Look {
    /// Each target against the first.
    relative: Vec<Ratio>,
    winner: usize,
    runner_up: usize,
    /// The winner against the runner-up.
    lead: Ratio,
}

impl Look {
    /// Whether more rounds would not tell anything that was asked for.
    fn is_settled(&self, precision: f64) -> bool {
        self.relative[1..].iter().chain([&self.lead]).all(|ratio| ratio.is_settled(precision))
    }
}

/// The logarithm of how many times as fast as another a target is.
struct Ratio {
    log: f64,
    low: f64,
    high: f64,
    ties: u64,
    /// Which way the difference goes, if it is significant; equal if it is not.
    direction: Ordering,
    /// How far it can be from zero in either direction, with the confidence of a verdict.
    most: f64,
}

impl Ratio {
    /// That of a target to itself.
    const SELF: Self = Self { log: 0.0, low: 0.0, high: 0.0, ties: 0, direction: Ordering::Equal, most: 0.0 };

    /// Whether more rounds would not tell anything that was asked for.
    fn is_settled(&self, precision: f64) -> bool {
        let is_precise = (self.high - self.low) / 2.0 <= precision;
        (is_precise && self.direction.is_ne()) || self.most <= NEGLIGIBLE * precision
    }
}

/// The probability of error that is left for the looks to come.
///
/// Who may stop at whatever look shows a difference will find one sooner or later, so each look can only have a part of
/// the whole. A half is kept for the last one.
struct ErrorBudget {
    left: f64,
    for_early_looks: f64,
    looks: f64,
}

impl ErrorBudget {
    fn new(error: f64) -> Self {
        Self { left: error, for_early_looks: error / 2.0, looks: 0.0 }
    }

    /// The part of a look after which there may be more. The sum over any number of looks is less than a half.
    fn early_look(&mut self) -> f64 {
        self.looks += 1.0;
        let error = self.for_early_looks / (self.looks * (self.looks + 1.0));
        self.left -= error;
        error
    }
}

impl<'a, 't> Run<'a, 't> {
    fn new(
        targets: &'a mut [(&'t str, &'t mut (dyn Target + 't))],
        mode: Mode,
        config: &'a Config,
        clock: &'a dyn Clock,
    ) -> Self {
        let facts = clock.facts();
        let begin_ticks = clock.now_ticks();
        Self {
            mode,
            config,
            clock,
            metronome: metronome(config, clock),
            facts,
            begin_ticks,
            budget_ticks: facts.ticks(config.max_time) * targets.len() as f64,
            rng: Rng::new(begin_ticks),
            order: Vec::new(),
            block: williams::block(targets.len()),
            rounds: Vec::new(),
            targets,
        }
    }

    fn left_ticks(&self) -> f64 {
        self.budget_ticks - self.clock.now_ticks().saturating_sub(self.begin_ticks) as f64
    }

    fn warm_up(&mut self) {
        if self.config.warmup > 0 {
            for index in 0..self.targets.len() {
                self.sample(index, self.config.warmup);
            }
        }
    }

    /// Times `calls` calls of a target, in as many passes as it needs for them. Returns the ticks without the cost of
    /// the clock.
    fn sample(&mut self, index: usize, calls: u64) -> f64 {
        let target = &mut *self.targets[index].1;
        let most = match target.groups() {
            Groups::NoInputs => target.max_calls(),
            // The positions of the inputs are 32 bits wide.
            Groups::Mix { .. } | Groups::Each(_) => target.max_calls().min(u64::from(u32::MAX)),
        };
        let (mut left, mut ticks) = (calls, 0.0);
        while left > 0 {
            let pass = left.min(most);
            order(target.groups(), pass, &mut self.order, &mut self.rng);
            ticks += target.sample(self.mode, pass, &self.order) as f64 - self.facts.pair_cost_ticks;
            left -= pass;
        }
        ticks
    }

    /// Finds out how many calls a sample should make: so many that the cheapest target takes the time that the clock
    /// needs, and not so many that there would be few rounds.
    ///
    /// One slow reading is not enough to end the search; the faster of two counts.
    fn shared_calls(&mut self) -> u64 {
        if self.config.epoch_iterations > 0 {
            return self.config.epoch_iterations;
        }
        let mut calls = self.config.min_epoch_iterations.max(1);
        loop {
            let mut costs = self.costs(calls);
            let is_enough = |wanted: u64| wanted <= calls.saturating_add(calls / 2);
            // If there is only time for one of them, a round is better than another reading.
            if is_enough(self.wanted_calls(&costs)) && self.left_ticks() > 2.0 * costs.wall_ticks * calls as f64 {
                costs = costs.least(&self.costs(calls));
            }
            let wanted = self.wanted_calls(&costs);
            if is_enough(wanted) || self.left_ticks() <= 0.0 {
                return wanted.min(calls.saturating_mul(10));
            }
            calls = wanted.min(calls.saturating_mul(10));
        }
    }

    fn costs(&mut self, calls: u64) -> CallCosts {
        let begin_ticks = self.clock.now_ticks();
        let ticks = (0..self.targets.len()).map(|index| self.sample(index, calls).max(0.0) / calls as f64).collect();
        let wall_ticks = self.clock.now_ticks().saturating_sub(begin_ticks) as f64 / calls as f64;
        CallCosts { ticks, wall_ticks }
    }

    /// How many calls a sample should make if these are the costs.
    fn wanted_calls(&self, costs: &CallCosts) -> u64 {
        let cheapest = costs.ticks.iter().copied().fold(f64::INFINITY, f64::min);
        let block = costs.ticks.iter().sum::<f64>() * self.block.len() as f64;
        let clock_ticks = self.facts.resolution_ticks() * self.config.clock_resolution_multiple as f64;
        let wanted = (clock_ticks / cheapest)
            .min(self.facts.ticks(self.config.max_epoch_time) / block)
            .min(self.budget_ticks / WANTED_ROUNDS / costs.wall_ticks)
            .max(self.facts.ticks(self.config.min_epoch_time) / block)
            .min(MAX_CALLS);
        (wanted as u64).max(self.config.min_epoch_iterations).max(1)
    }

    /// Runs block after block until the ratios are settled or the time is up.
    fn measure(&mut self, calls: u64) -> Look {
        let mut verdict_errors = ErrorBudget::new(VERDICT_ERROR / self.ratios());
        let mut next_look = FIRST_LOOK.max(self.config.epochs);
        let rounds_begin_ticks = self.left_ticks();
        loop {
            self.block(calls);
            let rounds = self.rounds.len() as u64;
            let left_ticks = self.left_ticks();
            let block_ticks = (rounds_begin_ticks - left_ticks) / rounds as f64 * self.block.len() as f64;
            if left_ticks < block_ticks {
                break;
            }
            if rounds >= next_look {
                next_look = 2 * rounds;
                let look = self.look(verdict_errors.early_look());
                if look.is_settled(self.config.precision) {
                    return look;
                }
            }
        }
        self.look(verdict_errors.left)
    }

    /// How many ratios there are for the errors to be divided among.
    fn ratios(&self) -> f64 {
        (self.targets.len() - 1) as f64
    }

    /// Runs a block. If the time is over before its end it does not count, unless there is no other.
    fn block(&mut self, calls: u64) {
        let before = self.rounds.len();
        let mut block = self.block.clone();
        self.rng.shuffle(&mut block);
        if self.targets.iter().all(|(_, target)| is_learnt_anew(&**target, calls))
            && self.clock.forget_branches(&mut || self.rng.next_u64())
        {
            for index in 0..self.targets.len() {
                self.sample(index, calls);
            }
        }
        for turns in &block {
            let varied = if self.config.epoch_iterations > 0 {
                calls
            } else {
                // Durations that all ended at the same fraction of the clock's step would not average over it.
                (calls as f64 * (1.0 + 0.2 * self.rng.uniform01())) as u64
            };
            if !self.round(turns, varied) {
                if before > 0 {
                    self.rounds.truncate(before);
                }
                break;
            }
        }
    }

    /// Runs a round, unless the time is over; the very first is run in any case.
    fn round(&mut self, turns: &[usize], calls: u64) -> bool {
        let mut readings = Readings::begin(self.metronome, self.facts);
        let mut ticks = vec![0.0; turns.len()];
        for &index in turns {
            if self.left_ticks() <= 0.0 && !self.rounds.is_empty() {
                return false;
            }
            ticks[index] = self.sample(index, calls);
            readings.between_samples();
        }
        let (ticks_per_cycle, pulses) = readings.end();
        // A metronome that makes no sense from the first round on, as an emulator's may, is none; later the clock was
        // moved.
        let is_plausible = ticks_per_cycle > 0.0;
        if !is_plausible && self.rounds.is_empty() {
            self.metronome = None;
        }
        let mut beside = None;
        if self.metronome.is_some() {
            if !is_plausible {
                return true;
            }
            let longest_gated = LONGEST_GATED_SECONDS * self.facts.ticks_per_second;
            beside = (turns.iter().zip(pulses))
                .filter(|&(&index, _)| ticks[index] <= longest_gated)
                .map(|(_, pulse)| pulse.beside(ticks_per_cycle))
                .reduce(Beside::worse);
            if self.mode == Mode::Latency {
                for (ticks, (_, target)) in ticks.iter_mut().zip(self.targets.iter()) {
                    *ticks -= calls as f64 * target.link_cycles() * ticks_per_cycle;
                }
            }
        }
        self.rounds.push(Round { calls, ticks, beside });
        true
    }

    /// The rounds during which the core was ours alone, or all of them if there are hardly any.
    fn quiet_rounds(&self) -> Vec<&Round> {
        let seen: Vec<Beside> = self.rounds.iter().filter_map(|round| round.beside).collect();
        let alone = Alone::of(self.metronome, &seen);
        let is_quiet = |round: &&Round| round.beside.is_none_or(|beside| alone.agrees_with(&beside));
        let quiet: Vec<&Round> = self.rounds.iter().filter(is_quiet).collect();
        let is_enough = quiet.len() as f64 >= (1.0 - MAX_LEFT_OUT) * self.rounds.len() as f64;
        if is_enough { quiet } else { self.rounds.iter().collect() }
    }

    /// What the rounds say so far, when a difference is significant with this probability of error.
    fn look(&self, verdict_error: f64) -> Look {
        let rounds = self.quiet_rounds();
        let shown_error = SHOWN_ERROR / self.ratios();
        let ratio = |target: usize, other: usize| {
            let pairs = rounds.iter().map(|round| (round.ticks[other], round.ticks[target]));
            let logs = LogRatios::new(pairs, self.facts.step_ticks);
            let interval = |error: f64| logs.interval(error).unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
            let ((low, high), (least, most)) = (interval(shown_error), interval(verdict_error));
            Ratio {
                log: logs.middle(),
                low,
                high,
                ties: logs.ties(),
                direction: logs.direction(verdict_error),
                most: most.max(-least),
            }
        };
        let others = (1..self.targets.len()).map(|target| ratio(target, 0));
        let relative: Vec<Ratio> = std::iter::once(Ratio::SELF).chain(others).collect();
        let mut ranking: Vec<usize> = (0..relative.len()).collect();
        ranking.sort_by(|&a, &b| relative[b].log.total_cmp(&relative[a].log));
        let (winner, runner_up) = (ranking[0], ranking[1]);
        Look { lead: ratio(winner, runner_up), relative, winner, runner_up }
    }

    fn comparison(&self, look: &Look) -> Comparison {
        let rounds = self.quiet_rounds();
        let Look { relative, winner, runner_up, lead } = look;
        Comparison {
            entries: relative.iter().enumerate().map(|(index, ratio)| self.entry(index, ratio, &rounds)).collect(),
            rounds: rounds.len() as u64,
            lead: Lead {
                winner: *winner,
                runner_up: *runner_up,
                ratio: lead.log.exp(),
                low: lead.low.exp(),
                high: lead.high.exp(),
                is_significant: lead.direction.is_gt(),
            },
            unit: self.config.unit.clone(),
        }
    }

    fn entry(&self, index: usize, ratio: &Ratio, rounds: &[&Round]) -> ComparisonEntry {
        let ticks_per_call = |round: &&Round| round.ticks[index].max(0.0) / round.calls as f64;
        let mut costs: Vec<f64> = rounds.iter().map(ticks_per_call).collect();
        let mdape = stats::mdape(&costs);
        ComparisonEntry {
            name: self.targets[index].0.to_owned(),
            nanoseconds: stats::median(&mut costs) * 1e9 / self.facts.ticks_per_second / self.config.batch,
            mdape,
            relative: ratio.log.exp(),
            relative_low: ratio.low.exp(),
            relative_high: ratio.high.exp(),
            tied_rounds: ratio.ties,
            total_seconds: self.rounds.iter().map(|round| round.ticks[index]).sum::<f64>()
                / self.facts.ticks_per_second,
            is_significant: ratio.direction.is_ne(),
        }
    }
}
