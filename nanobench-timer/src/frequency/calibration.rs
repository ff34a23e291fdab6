//! Measures how fast the clock ticks by comparing it with the operating system's.
//!
//! One comparison reads the counter, the operating system's clock and the counter again; the operating system's
//! reading belongs to some moment between the two ticks. An interruption in between widens the bracket, so of several
//! comparisons the one with the tightest bracket is kept. Such comparisons are collected all along the calibration,
//! and a straight line is fitted to those whose brackets are tight: its slope is the frequency, and the scatter about
//! it gives the error. Taking the largest or smallest of a few end-to-end quotients instead would select the luckiest
//! error.

use std::hint;
use std::time::Duration;

use crate::{os_clock, robust, start, stop};

/// So many comparisons are made at the beginning of a calibration, ...
const FIRST_POINTS: u32 = 8;
/// ... so many are spread over the rest of it, ...
const POINTS: u32 = 48;
/// ... each the tightest of so many.
const TRIES_PER_POINT: usize = 10;
/// Comparisons whose bracket is wider than the median bracket by this factor are left out.
const MAX_RELATIVE_WIDTH: f64 = 1.5;

/// One moment, as the counter and the operating system's clock see it.
///
/// Two of them that lie far apart refine a calibrated frequency: see [`Frequency::refined`](crate::Frequency::refined).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockPair {
    ticks_before: u64,
    ticks_after: u64,
    nanoseconds: u64,
}

impl ClockPair {
    /// Reads both clocks now, several times, and keeps the readings that are closest together. Takes a few microseconds
    /// where both clocks are cheap.
    #[must_use]
    pub fn now() -> Self {
        Self::tightest_of(TRIES_PER_POINT)
    }

    #[cfg(test)]
    pub(crate) const fn new(ticks_before: u64, ticks_after: u64, nanoseconds: u64) -> Self {
        Self { ticks_before, ticks_after, nanoseconds }
    }

    fn tightest_of(tries: usize) -> Self {
        let mut best = Self::once();
        for _ in 1..tries {
            let next = Self::once();
            if next.width_ticks() < best.width_ticks() {
                best = next;
            }
        }
        best
    }

    fn once() -> Self {
        let ticks_before = start();
        let nanoseconds = os_clock::raw_ns();
        let ticks_after = stop();
        Self { ticks_before, ticks_after, nanoseconds }
    }

    /// How far the two readings of the counter lie apart. A bracket that is turned inside out, by a move between CPUs
    /// whose counters disagree, counts as infinitely wide.
    fn width_ticks(&self) -> f64 {
        let width = signed_difference(self.ticks_after, self.ticks_before);
        if width < 0.0 { f64::INFINITY } else { width }
    }

    /// Ticks from the middle of `origin` to the middle of this one.
    fn ticks_since(&self, origin: &Self) -> f64 {
        let before = signed_difference(self.ticks_before, origin.ticks_before);
        let after = signed_difference(self.ticks_after, origin.ticks_after);
        (before + after) / 2.0
    }

    fn nanoseconds_since(&self, origin: &Self) -> f64 {
        signed_difference(self.nanoseconds, origin.nanoseconds)
    }
}

fn signed_difference(later: u64, earlier: u64) -> f64 {
    later.wrapping_sub(earlier) as i64 as f64
}

/// A measured frequency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Calibration {
    pub(crate) ticks_per_second: f64,
    /// Twice the standard error, relative, in parts per million.
    pub(crate) error_ppm: f64,
}

impl Calibration {
    /// The frequency between two comparisons. Nothing averages their errors out, so the error is the worst case: the
    /// operating system's clock was read at opposite ends of the two brackets.
    pub(crate) fn between(begin: &ClockPair, end: &ClockPair) -> Option<Self> {
        let ticks = end.ticks_since(begin);
        let nanoseconds = end.nanoseconds_since(begin);
        let ticks_per_second = ticks / nanoseconds * 1e9;
        let error_ppm = (begin.width_ticks() + end.width_ticks()) / 2.0 / ticks * 1e6;
        (ticks > 0.0 && nanoseconds > 0.0).then_some(Self { ticks_per_second, error_ppm })
    }

