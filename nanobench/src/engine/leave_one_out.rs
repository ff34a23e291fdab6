//! Leave-one-out: the cost of a group of inputs is what a list takes less without some of the group's inputs.
//!
//! A round times the whole list, for each group the list without a quarter of the group's calls and with as many more, and about a
//! quarter of the list. The difference of two that are unlike in one group says what the group costs, with the clock's part
//! cancelled; whole and quarter say what the mix costs. To take the difference from the whole list itself, without half of a group,
//! is the classic way, and the one of the replay. But there the group is rarer on average than it is among the inputs, and the
//! branches of the others are foreseen better without it: copies of 3, 4, 7 and 8 bytes came out up to 4 % too dear. A group so rare
//! that the list has none of it is put in instead of left out.
//!
//! A cost is a robust mean over its differences, which may come out negative one by one: taking again only those that do would
//! favour the large ones. The wanted difference is a small part of two totals, and has the noise of both, so its interval
//! comes from the differences themselves.

use super::design::deal;
use super::fit::{ClockPrior, Fit, Samples};
use crate::config::Estimator;
use crate::rng::Rng;
use crate::stats;

/// About how many samples an epoch has, where there are calls enough.
const SAMPLES_PER_EPOCH: u64 = 32;

/// The most calls of a list, where the target allows as many.
pub(super) const LONGEST_LIST: u64 = 1 << 16;

/// How many times as many calls as there are groups the shortest list has.
const MIN_CALLS_PER_GROUP: u64 = 2;

/// How many calls an epoch needs to have a round.
pub(super) fn least_calls(groups: usize, estimator: Estimator) -> u64 {
    calls_of_round(groups as u64, estimator, MIN_CALLS_PER_GROUP * groups as u64)
}

/// The most calls that a round with a list of `calls` calls takes.
fn calls_of_round(groups: u64, estimator: Estimator, calls: u64) -> u64 {
    // What one list of a group has less the other has more. A group that is put in takes a call more.
    let lists_of_groups = match estimator {
        Estimator::Replay => groups * (calls + 1) - calls / 2,
        _ => groups * (2 * calls + 1),
    };
    calls + lists_of_groups + calls.div_ceil(4)
}

/// With how many calls of a group lists are made to set against each other or against the whole list, which has so many.
fn around(calls: u64, estimator: Estimator) -> Vec<u64> {
    let quarter = (calls / 4).max(1);
    match estimator {
        _ if calls == 0 => vec![1],
        Estimator::Replay => vec![calls / 2],
        _ => vec![calls - quarter, calls + quarter],
    }
}

