//! How a figure is made: one target, one configuration and one clock give one measurement.
//!
//! An epoch is a few dozen samples; [`iteration`] says how many calls it makes, [`design`] which inputs each sample runs,
//! [`readings`] whether the core was ours alone, [`record`] which samples count, and [`fit`] what a call costs. Epochs follow
//! each other until the figures are precise enough or the time is up. What is seen then becomes [`rows`].

mod allocations;
mod cold;
mod compare;
mod design;
mod fit;
mod iteration;
mod leave_one_out;
pub(crate) mod per_input;
mod readings;
mod record;
mod repeated;
mod rows;
#[cfg(test)]
mod simulation;
mod sweep;
#[cfg(test)]
mod tests;

use crate::clock::{Clock, ClockFacts, Metronome};
use crate::config::{Config, Estimator, Overhead};
use crate::groups::Groups;
use crate::measurement::{Measurement, Outcome, Row, applied_overhead};
use crate::rng::Rng;
use crate::target::{Mode, Target, Timed};
use crate::threads::Shares;
use cold::{Cold, Eviction};
pub(crate) use compare::compare;
use design::Design;
use fit::{ClockPrior, Estimate, Fit, Tempo};
use iteration::{Elapsed, IterationLogic, IterationsOverflow};
use readings::Readings;
use record::{Chosen, LONGEST_GATED_SECONDS, Record, Timing};
use repeated::Repeated;
pub(crate) use sweep::sweep;

/// By how much the clock's part of a sample may differ from what an empty region costs, as a share of that cost: the first
/// call finds the pipeline drained, and the end of the loop is a branch that nobody foresaw.
const CLOCK_COST_DEVIATION: f64 = 0.5;

/// If the ticks in a core cycle range over more than this share of them, or if a larger share of the samples than this was left out
/// since the core was shared, then a run has to have so many times as many epochs as otherwise before it may end: a clock that has just
/// changed and a metronome that was disturbed for some epochs look the same, and so do a neighbour that has gone and one that is
/// hardly seen. None of them may be most of what was seen.
const SETTLED_TEMPO_RANGE: f64 = 0.01;
const SETTLED_LEFT_OUT: f64 = 0.5;
const UNSETTLED: u64 = 5;

/// How many calls that nobody times the branch predictor gets at least to learn a function anew. Functions of which there is not time
/// for as many have more to be learnt, and are less at the mercy of single branches.
const MIN_CALLS_TO_LEARN: u64 = 500;

/// Measures `target` in `mode` under the name `id`.
pub(crate) fn measure(
    id: &str,
    mode: Mode,
    target: &mut dyn Target,
    config: &Config,
    clock: &dyn Clock,
) -> Measurement {
    if !config.cold {
        return measure_calls(id, mode, target, config, clock);
    }
    let eviction = Eviction::new();
    let evict = || eviction.run();
    measure_calls(id, mode, &mut Cold::new(target, &evict), &eviction.settings(config), clock)
}

/// The same for a target that has already been made cold if it has to be.
fn measure_calls(id: &str, mode: Mode, target: &mut dyn Target, config: &Config, clock: &dyn Clock) -> Measurement {
    let config_of_rows = config.with_rows(target.groups().rows());
    let mut run = Run::new(mode, target, &config_of_rows, clock);
    let (mut measurement, loop_row) = match run.measure() {
        Ok(look) => (run.measurement(id, &look), run.loop_row(&look.chosen)),
        Err(IterationsOverflow) => (run.without_cost(id, Outcome::OptimizedAway), None),
    };
    run.count_allocations(&mut measurement.rows);
    if config.compare_repeated {
        measurement.rows = with_repeated_rows(measurement.rows, mode, target, config, clock);
    }
    measurement.rows.extend(loop_row);
    measurement
}

/// Whether the branch predictor is to learn a target anew from time to time, in so many calls that nobody times. In which of several
/// states it settles would otherwise be a matter of luck that is the same for the whole run. Without inputs, calls are all alike,
/// and what the predictor makes of that in the long run is the question. Of other threads the predictors are out of reach.
fn is_learnt_anew(target: &dyn Target, untimed_calls: u64) -> bool {
    *target.groups() != Groups::NoInputs && !target.is_threaded() && untimed_calls >= MIN_CALLS_TO_LEARN
}

/// Over which share of the least the ticks in a core cycle range.
fn tempo_range(tempi: &[Tempo]) -> f64 {
    let each = || tempi.iter().map(|epoch| epoch.ticks_per_cycle);
    each().fold(0.0, f64::max) / each().fold(f64::INFINITY, f64::min) - 1.0
}