    /// The least-squares line through the comparisons with tight brackets. `None` if there are fewer than three of
    /// them or one of the clocks stands still.
    fn fit(pairs: &[ClockPair]) -> Option<Self> {
        let tight = tight_pairs(pairs);
        let origin = tight.first()?;
        let count = tight.len() as f64;
        if tight.len() < 3 {
            return None;
        }
        let x: Vec<f64> = tight.iter().map(|pair| pair.nanoseconds_since(origin)).collect();
        let y: Vec<f64> = tight.iter().map(|pair| pair.ticks_since(origin)).collect();
        let x_mean = x.iter().sum::<f64>() / count;
        let y_mean = y.iter().sum::<f64>() / count;
        let x_squares: f64 = x.iter().map(|x| (x - x_mean).powi(2)).sum();
        let products: f64 = x.iter().zip(&y).map(|(x, y)| (x - x_mean) * (y - y_mean)).sum();
        let slope = products / x_squares;
        if !(slope.is_finite() && slope > 0.0) {
            return None;
        }
        let residual_squares: f64 = x.iter().zip(&y).map(|(x, y)| (y - y_mean - slope * (x - x_mean)).powi(2)).sum();
        let residual_variance = residual_squares / (count - 2.0);
        // A few residuals can be small by luck. Not knowing where within its bracket a reading belongs is the same as
        // an error that is uniform over the bracket, whose variance is a twelfth of the square of its width; nor can
        // a reading be better than one tick and one nanosecond.
        let resolution = tight.iter().map(|pair| pair.width_ticks().powi(2)).sum::<f64>() / count + 1.0 + slope.powi(2);
        let variance = residual_variance.max(resolution / 12.0) / x_squares;
        Some(Self { ticks_per_second: slope * 1e9, error_ppm: 2e6 * variance.sqrt() / slope })
    }
}

/// Those whose brackets are not much wider than the median bracket: at least half of them, in the original order.
fn tight_pairs(pairs: &[ClockPair]) -> Vec<ClockPair> {
    let mut widths: Vec<f64> = pairs.iter().map(ClockPair::width_ticks).collect();
    robust::sort(&mut widths);
    let Some(&median) = widths.get(widths.len() / 2) else {
        return Vec::new();
    };
    let widest = median * MAX_RELATIVE_WIDTH;
    pairs.iter().filter(|pair| pair.width_ticks().is_finite() && pair.width_ticks() <= widest).copied().collect()
}

/// A calibration in progress.
///
/// Only the distance between the first and the last comparison matters, so whatever else needs time can be done after
/// [`begin`](Self::begin), and the calibration will have been going on meanwhile.
pub(crate) struct Calibrator {
    begin_ns: u64,
    pairs: Vec<ClockPair>,
}

impl Calibrator {
    pub(crate) fn begin() -> Self {
        let begin_ns = os_clock::now_ns();
        Self { begin_ns, pairs: (0..FIRST_POINTS).map(|_| ClockPair::now()).collect() }
    }

    /// Goes on comparing until `duration` has passed since the beginning, or for a moment if it has, without giving
    /// up the CPU. A longer one can follow, and makes use of what has been seen before.
    pub(crate) fn run_until(&mut self, duration: Duration) -> Option<Calibration> {
        let duration_ns = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        let elapsed_ns = self.elapsed_ns();
        let distance_ns = duration_ns.saturating_sub(elapsed_ns) / u64::from(POINTS);
        for point in 1..=u64::from(POINTS) {
            while self.elapsed_ns() < elapsed_ns + distance_ns * point {
                hint::spin_loop();
            }
            self.pairs.push(ClockPair::now());
        }
        Calibration::fit(&self.pairs)
    }