/// The samples of an epoch of `calls` calls, which are enough for a round, as the numbers of calls of each group. Rounds follow
/// each other, each in an order of its own.
pub(super) fn epoch(
    frequencies: &[f64],
    max_calls: u64,
    calls: u64,
    estimator: Estimator,
    rng: &mut Rng,
) -> Vec<Vec<u64>> {
    let groups = frequencies.len() as u64;
    // The list with more of a group has up to a quarter more.
    let longest = (max_calls.min(LONGEST_LIST) / 5 * 4).max(MIN_CALLS_PER_GROUP * groups);
    let samples_of_round = 2 + groups * if estimator == Estimator::Replay { 1 } else { 2 };
    let most_rounds = calls / least_calls(frequencies.len(), estimator);
    let wanted = (SAMPLES_PER_EPOCH / samples_of_round).clamp(1, most_rounds);
    let rounds = wanted.max(calls.div_ceil(calls_of_round(groups, estimator, longest)));
    let mut samples = Vec::new();
    let length = list_length(groups, estimator, calls / rounds);
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
            for count in around(whole[group], estimator) {
                let mut list = whole.clone();
                list[group] = count;
                push(list);
            }
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
fn list_length(groups: u64, estimator: Estimator, calls: u64) -> u64 {
    let lists = calls_of_round(groups, estimator, 4) - groups;
    let mut length = 4 * calls / lists;
    while calls_of_round(groups, estimator, length) > calls {
        length -= 1;
    }
    length
}

/// What the samples of an epoch are to each other.
#[derive(Debug, Default, PartialEq)]
struct Roles {
    /// The whole list.
    whole: Vec<usize>,
    /// For each group, the samples that differ from the whole list in it alone: those with less of it, and those with more.
    less: Vec<Vec<usize>>,
    more: Vec<Vec<usize>>,
    /// The others.
    rest: Vec<usize>,
}

/// With a larger share of the calls of the longest list than this, a sample is no quarter of the list.
const LEAST_SHARE_OF_LONGEST: f64 = 0.4;

/// Finds the roles again; some samples may not count and be gone.
fn roles(samples: &Samples, epoch: std::ops::Range<usize>, groups: usize) -> Roles {
    let calls = |index: usize| samples.sample(index).iter().sum::<f64>();
    let longest = epoch.clone().map(calls).fold(0.0, f64::max);
    let common = |group: usize| {
        let lists = epoch.clone().filter(|&index| calls(index) > LEAST_SHARE_OF_LONGEST * longest);
        let mut counts: Vec<f64> = lists.map(|index| samples.sample(index)[group]).collect();
        stats::sort(&mut counts);
        let runs = counts.chunk_by(|a, b| a == b);
        runs.max_by_key(|run| run.len()).map_or(0.0, |run| run[0])
    };
    let whole: Vec<f64> = (0..groups).map(common).collect();
    let nobody = || vec![Vec::new(); groups];
    let mut roles = Roles { less: nobody(), more: nobody(), ..Roles::default() };
    for index in epoch {
        let counts = samples.sample(index);
        let mut different = (0..groups).filter(|&group| counts[group] != whole[group]);
        match (different.next(), different.next()) {
            (None, _) => roles.whole.push(index),
            (Some(group), None) if counts[group] < whole[group] => roles.less[group].push(index),
            (Some(group), None) => roles.more[group].push(index),
            _ => roles.rest.push(index),
        }
    }
    if roles.whole.is_empty() {
        // Not an epoch of rounds, or one of which little is left.
        let others = roles.less.iter_mut().chain(&mut roles.more);
        roles.rest.extend(others.flat_map(std::mem::take));
    }
    roles
}

/// For each group, the differences that its calls made, as samples of a single group; each epoch is in all of them.
pub(super) fn differences(samples: &Samples, groups: usize) -> Vec<Samples> {
    let mut differences = vec![Samples::new(1); groups];
    for (epoch, &ticks_per_cycle) in samples.epoch_ranges().zip(&samples.ticks_per_cycle) {
        let Roles { whole, less, more, .. } = roles(samples, epoch, groups);
        for ((less, more), differences) in less.iter().zip(&more).zip(&mut differences) {
            // Where a group has no list of one kind, the whole list is what the other kind differs from.
            let (less, more) = match (less.is_empty(), more.is_empty()) {
                (true, true) => (less, more),
                (true, false) => (&whole, more),
                (false, true) => (less, &whole),
                (false, false) => (less, more),
            };
            for (less, more) in pairs(less, more) {
                let calls: f64 =
                    samples.sample(more).iter().zip(samples.sample(less)).map(|(more, less)| more - less).sum();
                differences.push(&[calls as u64], samples.durations[more] - samples.durations[less]);
            }
            differences.end_epoch(ticks_per_cycle);
        }
    }
    differences
}

/// The totals of lists of the mix. Those with less or more of a group are none: what they take more goes with what the group costs.
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

/// Pairs of one and the other, of the same round where none is missing.
fn pairs(less: &[usize], more: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    let pairs = less.len().min(more.len());
    (0..pairs).map(move |pair| (less[pair * less.len() / pairs], more[pair * more.len() / pairs]))
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
