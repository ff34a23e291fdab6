//! The middle of paired differences, an interval for it, and whether it is zero, without an assumption about how the
//! differences are distributed other than that they are as likely above the middle as below it by the same amount.
//!
//! That holds for two equal workloads that take turns, whatever disturbs them. The statistic is Wilcoxon's signed rank.
//! In terms of the Walsh averages, which are the means of all pairs of differences and the differences themselves, it
//! is the number that are positive; the estimate is their median, and the bounds of the interval are two of them,
//! counted from both ends.
//!
//! The sign test and its interval, two of the differences themselves, ask for a little less, but see each round by
//! itself. On the simulated machine the interval is wider by a third. And where what runs second in a round is slower
//! by 3 %, half of the differences are near +3 % and half near -3 %: nothing shows that their middle is at 1 %, and the
//! sign test found it in none of 200 comparisons. The averages of one of these and one of those show it, in all 200,
//! within about 130 rounds.
//!
//! Sources: F. Wilcoxon, "Individual Comparisons by Ranking Methods", Biometrics Bulletin 1, 1945; J. L. Hodges and E.
//! L. Lehmann, "Estimates of Location Based on Rank Tests", Annals of Mathematical Statistics 34, 1963.

use std::cmp::Ordering;

/// Up to how many differences the distribution of the statistic is computed exactly.
const MAX_EXACT: usize = 40;

/// How often the range of the averages is halved to find one of them: to a millionth of a millionth.
const BISECTIONS: usize = 40;

/// The largest value of the statistic (the smaller of the numbers of positive and of negative Walsh averages) that is
/// so small for differences about zero with a probability of at most `error`, both sides together. None if there are
/// too few differences for any to be.
pub(super) fn critical_value(differences: usize, error: f64) -> Option<u64> {
    if differences <= MAX_EXACT {
        exact_critical_value(differences, error)
    } else {
        normal_critical_value(differences, error)
    }
}

fn exact_critical_value(differences: usize, error: f64) -> Option<u64> {
    // The probability of each value of the statistic: every rank is in it or not, as a coin decides.
    let mut probabilities = vec![1.0];
    for rank in 1..=differences {
        let mut next = vec![0.0; probabilities.len() + rank];
        for (value, probability) in probabilities.iter().enumerate() {
            next[value] += probability / 2.0;
            next[value + rank] += probability / 2.0;
        }
        probabilities = next;
    }
    let mut below = 0.0;
    let values = probabilities.iter().take_while(|&&probability| {
        below += probability;
        below <= error / 2.0
    });
    (values.count() as u64).checked_sub(1)
}

fn normal_critical_value(differences: usize, error: f64) -> Option<u64> {
    let count = differences as f64;
    let mean = count * (count + 1.0) / 4.0;
    let deviation = (mean * (2.0 * count + 1.0) / 6.0).sqrt();
    let value = mean - normal_quantile(error / 2.0) * deviation - 0.5;
    (value >= 0.0).then_some(value as u64)
}

/// By how many standard deviations a normal variable exceeds its mean with a probability of `tail`, at most a half. The
/// error is below 0.0005.
///
/// Source: M. Abramowitz and I. A. Stegun, "Handbook of Mathematical Functions", 1964, formula 26.2.23.
fn normal_quantile(tail: f64) -> f64 {
    let t = (-2.0 * tail.ln()).sqrt();
    let numerator = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let denominator = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    t - numerator / denominator
}

/// How many Walsh averages of `sorted` are at most `limit`.
fn averages_at_most(sorted: &[f64], limit: f64) -> u64 {
    let mut count = 0;
    let mut end = sorted.len();
    for (begin, low) in sorted.iter().enumerate() {
        while end > begin && low.midpoint(sorted[end - 1]) > limit {
            end -= 1;
        }
        if end <= begin {
            break;
        }
        count += (end - begin) as u64;
    }
    count
}

/// How many Walsh averages there are of so many differences.
fn averages(differences: usize) -> u64 {
    let count = differences as u64;
    count * (count + 1) / 2
}