/// Puts behind the row of each group what its first input costs when it comes over and over.
fn with_repeated_rows(
    rows: Vec<Row>,
    mode: Mode,
    target: &mut dyn Target,
    config: &Config,
    clock: &dyn Clock,
) -> Vec<Row> {
    let Groups::Each(groups) = target.groups() else { return rows };
    let inputs: Vec<u32> = groups.iter().map(|group| group.members[0]).collect();
    // The loop that is meant goes on for so long that nothing is left to learn.
    let once = Config { compare_repeated: false, estimator: Estimator::Replay, ..config.clone() };
    let mut rows = rows.into_iter();
    let mut all: Vec<Row> = rows.by_ref().take(1).collect();
    for (row, input) in rows.zip(inputs) {
        let repeated = measure_calls("", mode, &mut Repeated::new(target, input), &once, clock).rows.swap_remove(0);
        let label = row.label.clone();
        all.push(row);
        all.push(Row { label, is_repeated: true, ..repeated });
    }
    all
}

/// What tells core cycles in a measurement with these settings.
fn metronome<'a>(config: &Config, clock: &'a dyn Clock) -> Option<&'a dyn Metronome> {
    clock.metronome().filter(|_| !config.cold)
}

/// Calls `target` once, with the first of its inputs, and measures nothing.
pub(crate) fn call_once(target: &mut dyn Target) {
    let order: &[u32] = if *target.groups() == Groups::NoInputs { &[] } else { &[0] };
    target.sample(Mode::Throughput, 1, order);
}

/// Runs `target` as it would be measured, but for ever, so that a profiler can look at it.
pub(crate) fn run_endlessly(target: &mut dyn Target, config: &Config, clock: &dyn Clock) -> ! {
    if !config.cold {
        run_calls_endlessly(target, config, clock);
    }
    let eviction = Eviction::new();
    let evict = || eviction.run();
    run_calls_endlessly(&mut Cold::new(target, &evict), &eviction.settings(config), clock)
}

fn run_calls_endlessly(target: &mut dyn Target, config: &Config, clock: &dyn Clock) -> ! {
    let mut run = Run::new(Mode::Throughput, target, config, clock);
    // A profiler is to see the function.
    run.overhead = Overhead::Raw;
    run.metronome = None;
    loop {
        let calls = run.logic.calls();
        let elapsed = run.epoch(calls, false);
        // Calls that cost nothing at all go on at the number reached.
        let _ = run.logic.add(elapsed, &mut run.rng);
    }
}

/// The state of one benchmark while it is measured.
struct Run<'a> {
    mode: Mode,
    overhead: Overhead,
    target: &'a mut dyn Target,
    config: &'a Config,
    clock: &'a dyn Clock,
    metronome: Option<&'a dyn Metronome>,
    facts: ClockFacts,
    begin_ticks: u64,
    rng: Rng,
    logic: IterationLogic,
    design: Design,
    order: Vec<u32>,
    record: Record,
    /// How the threads fared in the measured samples, where there are several.
    shares: Shares,
    /// Whether the longest sample so far was too long for its neighbourhood to say whether it was disturbed.
    is_slow: bool,
}

/// What the samples so far say.
struct Look {
    chosen: Chosen,
    /// None if the samples cannot tell the groups apart.
    fit: Option<Fit>,
}

impl<'a> Run<'a> {
    fn new(mode: Mode, target: &'a mut dyn Target, config: &'a Config, clock: &'a dyn Clock) -> Self {
        let facts = clock.facts();
        let design = Design::new(target.groups(), target.max_calls()).for_estimator(config.applied_estimator());
        let overhead = applied_overhead(config, mode);
        let begin_ticks = clock.now_ticks();
        Self {
            mode,
            overhead,
            config,
            clock,
            metronome: metronome(config, clock),
            facts,
            begin_ticks,
            // Different in every run, so that an unlucky sequence does not come back each time.
            rng: Rng::new(begin_ticks),
            logic: IterationLogic::new(config, &facts),
            order: Vec::new(),
            record: Record::new(design.frequencies().len(), overhead),
            shares: Shares::default(),
            is_slow: false,
            design,
            target,
        }
    }

    /// Measures until the figures are precise enough or the time is up.
    fn measure(&mut self) -> Result<Look, IterationsOverflow> {
        let budget_ticks = self.facts.ticks(self.config.max_time);
        let mut wall_ticks_per_call = 0.0;
        let mut fit = None;
        let mut next_look = self.config.epochs;
        loop {
            let spent_ticks = self.spent_ticks();
            let is_over = spent_ticks >= budget_ticks;
            let epochs = self.record.epochs() as u64;
            if epochs >= next_look || (is_over && epochs > 0) {
                let look = self.look(fit.as_ref());
                let excess = self.precision(&look) / self.config.precision;
                if excess <= 1.0 || is_over {
                    return Ok(look);
                }
                next_look = look_again_at(epochs, excess);
                fit = look.fit;
                continue;
            }
            let is_measured = self.logic.is_measuring() || is_over;
            let calls = self.affordable_calls(budget_ticks - spent_ticks, wall_ticks_per_call);
            let elapsed = self.epoch(calls, is_measured);
            wall_ticks_per_call = (self.spent_ticks() - spent_ticks) / elapsed.calls as f64;
            self.logic.add(elapsed, &mut self.rng)?;
        }
    }

