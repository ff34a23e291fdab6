//! The design of an experiment: into which samples an epoch is divided, and which inputs each of them runs.
//!
//! Samples come in pairs, a small and a large one, which together keep to the real frequencies: the difference of the two is free of
//! the cost of the clock. For each group of inputs a coin decides whether the small sample gets fewer of its calls or more, so that the
//! inputs that a sample runs are drawn around the real frequencies, which is what the least squares fit needs to tell the groups apart.
//!
//! With up to four groups that is a fifth or two fifths. Levels farther apart would tell more, and something else: where the mix changes
//! much from sample to sample, branches are foreseen worse. Copies of 3, 4, 7 and 8 bytes come out 1 to 3 % dearer where samples
//! have a quarter or three quarters of each group's calls. Of many groups each has few calls to be told by, so that a narrow interval is
//! worth more: the levels move apart with the square root of their number, up to a tenth and a half.

use super::leave_one_out;
use crate::config::Estimator;
use crate::groups::Groups;
use crate::rng::Rng;

/// The pairs of samples in an epoch, where there are calls enough.
const PAIRS_PER_EPOCH: u64 = 16;

/// Calls that a pair needs to make two different samples of one and three calls.
const MIN_CALLS_PER_PAIR: u64 = 4;

/// The share of all calls that the small sample of a pair gets, without groups and on average over many.
const SMALL_SHARE_OF_ALL: f64 = 0.25;
const SMALL_SHARE: f64 = 0.3;

/// By how much more or less than that it gets of one group: so much for each square root of a group, within these limits.
const DEVIATION: f64 = 0.05;
const LEAST_DEVIATION: f64 = 0.1;
const MOST_DEVIATION: f64 = 0.2;

/// Chooses the calls of every sample.
#[derive(Clone, Debug)]
pub(crate) struct Design {
    /// How frequent each group is; the sum is 1.
    frequencies: Vec<f64>,
    /// The positions of each group's inputs; empty for a function without inputs.
    members: Vec<Vec<u32>>,
    max_calls: u64,
    estimator: Estimator,
    replayed: Option<Replayed>,
}

/// What comes again in every epoch.
#[derive(Clone, Debug)]
struct Replayed {
    samples: Vec<Vec<u64>>,
    /// The inputs, each with its group, in an order of which that of every sample is a part.
    list: Vec<(usize, u32)>,
    /// How many inputs of each group the list has.
    counts: Vec<u64>,
}

impl Design {
    pub(crate) fn new(groups: &Groups, max_calls: u64) -> Self {
        let members = match groups {
            Groups::NoInputs => Vec::new(),
            Groups::Mix { inputs, .. } => vec![(0..*inputs as u32).collect()],
            Groups::Each(groups) => groups.iter().map(|group| group.members.clone()).collect(),
        };
        let inputs: usize = members.iter().map(Vec::len).sum();
        let frequencies = if members.is_empty() {
            vec![1.0]
        } else {
            members.iter().map(|members| members.len() as f64 / inputs as f64).collect()
        };
        Self { frequencies, members, max_calls, estimator: Estimator::LeastSquares, replayed: None }
    }

    /// The same for an estimator, as far as there are several groups to tell apart.
    pub(super) fn for_estimator(self, estimator: Estimator) -> Self {
        if self.frequencies.len() > 1 { Self { estimator, ..self } } else { self }
    }

    /// What the samples are made for.
    pub(super) fn estimator(&self) -> Estimator {
        self.estimator
    }

    /// How many calls an epoch needs that says something of every group.
    pub(super) fn least_calls(&self) -> u64 {
        match self.estimator {
            Estimator::LeastSquares => 1,
            estimator => leave_one_out::least_calls(self.frequencies.len(), estimator),
        }
    }

    /// How frequent each group is; the sum is 1.
    pub(crate) fn frequencies(&self) -> &[f64] {
        &self.frequencies
    }

    /// The positions of each group's inputs; empty for a function without inputs.
    pub(crate) fn members(&self) -> &[Vec<u32>] {
        &self.members
    }

    /// Divides `calls` calls into samples. Each is given as the number of calls of each group; together they are exactly
    /// `calls`, and none is empty. What is replayed may be up to a third fewer, so that it can be the same again.
    pub(super) fn epoch(&mut self, calls: u64, rng: &mut Rng) -> Vec<Vec<u64>> {
        if self.estimator != Estimator::LeastSquares && calls >= self.least_calls() {
            return self.lists(calls, rng);
        }
        let pairs = (calls / MIN_CALLS_PER_PAIR).clamp(1, PAIRS_PER_EPOCH).max(calls.div_ceil(self.max_calls));
        let mut samples = Vec::with_capacity(2 * pairs as usize);
        for pair in 0..pairs {
            let one_more = u64::from(pair < calls % pairs);
            samples.extend(self.pair(calls / pairs + one_more, rng));
        }
        samples.retain(|counts| counts.iter().any(|&count| count > 0));
        samples
    }

