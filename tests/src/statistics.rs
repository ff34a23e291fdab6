//! What several runs have to say together. Where there are too few of them, there is no answer.

use nanobench_timer::robust;

/// The arithmetic mean.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The standard deviation as a share of the mean, also called the coefficient of variation. The deviation is that of the
/// population from which the values are a sample, so the squares are divided by one less than there are.
#[must_use]
pub fn relative_deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1 && mean != 0.0).then(|| (squares / (values.len() - 1) as f64).sqrt() / mean.abs())
}

/// The median.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| robust::median(&mut values.to_vec()))
}

/// The largest value.
#[must_use]
pub fn most(values: &[f64]) -> Option<f64> {
    values.iter().copied().max_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deviation_is_relative_to_the_mean_and_has_one_degree_of_freedom_less() {
        assert_eq!(relative_deviation(&[1.0, 3.0]), Some(2.0f64.sqrt() / 2.0));
        assert_eq!(relative_deviation(&[-5.0, -5.0, -5.0]), Some(0.0));
    }

    #[test]
    fn too_few_values_give_no_answer() {
        assert_eq!(relative_deviation(&[1.0]), None);
        assert_eq!(relative_deviation(&[-1.0, 1.0]), None);
        assert_eq!((mean(&[]), median(&[]), most(&[])), (None, None, None));
    }

    #[test]
    fn the_median_leaves_the_values_in_their_order() {
        assert_eq!(median(&[9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(most(&[9.0, 1.0, 2.0]), Some(9.0));
    }
}