    fn spent_ticks(&self) -> f64 {
        self.clock.now_ticks().saturating_sub(self.begin_ticks) as f64
    }

    /// As many calls as the next epoch should make, or fewer if the time left is too short for them, but never fewer than was asked
    /// for.
    fn affordable_calls(&self, left_ticks: f64, wall_ticks_per_call: f64) -> u64 {
        let wanted = self.logic.calls();
        if self.config.epoch_iterations > 0 || wall_ticks_per_call == 0.0 {
            return wanted;
        }
        wanted
            .max(self.design.least_calls())
            .min((left_ticks / wall_ticks_per_call) as u64)
            .max(self.config.min_epoch_iterations.max(1))
    }

    /// Runs an epoch of about `calls` calls. If it is not measured, it only says what calls cost.
    fn epoch(&mut self, calls: u64, is_measured: bool) -> Elapsed {
        self.target.begin_epoch();
        // What the predictor knows of a replay in the long run is the question.
        let is_replay = self.config.applied_estimator() == Estimator::Replay;
        if is_measured && !is_replay && is_learnt_anew(self.target, calls / 2) {
            self.begin_anew(calls);
        }
        let samples = self.design.epoch(calls, &mut self.rng);
        let mut timings = Vec::with_capacity(samples.len());
        let longest_gated_ticks = LONGEST_GATED_SECONDS * self.facts.ticks_per_second;
        let mut readings = Readings::begin(self.metronome, self.facts);
        let mut waited_ticks = self.waited_ticks();
        for counts in &samples {
            self.design.order(counts, &mut self.order, &mut self.rng);
            let timing = self.sample(counts.iter().sum(), is_measured);
            self.is_slow |= timing.whole_ticks() > longest_gated_ticks;
            let waited_before_ticks = std::mem::replace(&mut waited_ticks, self.waited_ticks());
            readings.between_samples();
            timings.push(Timing { waited_ticks: waited_ticks - waited_before_ticks, ..timing });
        }
        let is_first = self.record.epochs() == 0;
        let mut search;
        let record = if is_measured {
            &mut self.record
        } else {
            search = Record::new(self.design.frequencies().len(), self.overhead);
            &mut search
        };
        for (counts, &timing) in samples.iter().zip(&timings) {
            record.push(counts, timing);
        }
        // A metronome that makes no sense from the first epoch on, as an emulator's may, is none.
        if !record.end_epoch(readings) && is_first {
            self.metronome = None;
        }
        let quiet_ticks_per_call =
            if is_measured { None } else { record.quiet_ticks_per_call(self.metronome, &self.facts) };
        let calls: u64 = samples.iter().flatten().sum();
        // The number of calls is that of a run without the loop, so that both see the same.
        let elapsed_ticks = timings.iter().map(|timing| timing.ticks).sum();
        Elapsed {
            calls,
            ticks: quiet_ticks_per_call.map_or(elapsed_ticks, |ticks_per_call| ticks_per_call * calls as f64),
            is_quiet: self.metronome.is_none() || quiet_ticks_per_call.is_some(),
            spent_ticks: self.spent_ticks(),
        }
    }

    /// Makes the branch predictor forget, if it can, and runs the first half of an epoch without timing it.
    fn begin_anew(&mut self, calls: u64) {
        if !self.clock.forget_branches(&mut || self.rng.next_u64()) {
            return;
        }
        let samples = self.design.epoch(calls, &mut self.rng);
        for counts in &samples[..samples.len() / 2] {
            self.design.order(counts, &mut self.order, &mut self.rng);
            self.sample(counts.iter().sum(), false);
        }
    }

    /// Times the calls of `order`, and beside them the empty loop where somebody wants to know of it.
    fn sample(&mut self, calls: u64, is_measured: bool) -> Timing {
        let has_loop = self.overhead != Overhead::Raw;
        // Neither always finds what the other left behind.
        let is_loop_first = has_loop && self.rng.bounded(2) == 0;
        let mut timing = Timing::default();
        if is_loop_first {
            timing.loop_ticks = self.target.sample_empty_loop(calls, &self.order) as f64;
        }
        timing.ticks = self.target.sample_after(Timed::Function(self.mode), calls, &self.order, &mut || {}) as f64;
        if is_measured {
            self.shares.add(calls, self.target.thread_ticks());
        }
        if has_loop && !is_loop_first {
            timing.loop_ticks = self.target.sample_empty_loop(calls, &self.order) as f64;
        }
        timing
    }

