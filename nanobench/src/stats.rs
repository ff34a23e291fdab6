//! Statistics of slices of numbers. Pure functions.

pub(crate) use nanobench_timer::robust::{dominant_mean, median, median_absolute_deviation, median_of_sorted, sort};

/// Turns a median absolute deviation into the standard deviation of a normal distribution.
pub(crate) const MAD_TO_DEVIATION: f64 = 1.4826;

/// The median absolute percentage error: the median of `|x - median| / x`, a share of 1.
///
/// It says how far samples lie apart, not how sure their median is. Samples of zero say nothing and are left out.
pub(crate) fn mdape(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    let middle = median(&mut sorted);
    let mut errors: Vec<f64> =
        samples.iter().filter(|&&sample| sample != 0.0).map(|sample| ((sample - middle) / sample).abs()).collect();
    if errors.is_empty() { 0.0 } else { median(&mut errors) }
}

/// The least number of values in which two levels are looked for: among fewer, chance makes some too often.
const MIN_VALUES_OF_LEVELS: usize = 40;

/// The share of the largest values that have no say in the levels: what an interrupt hit is no level.
const TRIMMED_OF_LEVELS: f64 = 0.05;

/// The least share of the values that makes a level.
const MIN_SHARE_OF_LEVEL: f64 = 0.15;

/// By how much levels differ at least: as a share of the lower one, and in standard deviations of the values around them.
const MIN_LEVEL_DISTANCE: f64 = 0.05;
const MIN_LEVEL_DEVIATIONS: f64 = 6.0;

/// The largest share of the values that may lie in the middle half of the way between two levels.
const MAX_SHARE_BETWEEN_LEVELS: f64 = 0.05;

/// Two values around which samples gather, and hardly any between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Levels {
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// The share of the samples that belong to the higher one.
    pub(crate) share_of_high: f64,
}

/// The two levels of positive values, if that is what they have. Reorders the slice.
///
/// The values are cut in two where the variance between the parts is largest (N. Otsu, "A Threshold Selection Method from
/// Gray-Level Histograms", IEEE Transactions on Systems, Man, and Cybernetics 9, 1979). Any values can be cut in two, so the
/// parts have to be far from each other and the way between them has to be nearly empty. Of 3,000 sets of 50 normal,
/// exponential, uniform or lognormal values none passes.
pub(crate) fn two_levels(values: &mut [f64]) -> Option<Levels> {
    if values.len() < MIN_VALUES_OF_LEVELS {
        return None;
    }
    sort(values);
    let kept = values.len() - (TRIMMED_OF_LEVELS * values.len() as f64) as usize;
    let values = &values[..kept];
    let sum: f64 = values.iter().sum();
    let (mut below, mut most, mut cut) = (0.0, 0.0, 1);
    for low in 1..kept {
        below += values[low - 1];
        let high = kept - low;
        let distance = (sum - below) / high as f64 - below / low as f64;
        let between = low as f64 * high as f64 * distance * distance;
        if between > most {
            (most, cut) = (between, low);
        }
    }
    let (lower, higher) = values.split_at(cut);
    let (low, high) = (median_of_sorted(lower), median_of_sorted(higher));
    let deviation_of = |values: &[f64]| MAD_TO_DEVIATION * median_absolute_deviation(&mut values.to_vec());
    let deviation = deviation_of(lower).max(deviation_of(higher));
    let quarter = (high - low) / 4.0;
    let between = values.iter().filter(|&&value| low + quarter < value && value < high - quarter).count();
    let share = |count: usize| count as f64 / kept as f64;
    let are_levels = share(lower.len().min(higher.len())) >= MIN_SHARE_OF_LEVEL
        && high - low >= (MIN_LEVEL_DISTANCE * low).max(MIN_LEVEL_DEVIATIONS * deviation)
        && share(between) <= MAX_SHARE_BETWEEN_LEVELS;
    are_levels.then(|| Levels { low, high, share_of_high: share(higher.len()) })
}

/// The sums of batches of successive values, all of them as long as the others to within one: as many batches as there are values, or
/// half of them, or a third and so on, but not fewer than `least` if there are as many values.
///
/// Values that are alike for a while are not independent, while sums over longer than that while nearly are.
///
/// Source: B. Schmeiser, "Batch Size Effects in the Analysis of Simulation Output", Operations Research 30, 1982, who finds little
/// reason for more than 30 batches.
pub(crate) fn sums_of_batches(values: &[f64], least: usize) -> Vec<f64> {
    let batches = values.len() / (values.len() / least).max(1);
    let end = |batch: usize| values.len() * batch / batches;
    (0..batches).map(|batch| values[end(batch)..end(batch + 1)].iter().sum()).collect()
}

/// The variance of a sum of independent values of mean zero, from the differences of successive ones: unlike their squares,
/// these do not see a slow drift.
///
/// Source: J. von Neumann and others, "The Mean Square Successive Difference", Annals of Mathematical Statistics 12, 1941.
pub(crate) fn variance_of_sum(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let squares: f64 = values.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    squares / 2.0 * count / (count - 1.0)
}

/// The degrees of freedom of [`variance_of_sum`] of so many normal values, at least two.
pub(crate) fn freedom_of_differences(values: usize) -> f64 {
    let count = values as f64;
    2.0 * (count - 1.0).powi(2) / (3.0 * count - 4.0)
}

