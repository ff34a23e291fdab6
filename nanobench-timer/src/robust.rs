//! Statistics of timings that do not mind a few bad ones. Pure functions on slices: no clock, no allocation.
//!
//! Timings have a floor, noise, steps from the resolution of the clock, and a tail of disturbed samples that are
//! always too large. A mean follows the tail, a minimum follows the luckiest sample, a median or a mode of the raw
//! values can only be one of the clock's steps. [`dominant_mean`] is the answer to all four.

/// How many clock steps from the median still belong to the dominant cluster. A duration that is no multiple of the
/// step reads as one of two neighbouring multiples; one more on either side is for the noise of the reading.
const WINDOW_STEPS: f64 = 3.0;

/// How far from the median, relative to it, still belongs to the dominant cluster. Undisturbed samples scatter by less;
/// an interrupt or a busy sibling costs more.
const WINDOW_RELATIVE: f64 = 0.05;

/// The median: the middle sample, or the mean of the two middle ones. Reorders the slice; takes linear time.
///
/// NaN sorts behind infinity, as in [`f64::total_cmp`].
///
/// # Panics
///
/// If there are no samples.
///
/// ```
/// use nanobench_timer::robust::median;
///
/// assert_eq!(median(&mut [9.0, 1.0, 2.0]), 2.0);
/// assert_eq!(median(&mut [9.0, 1.0, 2.0, 3.0]), 2.5);
/// ```
#[must_use]
pub fn median(samples: &mut [f64]) -> f64 {
    assert!(!samples.is_empty(), "the median of no samples");
    let half = samples.len() / 2;
    let is_odd = samples.len() % 2 == 1;
    let (lower, &mut upper_middle, _) = samples.select_nth_unstable_by(half, f64::total_cmp);
    if is_odd {
        return upper_middle;
    }
    let lower_middle = lower.iter().copied().max_by(f64::total_cmp).unwrap_or(upper_middle);
    lower_middle.midpoint(upper_middle)
}

/// The median absolute deviation from the median: half of the samples lie within so much of it. Leaves the deviations in the slice;
/// takes linear time.
///
/// # Panics
///
/// If there are no samples.
///
/// ```
/// use nanobench_timer::robust::median_absolute_deviation;
///
/// assert_eq!(median_absolute_deviation(&mut [1.0, 2.0, 4.0, 7.0, 900.0]), 3.0);
/// ```
#[must_use]
pub fn median_absolute_deviation(samples: &mut [f64]) -> f64 {
    let median_sample = median(samples);
    for sample in samples.iter_mut() {
        *sample = (*sample - median_sample).abs();
    }
    median(samples)
}

/// Sorts in ascending order. NaN comes behind infinity, as in [`f64::total_cmp`].
///
/// ```
/// let mut samples = [9.0, 1.0, 2.0];
/// nanobench_timer::robust::sort(&mut samples);
/// assert_eq!(samples, [1.0, 2.0, 9.0]);
/// ```
pub fn sort(samples: &mut [f64]) {
    // Ticks of a coarse clock have few different values, which is what counting sorts are for. But for 512 values, 3 or 30 of them
    // different, one with a map of values took two to three times as long as the standard library's sort, which finds equal values
    // itself, and for values that are all different twelve times.
    samples.sort_unstable_by(f64::total_cmp);
}

/// The median of samples that are sorted in ascending order, in constant time.
///
/// # Panics
///
/// If there are no samples.
///
/// ```
/// use nanobench_timer::robust::median_of_sorted;
///
/// assert_eq!(median_of_sorted(&[1.0, 2.0, 3.0, 9.0]), 2.5);
/// ```
#[must_use]
pub fn median_of_sorted(sorted: &[f64]) -> f64 {
    assert!(!sorted.is_empty(), "the median of no samples");
    debug_assert!(sorted.is_sorted_by(|a, b| a.total_cmp(b).is_le()), "the samples are not sorted");
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[half] } else { sorted[half - 1].midpoint(sorted[half]) }
}

/// The half-sample mode of samples that are sorted in ascending order: the most common value, found without choosing
/// the width of a bin.
///
/// The densest half of the samples, which is the one that spans the least, is searched for its own densest half, and
/// so on, until one value or two are left; of two, it is their mean, rounded up. Of halves that are equally dense the
/// lowest is taken, because disturbances only ever make timings larger. Of three, it is the mean of the closer two,
/// or the middle one if both gaps are the same.
///
/// It withstands almost half of the samples being wrong, but on a clock with coarse steps it is one of the steps, so
/// the error can be as large as one. It needs linear time in all, since every round halves the samples.
///
/// Sources: T. Robertson and J. D. Cryer, "An iterative procedure for estimating the mode", Journal of the American
/// Statistical Association 69 (1974); D. R. Bickel, "Robust estimators of the mode and skewness of continuous data",
/// Computational Statistics & Data Analysis 39 (2002).
///
/// # Panics
///
/// If there are no samples.
///
/// ```
/// use nanobench_timer::robust::half_sample_mode;
///
/// assert_eq!(half_sample_mode(&[25, 50, 52, 52, 53, 78, 104, 9000]), 52);
/// ```
#[must_use]
pub fn half_sample_mode(sorted: &[u64]) -> u64 {
    assert!(!sorted.is_empty(), "the mode of no samples");
    debug_assert!(sorted.is_sorted(), "the samples are not sorted");
    let mut rest = sorted;
    loop {
        match *rest {
            [only] => return only,
            [low, high] => return mean_rounded_up(low, high),
            [low, middle, high] => {
                return match (middle - low).cmp(&(high - middle)) {
                    std::cmp::Ordering::Less => mean_rounded_up(low, middle),
                    std::cmp::Ordering::Equal => middle,
                    std::cmp::Ordering::Greater => mean_rounded_up(middle, high),
                };
            }
            _ => rest = densest_half(rest),
        }
    }
}