    /// For how long this thread has waited for a processor, where that matters and the system tells. Short samples that were
    /// interrupted are outliers, and asking takes as long as they do.
    fn waited_ticks(&self) -> f64 {
        let matters = self.is_slow && !self.target.is_crowded();
        let waited_seconds = if matters { self.clock.waited_seconds() } else { None };
        waited_seconds.unwrap_or(0.0) * self.facts.ticks_per_second
    }

    /// Fits the costs to the samples so far, starting at `previous` where there is one.
    fn look(&self, previous: Option<&Fit>) -> Look {
        let mut chosen = self.record.counting(self.metronome, &self.facts);
        let is_mostly_shared = chosen.left_out > SETTLED_LEFT_OUT && chosen.shared > 0.0;
        chosen.is_shared |= is_mostly_shared && (chosen.tempi.len() as u64) < UNSETTLED * self.config.epochs;
        let fit = self.fit(&chosen, previous);
        Look { chosen, fit }
    }

    fn fit(&self, chosen: &Chosen, previous: Option<&Fit>) -> Option<Fit> {
        match self.design.estimator() {
            Estimator::LeastSquares => Fit::new(&chosen.samples, &self.prior(), previous),
            Estimator::LeaveOneOut | Estimator::Replay => {
                leave_one_out::fit(&chosen.samples, self.design.frequencies().len(), &self.prior())
            }
        }
    }

    /// What is known of the clock's part of what is fitted: samples, or their differences from the empty loop.
    fn prior(&self) -> ClockPrior {
        let prior = self.prior_of_samples();
        match self.overhead {
            Overhead::Raw | Overhead::Show => prior,
            // A cold sample is a single call, and all of it is the function's.
            Overhead::Subtract if self.config.cold => prior.of_difference(),
            // How the calls fill the pipeline and drain it happens once, and the loop does not do the same.
            Overhead::Subtract => ClockPrior { deviation: prior.deviation, ..prior.of_difference() },
        }
    }

    fn prior_of_samples(&self) -> ClockPrior {
        let spread = if self.config.cold { cold::SPREAD } else { 0.0 };
        ClockPrior { spread, ..clock_prior(&self.facts) }
    }

    /// The half-width of the widest interval, as a share of its figure; infinite while there are too few epochs. That of the empty
    /// loop has no say: the figures of the function are what one waits for.
    fn precision(&self, look: &Look) -> f64 {
        let Some(fit) = &look.fit else { return f64::INFINITY };
        let epochs = look.chosen.tempi.len() as u64;
        let may_change = tempo_range(&look.chosen.tempi) > SETTLED_TEMPO_RANGE;
        let is_unsettled = may_change && epochs < UNSETTLED * self.config.epochs;
        if epochs < self.config.epochs || look.chosen.is_shared || is_unsettled {
            return f64::INFINITY;
        }
        let share = |estimate: Estimate| match estimate.half_width() {
            Some(half_width) if estimate.cost > 0.0 => half_width / estimate.cost,
            _ => f64::INFINITY,
        };
        self.combinations().map(|weights| share(fit.estimate(&weights))).fold(0.0, f64::max)
    }

    /// What the rows are made of: the mix of all groups, then, if there are several, each by itself.
    fn combinations(&self) -> impl Iterator<Item = Vec<f64>> + use<> {
        let size = self.design.frequencies().len();
        let groups = if size > 1 { size } else { 0 };
        let mix = match self.design.estimator() {
            Estimator::LeastSquares => self.design.frequencies().to_vec(),
            Estimator::LeaveOneOut | Estimator::Replay => leave_one_out::weights_of_mix(size),
        };
        let each = (0..groups).map(move |group| {
            let mut weights = vec![0.0; size];
            weights[group] = 1.0;
            weights
        });
        std::iter::once(mix).chain(each)
    }
}

/// What is known of the clock's part of a sample.
fn clock_prior(facts: &ClockFacts) -> ClockPrior {
    let (cost, step) = (facts.pair_cost_ticks, facts.step_ticks);
    ClockPrior { cost, deviation: (CLOCK_COST_DEVIATION * cost).max(step), step, spread: 0.0 }
}

/// At which epoch to compute the figures again, when after `epochs` the widest interval is `excess` times too wide: a
/// little before the epoch at which it should be narrow enough, and not so often that fitting takes longer than measuring.
fn look_again_at(epochs: u64, excess: f64) -> u64 {
    (epochs as f64 * (0.8 * excess * excess).clamp(1.25, 4.0)).ceil() as u64
}