    fn elapsed_ns(&self) -> u64 {
        os_clock::now_ns() - self.begin_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A counter of `hertz` that was read `width` ticks after and before the operating system's clock.
    fn pair(hertz: f64, nanoseconds: u64, width: u64) -> ClockPair {
        let middle = (nanoseconds as f64 * hertz / 1e9) as u64 + 1_000_000;
        ClockPair::new(middle - width, middle + width, nanoseconds)
    }

    #[test]
    fn a_perfect_counter_is_found_to_a_fraction_of_a_ppm() {
        let pairs: Vec<_> = (0..48).map(|i| pair(2_445_426_000.0, i * 400_000, 30)).collect();
        let calibration = Calibration::fit(&pairs).unwrap();
        assert!((calibration.ticks_per_second / 2_445_426_000.0 - 1.0).abs() < 1e-7, "{calibration:?}");
        assert!(calibration.error_ppm > 0.0 && calibration.error_ppm < 2.0, "{calibration:?}");
    }

    #[test]
    fn interrupted_comparisons_do_not_count() {
        let mut pairs: Vec<_> = (0..48).map(|i| pair(1e9, i * 400_000, 30)).collect();
        for interrupted in pairs.iter_mut().skip(24).step_by(3) {
            interrupted.ticks_after += 50_000;
        }
        let calibration = Calibration::fit(&pairs).unwrap();
        assert!((calibration.ticks_per_second / 1e9 - 1.0).abs() < 1e-7, "{calibration:?}");
    }

    #[test]
    fn the_stated_error_covers_the_true_one() {
        // Readings that belong to random places within their brackets; 19 of 20 intervals should hold the truth.
        let mut state = 1_u64;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 33
        };
        let runs = 500;
        let mut covered = 0;
        for _ in 0..runs {
            let pairs: Vec<_> = (0..48_u64)
                .map(|i| {
                    let before = 1000 + i * 800_000 - random() % 101;
                    ClockPair::new(before, before + 100, i * 400_000)
                })
                .collect();
            let calibration = Calibration::fit(&pairs).unwrap();
            let error_ppm = (calibration.ticks_per_second / 2e9 - 1.0).abs() * 1e6;
            covered += usize::from(error_ppm <= calibration.error_ppm);
        }
        assert!(covered * 100 >= runs * 93, "{covered} of {runs}");
    }

    #[test]
    fn a_slow_counter_is_found_within_its_stated_error() {
        let pairs: Vec<_> = (0..48).map(|i| pair(24e6, i * 400_000 + i * i % 37, 0)).collect();
        let calibration = Calibration::fit(&pairs).unwrap();
        let error_ppm = (calibration.ticks_per_second / 24e6 - 1.0).abs() * 1e6;
        assert!(error_ppm <= calibration.error_ppm, "{calibration:?}");
    }

    #[test]
    fn a_clock_that_stands_still_gives_nothing() {
        assert_eq!(Calibration::fit(&[ClockPair::new(5, 5, 7); 10]), None);
        let frozen_counter: Vec<_> = (0..10).map(|i| ClockPair::new(5, 5, i * 1000)).collect();
        assert_eq!(Calibration::fit(&frozen_counter), None);
        assert_eq!(Calibration::fit(&[]), None);
    }

    #[test]
    fn a_bracket_turned_inside_out_is_ignored() {
        let mut pairs: Vec<_> = (0..48).map(|i| pair(1e9, i * 400_000, 30)).collect();
        pairs[20].ticks_after = pairs[20].ticks_before - 1_000_000;
        let calibration = Calibration::fit(&pairs).unwrap();
        assert!((calibration.ticks_per_second / 1e9 - 1.0).abs() < 1e-7, "{calibration:?}");
    }

    #[test]
    fn a_counter_that_wraps_is_no_obstacle() {
        let pairs: Vec<_> = (0..48_u64)
            .map(|i| {
                let middle = u64::MAX.wrapping_sub(10_000_000).wrapping_add(i * 400_000);
                ClockPair::new(middle.wrapping_sub(30), middle.wrapping_add(30), i * 400_000)
            })
            .collect();
        let calibration = Calibration::fit(&pairs).unwrap();
        assert!((calibration.ticks_per_second / 1e9 - 1.0).abs() < 1e-7, "{calibration:?}");
    }
}
