//! Statistics of slices of numbers. Pure functions.

pub(crate) use nanobench_timer::robust::{dominant_mean, median};

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
