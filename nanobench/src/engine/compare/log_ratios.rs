//! The logarithms of the ratios of two targets, round by round, on a clock that moves in steps.

use std::cmp::Ordering;

use super::signed_rank;
use crate::stats;

/// The logarithms of how many times as long as the second the first sample of each pair took.
///
/// A pair that differs by less than a step of the clock is a tie. It says nothing about which of the two is faster, and
/// only to within a step by how much.
pub(super) struct LogRatios {
    /// Without the ties.
    untied: Vec<f64>,
    /// With each tie at the least that it can be.
    lowest: Vec<f64>,
    /// With each tie at the most that it can be.
    highest: Vec<f64>,
}

impl LogRatios {
    /// The ratios of pairs of durations in ticks of a clock that moves by `step_ticks` at a time.
    pub(super) fn new(pairs: impl IntoIterator<Item = (f64, f64)>, step_ticks: f64) -> Self {
        let (mut untied, mut spans) = (Vec::new(), Vec::new());
        for (first, second) in pairs {
            // Nothing takes less than a step, as far as the clock can tell.
            let (a, b) = (first.max(step_ticks), second.max(step_ticks));
            if (a - b).abs() < step_ticks {
                spans.push((step_ticks / a.min(b)).ln_1p());
            } else {
                untied.push((a / b).ln());
            }
        }
        let sorted = |ties: &mut dyn Iterator<Item = f64>| {
            let mut all = untied.clone();
            all.extend(ties);
            stats::sort(&mut all);
            all
        };
        Self {
            lowest: sorted(&mut spans.iter().map(|span| -span)),
            highest: sorted(&mut spans.iter().copied()),
            untied: sorted(&mut std::iter::empty()),
        }
    }

    pub(super) fn ties(&self) -> u64 {
        (self.lowest.len() - self.untied.len()) as u64
    }

    /// The middle. There has to be a pair.
    pub(super) fn middle(&self) -> f64 {
        signed_rank::pseudo_median(&self.lowest).midpoint(signed_rank::pseudo_median(&self.highest))
    }

    /// An interval that contains the middle, but for a probability of `error`; none if there are too few pairs.
    pub(super) fn interval(&self, error: f64) -> Option<(f64, f64)> {
        Some((signed_rank::lower_bound(&self.lowest, error)?, signed_rank::upper_bound(&self.highest, error)?))
    }

    /// Whether the first takes longer or less long, but for a probability of `error`; equal if that cannot be told.
    /// Ties have no say.
    pub(super) fn direction(&self, error: f64) -> Ordering {
        signed_rank::direction(&self.untied, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log_ratios(pairs: &[(f64, f64)]) -> LogRatios {
        LogRatios::new(pairs.iter().copied(), 10.0)
    }

    #[test]
    fn a_ratio_of_the_second_to_the_first_turns_the_sign() {
        let ratios = log_ratios(&[(200.0, 100.0)]);
        assert_eq!(ratios.middle(), 2.0_f64.ln());
        assert_eq!(log_ratios(&[(100.0, 200.0)]).middle(), -ratios.middle());
    }

    #[test]
    fn ties_are_counted_and_dropped_from_the_test() {
        let mut pairs = vec![(100.0, 100.0); 40];
        assert_eq!(log_ratios(&pairs).direction(0.005), Ordering::Equal);
        pairs.extend([(110.0, 100.0); 9]);
        let ratios = log_ratios(&pairs);
        assert_eq!(ratios.ties(), 40);
        assert_eq!(ratios.direction(0.005), Ordering::Greater);
        assert_eq!(ratios.direction(0.003), Ordering::Equal, "nine untied rounds say no more");
    }

    #[test]
    fn ties_are_known_to_within_a_step() {
        let (low, high) = log_ratios(&[(100.0, 100.0); 40]).interval(0.05).unwrap();
        assert!((high - 1.1_f64.ln()).abs() < 1e-9 && (low + high).abs() < 1e-9, "{low} .. {high}");
        let mixed = log_ratios(&[vec![(100.0, 100.0); 40], vec![(110.0, 100.0); 9]].concat());
        let (low, high) = mixed.interval(0.05).unwrap();
        assert!(low <= 0.0 && mixed.middle().abs() < 0.02 && high >= 0.09, "{low} .. {high}");
    }

    #[test]
    fn what_the_clock_cannot_see_counts_as_one_of_its_steps() {
        assert_eq!(log_ratios(&[(100.0, -3.0)]).middle(), 10.0_f64.ln());
        assert_eq!(log_ratios(&[(4.0, -3.0)]).ties(), 1);
    }
}
