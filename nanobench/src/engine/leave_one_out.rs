//! Leave-one-out: the cost of a group of inputs is what a list takes less without some of the group's inputs.
//!
//! A round times the whole list, the list without half of each group in turn, and about a quarter of the list. Differences
//! of the first two say what groups cost, with the clock's part cancelled; whole and quarter say what the mix costs. A group so
//! rare that the list has none of it is put in instead of left out.
//!
//! A cost is a robust mean over its differences, which may come out negative one by one: taking again only those that do would
//! favour the large ones. The wanted difference is a small part of two totals, and has the noise of both, so its interval
//! comes from the differences themselves.

use super::design::deal;
use super::fit::{ClockPrior, Fit, Samples};
use crate::rng::Rng;
use crate::stats;

/// About how many samples an epoch has, where there are calls enough.
const SAMPLES_PER_EPOCH: u64 = 32;

/// The most calls of a list, where the target allows as many.
pub(super) const LONGEST_LIST: u64 = 1 << 16;

/// How many times as many calls as there are groups the shortest list has.
const MIN_CALLS_PER_GROUP: u64 = 2;

/// How many calls an epoch needs to have a round.
pub(super) fn least_calls(groups: usize) -> u64 {
    calls_of_round(groups as u64, MIN_CALLS_PER_GROUP * groups as u64)
}

/// The most calls that a round with a list of `calls` calls takes.
fn calls_of_round(groups: u64, calls: u64) -> u64 {
    // What is left out is half of the list or more, all groups together; a group that is put in takes a call more.
    calls + groups * (calls + 1) - calls / 2 + calls.div_ceil(4)
}

/// The samples of an epoch of `calls` calls, which are enough for a round, as the numbers of calls of each group. Rounds follow
/// each other, each in an order of its own.
pub(super) fn epoch(frequencies: &[f64], max_calls: u64, calls: u64, rng: &mut Rng) -> Vec<Vec<u64>> {
    let groups = frequencies.len() as u64;
    let longest = max_calls.min(LONGEST_LIST).max(MIN_CALLS_PER_GROUP * groups);
    let wanted = (SAMPLES_PER_EPOCH / (groups + 2)).clamp(1, calls / least_calls(frequencies.len()));
    let rounds = wanted.max(calls.div_ceil(calls_of_round(groups, longest)));
    let mut samples = Vec::new();
    let length = list_length(groups, calls / rounds);
    // One list for all rounds of the epoch; the next epoch has its own, so that every group gets its share.
    let whole = deal(frequencies, length, rng.uniform01());
    for round in 0..rounds {
        let begin = samples.len();
        let mut left = calls / rounds + u64::from(round < calls % rounds);
        let mut push = |counts: Vec<u64>| {
            left -= counts.iter().sum::<u64>();
            samples.push(counts);
        };
        push(whole.clone());
        for group in 0..whole.len() {
            let mut without = whole.clone();
            without[group] = if whole[group] == 0 { 1 } else { whole[group] / 2 };
            push(without);
        }
        let mut quarters = left.div_ceil(length.div_ceil(3));
        while quarters > 0 {
            let quarter = left / quarters;
            samples.push(deal(frequencies, quarter, rng.uniform01()));
            left -= quarter;
            quarters -= 1;
        }
        rng.shuffle(&mut samples[begin..]);
    }
    samples
}

/// How long a list can be of which a round takes at most `calls` calls.
fn list_length(groups: u64, calls: u64) -> u64 {
    let mut length = 4 * calls / (4 * groups + 3);
    while calls_of_round(groups, length) > calls {
        length -= 1;
    }
    length
}

/// What the samples of an epoch are to each other.
#[derive(Debug, Default, PartialEq)]
struct Roles {
    /// The whole list.
    whole: Vec<usize>,
    /// For each group, the samples that differ from the whole list in it alone.
    without: Vec<Vec<usize>>,
    /// The others.
    rest: Vec<usize>,
}

