//! The rows of a measurement: what the samples say that calls cost, and whether that is to be relied on.

use super::fit::{self, Estimate, Fit, Samples};
use super::record::Chosen;
use super::{Look, Run, cold};
use crate::amounts::{Amounts, Counted};
use crate::config::{Config, Overhead};
use crate::groups::Groups;
use crate::measurement::{CoreClock, Cost, Figure, Instability, Interval, MAX_SPREAD, Measurement, Outcome, Row};
use crate::stats::{self, Levels};
use crate::target::Mode;

/// Nothing that a processor does takes less than this for a call: about a twentieth of a cycle.
const FLOOR_NANOSECONDS: f64 = 0.015;

/// From which share of interrupted samples on they are to blame where a figure is not to be relied on, and from which on it is
/// not to be relied on in any case: least squares that withstand outliers do so up to about half of the samples.
const MANY_DISTURBED: f64 = 0.1;
const TOO_MANY_DISTURBED: f64 = 0.25;

/// What is wrong with the samples as a whole.
struct Trouble {
    /// Ticks per call at each of two levels between which there is nothing.
    levels: Option<Levels>,
    /// The share of the samples that took much longer than they should have.
    disturbed: f64,
}

impl Run<'_> {
    pub(super) fn measurement(&self, id: &str, look: &Look) -> Measurement {
        let calls = self.record.calls();
        let mut measurement = self.without_cost(id, Outcome::NotMeasured);
        let Some(fit) = &look.fit else {
            // Too few samples to tell the groups apart still say what the mix costs.
            let merged = look.chosen.samples.merged();
            if let Some(fit) = Fit::new(&merged, &self.prior(), None) {
                let trouble = self.trouble(&merged, &fit, &[1.0]);
                let estimate = fit.estimate(&[1.0]);
                self.fill(&mut measurement.rows[0], &look.chosen, estimate, &trouble, self.record.total_ticks());
            }
            return measurement;
        };
        let mix = self.combinations().next().unwrap_or_default();
        let trouble = self.trouble(&look.chosen.samples, fit, &mix);
        let ungated = self.ungated(look, fit);
        for (index, (row, weights)) in measurement.rows.iter_mut().zip(self.combinations()).enumerate() {
            let estimate = fit.estimate(&weights);
            let total_ticks = match index {
                0 => self.record.total_ticks(),
                _ => estimate.cost.max(0.0) * calls[index - 1] as f64,
            };
            self.fill(row, &look.chosen, estimate, &trouble, total_ticks);
            if let (Some(cost), Some((all, fit))) = (&mut row.cost, &ungated) {
                let estimate = fit.estimate(&weights).minus(self.link_ticks(all));
                cost.ungated_nanoseconds = Some(self.figure(&estimate, self.nanoseconds_per_tick(), 0.0).value);
            }
        }
        measurement
    }

    /// The row of the empty loop, where it was timed.
    pub(super) fn loop_row(&self, chosen: &Chosen) -> Option<Row> {
        if self.overhead == Overhead::Raw {
            return None;
        }
        let mut row = Row {
            label: None,
            is_repeated: false,
            is_empty_loop: true,
            left_out: 0.0,
            outcome: Outcome::NotMeasured,
            cost: None,
            amounts: Vec::new(),
            allocations: None,
        };
        if let Some(fit) = Fit::new(&chosen.loop_samples, &self.prior_of_samples(), None) {
            let trouble = self.trouble(&chosen.loop_samples, &fit, &[1.0]);
            self.fill(&mut row, chosen, fit.estimate(&[1.0]), &trouble, self.record.total_loop_ticks());
        }
        Some(row)
    }

    /// The fit to all samples, where some were left out.
    fn ungated(&self, look: &Look, fit: &Fit) -> Option<(Chosen, Fit)> {
        if look.chosen.left_out == 0.0 || look.chosen.is_shared {
            return None;
        }
        let all = self.record.all();
        let fit = self.fit(&all, Some(fit))?;
        Some((all, fit))
    }

    fn trouble(&self, samples: &Samples, fit: &Fit, mix: &[f64]) -> Trouble {
        let ticks = fit.estimate(mix).cost;
        let levels = stats::two_levels(&mut fit.ratios(samples, self.facts.step_ticks));
        Trouble {
            levels: levels.map(|levels| Levels { low: levels.low * ticks, high: levels.high * ticks, ..levels }),
            disturbed: fit.disturbed,
        }
    }

    fn fill(&self, row: &mut Row, chosen: &Chosen, estimate: Estimate, trouble: &Trouble, total_ticks: f64) {
        let is_whole = row.label.is_none();
        let in_cycles = self.metronome.map(|_| estimate.in_cycles(&chosen.tempi).minus(self.link_cycles()));
        let estimate = estimate.minus(self.link_ticks(chosen));
        let mut cost = Cost {
            nanoseconds: self.figure(&estimate, self.nanoseconds_per_tick(), chosen.company),
            ungated_nanoseconds: None,
            cycles: in_cycles.as_ref().map(|in_cycles| self.figure(in_cycles, 1.0, chosen.company)),
            // A cold epoch is a call of one group and says nothing about the others.
            mdape: estimate.mdape().filter(|_| is_whole || !self.config.cold),
            total_seconds: total_ticks / self.facts.ticks_per_second,
        };
        row.left_out = chosen.left_out;
        row.outcome = match self.outcome(chosen, &cost, trouble, is_whole) {
            // What is steady in cycles and not in nanoseconds has the core clock to blame.
            Outcome::Unstable(Instability::Spread { .. } | Instability::WideInterval)
                if in_cycles.as_ref().is_some_and(|in_cycles| is_steady(in_cycles, is_whole)) =>
            {
                self.core_clock()
                    .map_or(Outcome::Ok, |core_clock| Outcome::Unstable(Instability::Frequency(core_clock)))
            }
            outcome => outcome,
        };
        if row.outcome == Outcome::BelowFloor {
            // What is too little to be believed may be nothing as well, however sure the samples are.
            let figures = std::iter::once(&mut cost.nanoseconds).chain(&mut cost.cycles);
            figures.filter_map(|figure| figure.interval.as_mut()).for_each(|interval| interval.low = 0.0);
        }
        // A fit to few samples may come out below zero, which no cost is; within the floor the limit above is what counts.
        row.cost = Some(cost).filter(|cost| cost.nanoseconds.value > 0.0 || row.outcome == Outcome::BelowFloor);
    }

    /// The cycles that the link between two calls adds to each of them.
    fn link_cycles(&self) -> f64 {
        if self.mode == Mode::Latency { self.target.link_cycles() } else { 0.0 }
    }

    /// The same in ticks. Where nothing tells cycles it is not known, and stays in the figure.
    fn link_ticks(&self, chosen: &Chosen) -> f64 {
        self.metronome.map_or(0.0, |_| self.link_cycles() * fit::mean_ticks_per_cycle(&chosen.tempi))
    }

    fn nanoseconds_per_tick(&self) -> f64 {
        1e9 / self.facts.ticks_per_second
    }

    /// What a unit of work costs, when a call costs `estimate` times `scale`. Others on the core may have made that larger by
    /// the share `company`.
    ///
    /// No cost is less than nothing. An estimate that is has the interval of nothing itself, which is the nearest cost.
    fn figure(&self, estimate: &Estimate, scale: f64, company: f64) -> Figure {
        let per_unit = |cost: f64| cost.max(0.0) * scale / self.config.batch;
        let cost = estimate.cost.max(0.0);
        Figure {
            value: per_unit(cost),
            interval: estimate.half_width().map(|half_width| Interval {
                low: per_unit(cost - half_width) / (1.0 + company),
                high: per_unit(cost + half_width),
            }),
        }
    }

    fn outcome(&self, chosen: &Chosen, cost: &Cost, trouble: &Trouble, is_whole: bool) -> Outcome {
        let shared = Outcome::Unstable(Instability::SharedCore { share: chosen.shared });
        let Figure { value, interval } = cost.nanoseconds;
        if chosen.is_shared && value > 0.0 {
            return shared;
        }
        let Some(interval) = interval else {
            return Outcome::Unstable(Instability::TooFewEpochs);
        };
        let half_width = interval.high - value;
        if value <= 0.0 || interval.low <= 0.0 || interval.high * self.config.batch < FLOOR_NANOSECONDS {
            return Outcome::BelowFloor;
        }
        if let Some(levels) = trouble.levels.filter(|_| !self.config.cold) {
            let nanoseconds =
                |ticks: f64| (ticks - self.link_ticks(chosen)) * self.nanoseconds_per_tick() / self.config.batch;
            return Outcome::Unstable(Instability::Bimodal {
                low_nanoseconds: nanoseconds(levels.low),
                high_nanoseconds: nanoseconds(levels.high),
                share_of_high: levels.share_of_high,
            });
        }
        let max_half_width = if self.config.cold { cold::MAX_HALF_WIDTH } else { MAX_SPREAD };
        // The epochs hold too few calls of a single group to be compared by it, and those of a cold benchmark too few at all.
        let is_spread = is_whole && !self.config.cold && cost.mdape.is_some_and(|mdape| mdape >= MAX_SPREAD);
        let is_wide = half_width > max_half_width * value;
        let is_steady = !is_spread && !is_wide;
        if trouble.disturbed >= if is_steady { TOO_MANY_DISTURBED } else { MANY_DISTURBED } {
            // Long samples that shared the core are outliers too.
            if chosen.company > 0.0 && chosen.shared >= MANY_DISTURBED {
                return shared;
            }
            Outcome::Unstable(Instability::Interrupts { share: trouble.disturbed })
        } else if is_steady && value - interval.low <= max_half_width * value {
            Outcome::Ok
        } else if is_steady {
            shared
        } else if is_wide {
            Outcome::Unstable(Instability::WideInterval)
        } else {
            let calls: u64 = self.record.calls().iter().sum();
            Outcome::Unstable(Instability::Spread { calls_per_epoch: calls as f64 / self.record.epochs() as f64 })
        }
    }

    /// The lowest, the median and the highest frequency of the core, in GHz.
    fn core_clock(&self) -> Option<CoreClock> {
        self.metronome?;
        let gigahertz = |ticks_per_cycle: f64| self.facts.ticks_per_second / ticks_per_cycle / 1e9;
        let mut epochs: Vec<f64> = self.record.ticks_per_cycle().into_iter().map(gigahertz).collect();
        stats::sort(&mut epochs);
        let (least, most) = (*epochs.first()?, *epochs.last()?);
        Some(CoreClock { least, median: stats::median(&mut epochs), most })
    }

    /// What a call does an amount of, for the row at `index`: that of the mix, or of a group.
    fn amounts(&self, index: usize) -> Vec<(Counted, f64)> {
        let mean = |amounts: &Amounts| {
            let per_input = &amounts.per_input;
            let members = match (index.checked_sub(1), self.target.groups()) {
                (Some(group), Groups::Each(groups)) if per_input.len() > 1 => &groups[group].members[..],
                _ => return per_input.iter().sum::<f64>() / per_input.len() as f64,
            };
            members.iter().map(|&input| per_input[input as usize]).sum::<f64>() / members.len() as f64
        };
        let of_inputs = self.target.amounts().iter().map(|amounts| (amounts.counted, mean(amounts)));
        let Config { bytes, items, chars, .. } = self.config;
        let of_all = [(Counted::Bytes, bytes), (Counted::Items, items), (Counted::Chars, chars)];
        let mut found: Vec<(Counted, f64)> = of_inputs.collect();
        for (counted, amount) in of_all {
            if let Some(amount) = amount.filter(|_| !found.iter().any(|(known, _)| *known == counted)) {
                found.push((counted, amount));
            }
        }
        found
    }

    /// All rows of the measurement, each with `outcome`.
    pub(super) fn without_cost(&self, id: &str, outcome: Outcome) -> Measurement {
        let mut labels = vec![None];
        let mut ungrouped_inputs = None;
        match self.target.groups() {
            Groups::Each(groups) => labels.extend(groups.iter().map(|group| Some(group.label.clone()))),
            Groups::Mix { inputs, too_many: true } => ungrouped_inputs = Some(*inputs),
            Groups::Mix { too_many: false, .. } | Groups::NoInputs => {}
        }
        Measurement {
            id: id.to_owned(),
            mode: self.mode,
            config: Some(self.config.clone()),
            rows: labels
                .into_iter()
                .enumerate()
                .map(|(index, label)| Row {
                    label,
                    is_repeated: false,
                    is_empty_loop: false,
                    left_out: 0.0,
                    outcome: outcome.clone(),
                    cost: None,
                    amounts: self.amounts(index),
                    allocations: None,
                })
                .collect(),
            epochs: self.record.epochs_seen(self.prior().cost, &self.facts, self.metronome.is_some()),
            clock_resolution_seconds: self.facts.resolution_ticks() / self.facts.ticks_per_second,
            samples: self.record.samples() as u64,
            calls: self.record.calls().iter().sum(),
            relative: None,
            core_clock: self.core_clock(),
            adds_per_cycle: self.metronome.and_then(|_| self.record.best_adds_per_cycle()),
            unfairness: self.shares.unfairness(),
            ungrouped_inputs,
        }
    }
}

/// Whether a cost is one to rely on: of the benchmark as a whole, or of a group, whose epochs cannot be compared.
fn is_steady(estimate: &Estimate, is_whole: bool) -> bool {
    let is_narrow = estimate.half_width().is_some_and(|half_width| half_width <= MAX_SPREAD * estimate.cost);
    is_narrow && !(is_whole && estimate.mdape().is_some_and(|mdape| mdape >= MAX_SPREAD))
}