/// The Walsh average of `sorted` with so many others below it, to within a tiny part of their range.
fn average_at(sorted: &[f64], rank: u64) -> f64 {
    let (mut low, mut high) = (sorted[0], sorted[sorted.len() - 1]);
    if averages_at_most(sorted, low) > rank {
        return low;
    }
    for _ in 0..BISECTIONS {
        let middle = low.midpoint(high);
        if averages_at_most(sorted, middle) > rank {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

/// The middle of the differences in `sorted`: the median of their Walsh averages. There has to be one at least.
pub(super) fn pseudo_median(sorted: &[f64]) -> f64 {
    let last = averages(sorted.len()) - 1;
    average_at(sorted, last / 2).midpoint(average_at(sorted, last.div_ceil(2)))
}

/// The lower bound for the middle of the differences in `sorted`, which holds with a probability of 1 - `error`/2; none
/// if there are too few of them.
pub(super) fn lower_bound(sorted: &[f64], error: f64) -> Option<f64> {
    Some(average_at(sorted, critical_value(sorted.len(), error)?))
}

/// The upper bound, likewise.
pub(super) fn upper_bound(sorted: &[f64], error: f64) -> Option<f64> {
    let last = averages(sorted.len()).checked_sub(1)?;
    Some(average_at(sorted, last - critical_value(sorted.len(), error)?))
}

/// Whether the middle of the differences in `sorted`, none of which is zero, is above or below zero, but for a
/// probability of `error`, both sides together; equal if that cannot be told.
pub(super) fn direction(sorted: &[f64], error: f64) -> Ordering {
    let Some(critical) = critical_value(sorted.len(), error) else { return Ordering::Equal };
    let not_positive = averages_at_most(sorted, 0.0);
    let negative = averages_at_most(sorted, -f64::MIN_POSITIVE);
    if not_positive <= critical {
        Ordering::Greater
    } else if averages(sorted.len()) - negative <= critical {
        Ordering::Less
    } else {
        Ordering::Equal
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn critical_values_equal_the_published_table() {
        let table_95 = [0, 2, 3, 5, 8, 10, 13, 17, 21, 25, 29, 34, 40, 46, 52];
        for (differences, expected) in (6..=20).zip(table_95) {
            assert_eq!(critical_value(differences, 0.05), Some(expected), "{differences} differences");
        }
        let table_99 = [0, 1, 3, 5, 7, 9, 12, 15, 19, 23, 27, 32, 37];
        for (differences, expected) in (8..=20).zip(table_99) {
            assert_eq!(critical_value(differences, 0.01), Some(expected), "{differences} differences");
        }
    }

    #[test]
    fn too_few_differences_have_no_interval_and_are_not_resolved() {
        for differences in 0..=5 {
            let sorted = vec![1.0; differences];
            assert_eq!(critical_value(differences, 0.05), None);
            assert_eq!((lower_bound(&sorted, 0.05), upper_bound(&sorted, 0.05)), (None, None));
            assert_eq!(direction(&sorted, 0.05), Ordering::Equal);
        }
        assert_eq!(direction(&[1.0; 6], 0.05), Ordering::Greater);
        assert_eq!(direction(&[-1.0; 6], 0.05), Ordering::Less);
    }

    #[test]
    fn many_differences_get_the_confidence_that_was_asked_for() {
        for error in [0.05, 0.01, 0.001, 1e-5] {
            for differences in [41, 100, 300] {
                let exact = exact_critical_value(differences, error).unwrap() as f64;
                let normal = normal_critical_value(differences, error).unwrap() as f64;
                let deviation = (differences as f64).powf(1.5) / 12.0_f64.sqrt();
                assert!((normal - exact).abs() < 0.3 * deviation, "{differences}, {error}: {normal}, {exact}");
                assert!(normal <= exact + 1.0, "{differences}, {error}: {normal}, {exact}");
            }
        }
        assert!(critical_value(2_000, 1e-4) < critical_value(2_000, 1e-2));
    }

    #[test]
    fn normal_quantiles_equal_the_tables() {
        for (tail, expected) in [(0.5, 0.0), (0.025, 1.959_96), (0.005, 2.575_83), (1e-5, 4.264_89)] {
            let found = normal_quantile(tail);
            assert!((found - expected).abs() < 5e-4, "{tail}: {found}");
        }
    }

    #[test]
    fn averages_are_found_by_their_rank() {
        let mut rng = Rng::new(1);
        for count in 1..30 {
            let mut values: Vec<f64> = (0..count).map(|_| f64::from(rng.bounded(20)) - 7.0).collect();
            values.sort_unstable_by(f64::total_cmp);
            let mut all: Vec<f64> = (0..count)
                .flat_map(|i| (i..count).map(|j| values[i].midpoint(values[j])).collect::<Vec<_>>())
                .collect();
            all.sort_unstable_by(f64::total_cmp);
            for (rank, expected) in all.iter().enumerate() {
                assert!((average_at(&values, rank as u64) - expected).abs() < 1e-9, "{values:?}");
            }
            let middle = all[(all.len() - 1) / 2].midpoint(all[all.len() / 2]);
            assert!((pseudo_median(&values) - middle).abs() < 1e-9);
        }
    }

    #[test]
    fn an_interval_without_zero_and_a_resolved_difference_are_the_same() {
        let mut rng = Rng::new(2);
        for _ in 0..2_000 {
            let shift = 0.4 * rng.uniform01() - 0.2;
            let mut values: Vec<f64> = (0..20 + rng.bounded(40)).map(|_| rng.uniform01() - 0.5 + shift).collect();
            values.sort_unstable_by(f64::total_cmp);
            let (low, high) = (lower_bound(&values, 0.05).unwrap(), upper_bound(&values, 0.05).unwrap());
            let found = direction(&values, 0.05);
            assert_eq!((found.is_gt(), found.is_lt()), (low > 0.0, high < 0.0), "{low} .. {high}");
        }
    }

    #[test]
    fn the_interval_covers_the_middle_as_often_as_it_says() {
        let mut rng = Rng::new(3);
        for (count, error) in [(12, 0.05), (60, 0.05), (1_500, 0.05), (1_500, 0.01)] {
            let repetitions = 3_000;
            let covered = (0..repetitions).filter(|_| {
                // A sharp peak, long tails and a middle of 1.
                let mut values: Vec<f64> = (0..count).map(|_| 1.0 + (2.0 * rng.uniform01() - 1.0).powi(7)).collect();
                values.sort_unstable_by(f64::total_cmp);
                lower_bound(&values, error).unwrap() <= 1.0 && 1.0 <= upper_bound(&values, error).unwrap()
            });
            let missed = 1.0 - covered.count() as f64 / f64::from(repetitions);
            assert!(missed <= 1.3 * error && missed >= 0.5 * error, "{count}, {error}: {missed}");
        }
    }
}