    /// The samples of an epoch from which one group after the other is left out.
    fn lists(&mut self, calls: u64, rng: &mut Rng) -> Vec<Vec<u64>> {
        if let Some(Replayed { samples, .. }) = &self.replayed {
            let known: u64 = samples.iter().flatten().sum();
            if known <= calls && calls <= known + known / 2 {
                return samples.clone();
            }
        }
        let mut samples = leave_one_out::epoch(&self.frequencies, self.max_calls, calls, self.estimator, rng);
        if self.estimator == Estimator::Replay {
            // The same sample comes several times in a row, which is what a predictor learns best.
            samples.sort_unstable();
            let most = |group: usize| samples.iter().map(|counts| counts[group]).max().unwrap_or(0);
            let counts: Vec<u64> = (0..self.frequencies.len()).map(most).collect();
            let mut list = Vec::new();
            for (group, (members, &count)) in self.members.iter().zip(&counts).enumerate() {
                let range = members.len() as u32;
                list.extend((0..count).map(|_| (group, members[rng.bounded(range) as usize])));
            }
            rng.shuffle(&mut list);
            self.replayed = Some(Replayed { samples: samples.clone(), list, counts });
        }
        samples
    }

    fn pair(&self, calls: u64, rng: &mut Rng) -> [Vec<u64>; 2] {
        let mut pair = [Vec::new(), Vec::new()];
        let small = rng.bounded(2) as usize;
        let levels = self.small_shares();
        let offset = rng.uniform01();
        for count in deal(&self.frequencies, calls, offset) {
            let share = levels[rng.bounded(2) as usize];
            let few = ((count as f64 * share + rng.uniform01()) as u64).min(count);
            pair[small].push(few);
            pair[1 - small].push(count - few);
        }
        pair
    }

    /// The two shares of its calls that the small sample of a pair may get of a group.
    fn small_shares(&self) -> [f64; 2] {
        let groups = self.frequencies.len();
        if groups == 1 {
            return [SMALL_SHARE_OF_ALL; 2];
        }
        let deviation = (DEVIATION * (groups as f64).sqrt()).clamp(LEAST_DEVIATION, MOST_DEVIATION);
        [SMALL_SHARE - deviation, SMALL_SHARE + deviation]
    }

    /// Fills `order` with the inputs of one sample, drawn from their groups at random and shuffled, or with a part of the list
    /// that is replayed.
    pub(super) fn order(&self, counts: &[u64], order: &mut Vec<u32>, rng: &mut Rng) {
        order.clear();
        if let Some(replayed) =
            self.replayed.as_ref().filter(|replayed| replayed.samples.iter().any(|known| known == counts))
        {
            return replayed.part(counts, order);
        }
        for (members, &count) in self.members.iter().zip(counts) {
            let range = members.len() as u32;
            order.extend((0..count).map(|_| members[rng.bounded(range) as usize]));
        }
        rng.shuffle(order);
    }
}

impl Replayed {
    /// Leaves so many inputs out of the list that each group is as frequent as counted, always the same ones and evenly; what stays
    /// keeps its order.
    fn part(&self, counts: &[u64], order: &mut Vec<u32>) {
        let mut seen = vec![0; counts.len()];
        for &(group, input) in &self.list {
            let kept = |seen: u64| seen * counts[group] / self.counts[group];
            let before = kept(seen[group]);
            seen[group] += 1;
            if kept(seen[group]) > before {
                order.push(input);
            }
        }
    }
}