/// The first of the halves, rounded up, that span the least.
fn densest_half(sorted: &[u64]) -> &[u64] {
    let half = sorted.len().div_ceil(2);
    let spans = sorted.windows(half).map(|window| window[half - 1] - window[0]);
    let (begin, _) = spans.enumerate().min_by_key(|&(_, span)| span).unwrap_or((0, 0));
    &sorted[begin..begin + half]
}

fn mean_rounded_up(low: u64, high: u64) -> u64 {
    low + (high - low).div_ceil(2)
}

/// The mean of the dominant cluster: of the samples that lie within three clock steps of the median, or within 5 % of
/// it if that is more. Reorders the slice; takes linear time.
///
/// `step` is what the clock moves by, in the unit of the samples; zero if they are not from a clock with steps. A
/// duration of 63 ticks on a clock that moves by 26 reads as 52 or as 78, depending on where between two steps it
/// began. The mean over many such readings is 63, because the starting points are spread evenly; the median and the
/// mode are 52. Unlike an ordinary mean, this one does not see interruptions, which lie far outside the window.
///
/// The result is never NaN unless the median or the step is.
///
/// # Panics
///
/// If there are no samples.
///
/// ```
/// use nanobench_timer::robust::dominant_mean;
///
/// let mut samples = [52.0, 78.0, 52.0, 52.0, 78.0, 9854.0];
/// assert_eq!(dominant_mean(&mut samples, 26.0), 62.4);
/// ```
#[must_use]
pub fn dominant_mean(samples: &mut [f64], step: f64) -> f64 {
    let median = median(samples);
    let window = (WINDOW_STEPS * step).max(WINDOW_RELATIVE * median.abs());
    // Summing differences from the median loses no digits, however large the samples are.
    let mut sum = 0.0;
    let mut count = 0_u32;
    for sample in samples.iter() {
        let difference = sample - median;
        if difference.abs() <= window {
            sum += difference;
            count += 1;
        }
    }
    // With two far-apart middle samples, the median lies between them and may have no neighbour at all.
    if count == 0 { median } else { median + sum / f64::from(count) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_any_order_is_that_of_the_sorted() {
        let mut state = 7_u64;
        for length in 1..60 {
            let mut samples: Vec<f64> = (0..length)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (state >> 60) as f64
                })
                .collect();
            let found = median(&mut samples);
            samples.sort_unstable_by(f64::total_cmp);
            assert_eq!(found, median_of_sorted(&samples), "{samples:?}");
        }
    }

    #[test]
    #[should_panic(expected = "the median of no samples")]
    fn no_samples_have_no_median() {
        let _ = median(&mut []);
    }

    #[test]
    #[should_panic(expected = "the mode of no samples")]
    fn no_samples_have_no_mode() {
        let _ = half_sample_mode(&[]);
    }

    #[test]
    fn the_mode_of_few_samples_is_what_the_definition_says() {
        assert_eq!(half_sample_mode(&[7]), 7);
        assert_eq!(half_sample_mode(&[7, 8]), 8);
        assert_eq!(half_sample_mode(&[1, 2, 9]), 2);
        assert_eq!(half_sample_mode(&[1, 8, 9]), 9);
        assert_eq!(half_sample_mode(&[1, 5, 9]), 5);
    }

    #[test]
    fn the_mode_ignores_a_large_minority_of_outliers() {
        let mut samples = vec![100, 101, 101, 101, 102, 102];
        samples.extend([5000, 7000, 9000, 20_000]);
        assert_eq!(half_sample_mode(&samples), 101);
    }

    #[test]
    fn equally_dense_halves_give_the_lower_mode() {
        assert_eq!(half_sample_mode(&[10, 10, 10, 10, 99, 99, 99, 99]), 10);
    }

    #[test]
    fn the_mode_reaches_both_ends_of_the_range() {
        assert_eq!(half_sample_mode(&[u64::MAX - 1, u64::MAX]), u64::MAX);
        assert_eq!(half_sample_mode(&[0, u64::MAX, u64::MAX, u64::MAX]), u64::MAX);
        assert_eq!(half_sample_mode(&[0, u64::MAX]), 1 << 63);
    }

    #[test]
    fn the_mean_sees_below_the_step_of_the_clock() {
        // A duration of 63.4 ticks that begins anywhere between two steps of 26.
        let step = 26.0;
        let mut samples: Vec<f64> = (0..1000)
            .map(|i| {
                let begin = f64::from(i) * step / 1000.0;
                ((begin + 63.4) / step).floor() * step
            })
            .collect();
        let mean = dominant_mean(&mut samples, step);
        assert!((mean - 63.4).abs() < 0.05, "{mean}");
    }

    #[test]
    fn the_mean_ignores_interruptions_and_readings_that_went_backwards() {
        let mut samples = vec![1000.0; 90];
        samples.extend([1030.0, 970.0, 20_000.0, 1e9, -5e6, f64::INFINITY]);
        assert_eq!(dominant_mean(&mut samples, 1.0), 1000.0);
    }

    #[test]
    fn samples_that_mostly_read_zero_still_have_a_mean() {
        let mut samples = vec![0.0; 70];
        samples.extend(vec![1.0; 30]);
        assert!((dominant_mean(&mut samples, 1.0) - 0.3).abs() < 1e-12);
    }

    #[test]
    fn two_distant_samples_meet_in_the_middle() {
        assert_eq!(dominant_mean(&mut [10.0, 1000.0], 0.0), 505.0);
    }
}