/// Finds the roles again; some samples may not count and be gone.
fn roles(samples: &Samples, epoch: std::ops::Range<usize>, groups: usize) -> Roles {
    let common = |group: usize| {
        let mut counts: Vec<f64> = epoch.clone().map(|index| samples.sample(index)[group]).collect();
        stats::sort(&mut counts);
        let runs = counts.chunk_by(|a, b| a == b);
        runs.max_by_key(|run| run.len()).map_or(0.0, |run| run[0])
    };
    let whole: Vec<f64> = (0..groups).map(common).collect();
    let mut roles = Roles { without: vec![Vec::new(); groups], ..Roles::default() };
    for index in epoch {
        let counts = samples.sample(index);
        let mut different = (0..groups).filter(|&group| counts[group] != whole[group]);
        match (different.next(), different.next()) {
            (None, _) => roles.whole.push(index),
            (Some(group), None) => roles.without[group].push(index),
            _ => roles.rest.push(index),
        }
    }
    if roles.whole.is_empty() {
        // Not an epoch of rounds, or one of which little is left.
        roles.rest.extend(roles.without.iter_mut().flat_map(std::mem::take));
    }
    roles
}

/// For each group, the differences that its calls made, as samples of a single group; each epoch is in all of them.
pub(super) fn differences(samples: &Samples, groups: usize) -> Vec<Samples> {
    let mut differences = vec![Samples::new(1); groups];
    for (epoch, &ticks_per_cycle) in samples.epoch_ranges().zip(&samples.ticks_per_cycle) {
        let Roles { whole, without, .. } = roles(samples, epoch, groups);
        for (group, (without, differences)) in without.iter().zip(&mut differences).enumerate() {
            for (position, &index) in without.iter().enumerate() {
                if whole.is_empty() {
                    break;
                }
                // That of the same round, where none is missing.
                let whole = whole[position * whole.len() / without.len()];
                let calls = samples.sample(whole)[group] - samples.sample(index)[group];
                let ticks = samples.durations[whole] - samples.durations[index];
                differences.push(&[calls.abs() as u64], ticks * calls.signum());
            }
            differences.end_epoch(ticks_per_cycle);
        }
    }
    differences
}

/// The totals of lists of the mix.
fn totals(samples: &Samples, groups: usize) -> Samples {
    let mut totals = Samples::new(1);
    for (epoch, &ticks_per_cycle) in samples.epoch_ranges().zip(&samples.ticks_per_cycle) {
        let Roles { whole, rest, .. } = roles(samples, epoch, groups);
        for index in whole.into_iter().chain(rest) {
            totals.push(&[samples.sample(index).iter().sum::<f64>() as u64], samples.durations[index]);
        }
        totals.end_epoch(ticks_per_cycle);
    }
    totals
}

/// The costs, for the engine: the coefficients of the groups, of the clock, and of the mix. Nothing if some group never had its
/// turn.
pub(super) fn fit(samples: &Samples, groups: usize, prior: &ClockPrior) -> Option<Fit> {
    let each: Option<Vec<Fit>> = differences(samples, groups).iter().map(|one| fit_differences(one, prior)).collect();
    Some(Fit::joined(&each?, &Fit::new(&totals(samples, groups), prior, None)?))
}

/// The weights of the mix in what [`fit`] returns.
pub(super) fn weights_of_mix(groups: usize) -> Vec<f64> {
    let mut weights = vec![0.0; groups + 2];
    weights[groups + 1] = 1.0;
    weights
}

/// The cost that a group's differences say. The clock's part has cancelled, and its step is in both totals.
pub(super) fn fit_differences(differences: &Samples, prior: &ClockPrior) -> Option<Fit> {
    if differences.durations.is_empty() {
        return None;
    }
    Fit::new(differences, &prior.of_difference(), None)
}

#[cfg(test)]
mod tests;