/// Degrees of freedom and the 97.5 % quantile of Student's t distribution. The last is that of the normal distribution.
const STUDENT_T: [(f64, f64); 13] = [
    (1.0, 12.7062),
    (1.25, 8.0280),
    (1.6, 5.5172),
    (2.0, 4.3027),
    (2.5, 3.5747),
    (3.0, 3.1824),
    (4.0, 2.7764),
    (5.0, 2.5706),
    (7.0, 2.3646),
    (10.0, 2.2281),
    (20.0, 2.0860),
    (60.0, 2.0003),
    (f64::INFINITY, 1.9600),
];

/// The half-width of a 95 % interval in standard errors, when these were estimated with `freedom` degrees of freedom, at
/// least one and not necessarily a whole number of them.
///
/// It is interpolated in the table, the logarithm of the quantile over the reciprocal of the degrees of freedom; the error is
/// at most 0.4 %.
pub(crate) fn student_t_95(freedom: f64) -> f64 {
    let above = STUDENT_T.iter().position(|&(node, _)| node >= freedom).unwrap_or(STUDENT_T.len() - 1).max(1);
    let [(low, at_low), (high, at_high)] = [STUDENT_T[above - 1], STUDENT_T[above]];
    let share = (low.recip() - freedom.max(1.0).recip()) / (low.recip() - high.recip());
    (at_low.ln() + share * (at_high / at_low).ln()).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// Values around 1, or for a share of them around `high`.
    fn values(count: usize, high: f64, share: f64, spread: impl Fn(&mut Rng) -> f64, seed: u64) -> Vec<f64> {
        let mut rng = Rng::new(seed);
        (0..count).map(|_| if rng.uniform01() < share { high } else { 1.0 } * (1.0 + spread(&mut rng))).collect()
    }

    #[test]
    fn batches_hold_all_values_in_order_and_are_as_many_as_asked_for_or_less_than_twice_as_many() {
        assert_eq!(sums_of_batches(&[1.0, 2.0, 4.0, 8.0, 16.0], 2), [3.0, 28.0]);
        for count in 1..500_u32 {
            let values: Vec<f64> = (0..count).map(f64::from).collect();
            let sums = sums_of_batches(&values, 36);
            assert_eq!(sums.iter().sum::<f64>(), values.iter().sum::<f64>());
            assert!(sums.len() == values.len() || (36..72).contains(&sums.len()), "{count}: {}", sums.len());
        }
    }

    #[test]
    fn two_levels_are_found_whichever_is_more_frequent() {
        for share in [0.3, 0.5, 0.7] {
            let spread = |rng: &mut Rng| 0.04 * (rng.uniform01() - 0.5);
            let levels = two_levels(&mut values(352, 1.3, share, spread, 1)).unwrap();
            assert!((levels.low - 1.0).abs() < 0.01 && (levels.high - 1.3).abs() < 0.01, "{levels:?}");
            assert!((levels.share_of_high - share).abs() < 0.06, "{levels:?}");
        }
    }

    #[test]
    fn one_level_is_never_taken_for_two() {
        let normal = |rng: &mut Rng| 0.1 * (0..12).map(|_| rng.uniform01() - 0.5).sum::<f64>();
        let exponential = |rng: &mut Rng| -0.3 * (1.0 - rng.uniform01()).ln();
        let uniform = |rng: &mut Rng| 0.5 * rng.uniform01();
        for seed in 0..500 {
            assert_eq!(two_levels(&mut values(50, 1.0, 0.0, normal, seed)), None);
            assert_eq!(two_levels(&mut values(50, 1.0, 0.0, exponential, seed)), None);
            assert_eq!(two_levels(&mut values(50, 1.0, 0.0, uniform, seed)), None);
        }
        assert_eq!(two_levels(&mut [1.0; 100]), None);
    }

    #[test]
    fn few_samples_that_are_far_off_are_not_a_level() {
        let exact = |_: &mut Rng| 0.0;
        assert_eq!(two_levels(&mut values(352, 9.0, 0.04, exact, 2)), None);
        assert_eq!(two_levels(&mut values(352, 1.04, 0.5, exact, 3)), None, "nor are levels that hardly differ");
        assert_eq!(two_levels(&mut values(39, 2.0, 0.5, exact, 4)), None, "nor those of few samples");
    }

    #[test]
    fn quantiles_of_student_equal_the_tables() {
        let table = [
            (1.0, 12.706),
            (1.4, 6.657),
            (2.0, 4.303),
            (3.0, 3.182),
            (6.0, 2.447),
            (8.0, 2.306),
            (15.0, 2.131),
            (30.0, 2.042),
            (120.0, 1.980),
            (f64::INFINITY, 1.960),
        ];
        for (freedom, expected) in table {
            let found = student_t_95(freedom);
            assert!((found / expected - 1.0).abs() < 0.004, "{freedom}: {found} instead of {expected}");
        }
    }

    #[test]
    fn quantiles_of_student_fall_as_the_freedom_grows() {
        let quantiles: Vec<f64> = (10..200).map(|tenths| student_t_95(f64::from(tenths) / 10.0)).collect();
        assert!(quantiles.windows(2).all(|pair| pair[1] < pair[0]), "{quantiles:?}");
    }

    #[test]
    fn the_median_percentage_error_is_relative_to_each_sample() {
        assert_eq!(mdape(&[1.0, 2.0, 4.0]), 0.5);
        assert_eq!(mdape(&[5.0]), 0.0);
    }

    #[test]
    fn the_median_percentage_error_of_zeros_is_a_number() {
        assert_eq!(mdape(&[0.0, 0.0]), 0.0);
        assert_eq!(mdape(&[0.0, 0.0, 1.0]), 1.0);
    }
}