/// Deals calls out to groups as frequent as they are: each gets its share to within one call, and over all offsets from 0 to 1
/// exactly its share on average; the sum comes out exactly. This is systematic sampling.
pub(super) fn deal(frequencies: &[f64], calls: u64, offset: f64) -> Vec<u64> {
    let (mut dealt, mut share) = (0, 0.0);
    let last = frequencies.len() - 1;
    let mut part = |(group, frequency): (usize, &f64)| {
        share += frequency;
        let dealt_until =
            if group == last { calls } else { ((calls as f64 * share + offset) as u64).clamp(dealt, calls) };
        dealt_until - std::mem::replace(&mut dealt, dealt_until)
    };
    frequencies.iter().enumerate().map(&mut part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::groups::Group;

    fn with_frequencies(frequencies: &[usize]) -> Design {
        let mut next = 0;
        let groups = frequencies
            .iter()
            .map(|&frequency| {
                let members = (next..next + frequency as u32).collect();
                next += frequency as u32;
                Group { label: next.to_string(), members }
            })
            .collect();
        Design::new(&Groups::Each(groups), u64::MAX)
    }

    fn total(samples: &[Vec<u64>]) -> u64 {
        samples.iter().flatten().sum()
    }

    #[test]
    fn an_epoch_makes_exactly_the_calls_that_it_is_told_to() {
        let mut rng = Rng::new(1);
        for mut design in
            [Design::new(&Groups::NoInputs, u64::MAX), with_frequencies(&[1, 2, 5]), with_frequencies(&[1; 30])]
        {
            for calls in (1..200).chain([1_000, 12_345]) {
                let samples = design.epoch(calls, &mut rng);
                assert_eq!(total(&samples), calls);
                assert!(samples.iter().all(|counts| counts.iter().any(|&count| count > 0)));
            }
        }
    }

    #[test]
    fn without_inputs_samples_come_in_two_sizes() {
        let mut design = Design::new(&Groups::NoInputs, u64::MAX);
        let samples = design.epoch(16 * 400, &mut Rng::new(2));
        assert_eq!(samples.len(), 32);
        for pair in samples.chunks(2) {
            let mut sizes = [pair[0][0], pair[1][0]];
            sizes.sort_unstable();
            assert!(sizes == [100, 300] || sizes == [101, 299], "{sizes:?}");
        }
    }

    #[test]
    fn groups_are_called_as_often_as_they_are_frequent() {
        let mut design = with_frequencies(&[1, 3, 12]);
        let mut rng = Rng::new(3);
        for calls in [1, 7, 160] {
            let epochs = 4_000;
            let mut totals = [0.0; 3];
            for counts in (0..epochs).flat_map(|_| design.epoch(calls, &mut rng)) {
                for (total, count) in totals.iter_mut().zip(counts) {
                    *total += count as f64;
                }
            }
            let all = calls as f64 * f64::from(epochs);
            for (total, expected) in totals.iter().zip([1.0 / 16.0, 3.0 / 16.0, 12.0 / 16.0]) {
                assert!((total / all - expected).abs() < 0.02, "{totals:?} of {all}");
            }
        }
    }

    #[test]
    fn a_sample_makes_at_most_as_many_calls_as_the_target_allows() {
        let mut rng = Rng::new(4);
        for max_calls in [1, 10, 256] {
            let mut design = Design::new(&Groups::NoInputs, max_calls);
            for counts in design.epoch(5_000, &mut rng) {
                assert!(counts.iter().sum::<u64>() <= max_calls);
            }
        }
    }

    #[test]
    fn the_order_holds_each_group_as_often_as_counted_in_random_order() {
        let design = with_frequencies(&[2, 1]);
        let mut rng = Rng::new(5);
        let mut order = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for _ in 0..50 {
            design.order(&[4, 2], &mut order, &mut rng);
            assert_eq!(order.iter().filter(|&&input| input < 2).count(), 4);
            assert_eq!(order.iter().filter(|&&input| input == 2).count(), 2);
            seen.insert(order.clone());
        }
        assert!(seen.len() > 30, "a sequence that repeats could be learnt");
    }

    #[test]
    fn neither_sample_of_a_pair_is_far_from_the_frequencies_and_together_they_keep_to_them() {
        let mut design = with_frequencies(&[1, 1, 2]);
        let mut rng = Rng::new(6);
        for pair in (0..100).flat_map(|_| design.epoch(16_000, &mut rng)).collect::<Vec<_>>().chunks(2) {
            let of_both: Vec<u64> = pair[0].iter().zip(&pair[1]).map(|(a, b)| a + b).collect();
            assert_eq!(of_both, [250, 250, 500]);
            let (small, large) = if total(&pair[..1]) < total(&pair[1..]) { (0, 1) } else { (1, 0) };
            for (sample, shares) in [(small, 0.19..=0.41), (large, 0.59..=0.81)] {
                let mut of_groups = pair[sample].iter().zip(&of_both).map(|(&count, &both)| count as f64 / both as f64);
                assert!(of_groups.all(|share| shares.contains(&share)), "{pair:?}");
            }
        }
    }

    #[test]
    fn the_more_groups_there_are_the_farther_apart_are_their_levels() {
        let [few, many] = with_frequencies(&[1; 9]).small_shares();
        assert!((few - 0.15).abs() < 1e-9 && (many - 0.45).abs() < 1e-9);
        for groups in [16, 32] {
            let [few, many] = with_frequencies(&vec![1; groups]).small_shares();
            assert!((few - 0.1).abs() < 1e-9 && (many - 0.5).abs() < 1e-9);
        }
    }

    #[test]
    fn within_the_small_samples_the_counts_of_two_groups_are_not_correlated() {
        let mut design = with_frequencies(&[1, 1]);
        let mut rng = Rng::new(7);
        let mut samples: Vec<Vec<u64>> = (0..500).flat_map(|_| design.epoch(640, &mut rng)).collect();
        samples.retain(|counts| counts.iter().sum::<u64>() < 20);
        let mean = |group: usize| samples.iter().map(|counts| counts[group] as f64).sum::<f64>() / samples.len() as f64;
        let (a, b) = (mean(0), mean(1));
        let moment = |f: &dyn Fn(&Vec<u64>) -> f64| samples.iter().map(f).sum::<f64>();
        let covariance = moment(&|counts| (counts[0] as f64 - a) * (counts[1] as f64 - b));
        let variance = moment(&|counts| (counts[0] as f64 - a).powi(2));
        assert!((covariance / variance).abs() < 0.05);
    }
}
