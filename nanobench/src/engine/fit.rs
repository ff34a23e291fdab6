//! Robust least squares: the cost of a call of each group, from samples that mix them.
//!
//! The model is `duration = clock + sum(count of the group x cost of the group)`. The clock's part is nearly known beforehand,
//! which is what makes samples of a single call useful; it enters as one more observation with an error of its own.
//!
//! * **Weights.** Disturbances make samples slower, sometimes a hundred times. Tukey's bisquare gives samples far from the
//!   fit no weight at all (Beaton and Tukey, "The Fitting of Power Series", Technometrics 16, 1974; iterated as in Holland
//!   and Welsch, "Robust Regression Using Iteratively Reweighted Least-Squares", 1977), with Huber's monotone weights for
//!   the first steps so that the iteration starts near the right solution. The scale is the median absolute residual, but
//!   never less than the clock's step makes plausible.
//! * **Size.** A sample counts in inverse proportion to its calls, so that the result is the mean over calls, whenever they were
//!   made. With equal weights it would follow the larger samples, which are those of the faster periods.
//! * **Speed of an epoch.** The core clock wanders while a benchmark runs. A residual is judged against its own epoch's speed, so
//!   that samples from fast and slow epochs keep equal weights.
//! * **Interval.** Samples within an epoch are not independent, so the variance is computed from the epochs' contributions to
//!   the estimating equations (the cluster version of Huber's sandwich). Where there are many epochs, successive ones are drawn
//!   together in batches, since they are not independent either: a predictor that has learnt something keeps it for a while. What
//!   counts are the differences of successive batches (von Neumann, "Distribution of the Ratio of the Mean Square Successive
//!   Difference to the Variance", 1941), since a drift of the clock is not an error of the mean cost over the run. Student's t allows
//!   for the small number of batches.

use crate::stats;

/// Where the bisquare weight becomes zero, in standard deviations: 95 % efficiency on normal errors.
const BISQUARE_CUTOFF: f64 = 4.685;

/// Where Huber's weight starts to fall, in standard deviations: also 95 % efficiency.
const HUBER_CUTOFF: f64 = 1.345;

/// Steps with Huber's weights, of a fit without a solution to start from.
const HUBER_STEPS: usize = 4;

/// The most steps with the bisquare.
const BISQUARE_STEPS: usize = 12;

/// The iteration ends when no cost moves by more than this share of itself.
const TOLERANCE: f64 = 1e-6;

/// How far an epoch may plausibly be from the speed that its core clock and that of the others say; what is slower is a
/// disturbance.
const MAX_SPEED_DEVIATION: f64 = 0.05;

/// How many samples of an epoch the prior belief that its speed is that of its core clock is worth.
const SPEED_PRIOR_SAMPLES: f64 = 4.0;

/// How sure it is that the clock has no part in a difference, in steps of the clock.
const CANCELLED_DEVIATION: f64 = 1e-3;

/// The least scale of the residuals, in steps of the clock.
const LEAST_STEPS: f64 = 0.5;

/// The same where samples are shorter than so many steps. All those of one size then read as one of two multiples of the step, and
/// weights that tell these apart would follow the one that is seen more often.
const SHORT_STEPS: f64 = 10.0;
const LEAST_STEPS_OF_SHORT: f64 = 2.0;

/// How many steps of the clock a sample should last to say how much it is off.
const MIN_RATIO_STEPS: f64 = 100.0;

/// Into how many batches of successive epochs a run is divided at least, where it has so many, to find its variance. What is not the
/// same for a while, such as what a predictor has learnt, is then part of the interval unless it changes as slowly as the run is long.
/// With fewer batches than this the variance is so uncertain that measuring ends when it happens to be small.
const MIN_BATCHES: usize = 36;

/// How wrong the metronome is in a whole process, as a standard deviation and a share: chains of known cost came out with a
/// spread between processes that the readings within one do not show.
const METRONOME_DEVIATION: f64 = 0.0008;

/// The samples that a fit is made of, epoch by epoch. The costs come out in the unit of the durations, ticks of the clock.
#[derive(Clone, Debug)]
pub(crate) struct Samples {
    groups: usize,
    /// Calls of each group, sample after sample.
    counts: Vec<f64>,
    pub(super) durations: Vec<f64>,
    /// For each epoch, the end of its samples.
    epoch_ends: Vec<usize>,
    /// For each epoch, the ticks of the clock in a core cycle.
    pub(super) ticks_per_cycle: Vec<f64>,
}

impl Samples {
    pub(crate) fn new(groups: usize) -> Self {
        Self { groups, counts: Vec::new(), durations: Vec::new(), epoch_ends: Vec::new(), ticks_per_cycle: Vec::new() }
    }

    /// Adds a sample to the epoch that is under way.
    pub(crate) fn push(&mut self, counts: &[u64], duration: f64) {
        debug_assert_eq!(counts.len(), self.groups);
        self.counts.extend(counts.iter().map(|&count| count as f64));
        self.durations.push(duration);
    }

    /// Ends an epoch in which a core cycle took so many ticks.
    pub(crate) fn end_epoch(&mut self, ticks_per_cycle: f64) {
        self.epoch_ends.push(self.durations.len());
        self.ticks_per_cycle.push(ticks_per_cycle);
    }

    /// The same samples with all groups taken as one.
    pub(crate) fn merged(&self) -> Self {
        Self {
            groups: 1,
            counts: self.counts.chunks(self.groups).map(|counts| counts.iter().sum()).collect(),
            durations: self.durations.clone(),
            epoch_ends: self.epoch_ends.clone(),
            ticks_per_cycle: self.ticks_per_cycle.clone(),
        }
    }

    /// For each epoch, by how much a core cycle took longer than on average.
    fn tempi(&self) -> Vec<f64> {
        let epochs = || self.epoch_ranges().zip(&self.ticks_per_cycle);
        let mean = epochs().map(|(epoch, ticks)| epoch.len() as f64 * ticks).sum::<f64>() / self.len() as f64;
        epochs().map(|(_, ticks)| ticks / mean).collect()
    }

    fn len(&self) -> usize {
        self.durations.len()
    }

    /// The calls of each group in a sample.
    pub(super) fn sample(&self, index: usize) -> &[f64] {
        &self.counts[index * self.groups..(index + 1) * self.groups]
    }

    pub(super) fn epoch_ranges(&self) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        let starts = std::iter::once(0).chain(self.epoch_ends.iter().copied());
        starts.zip(&self.epoch_ends).map(|(start, &end)| start..end)
    }
}

/// What is known of the clock before the first sample, and of the calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClockPrior {
    /// What the clock should add to a sample.
    pub(crate) cost: f64,
    /// By how much that may be wrong, as a standard deviation.
    pub(crate) deviation: f64,
    /// The smallest amount by which the clock moves.
    pub(crate) step: f64,
    /// How far samples may lie from the fit without having been disturbed, as a standard deviation and a share of the typical
    /// one; 0 leaves it to the samples.
    pub(crate) spread: f64,
}

impl ClockPrior {
    /// What is known of the difference of two samples that are alike in what happens once in a sample: the clock's cost has
    /// cancelled, and its step is in both.
    pub(super) fn of_difference(self) -> Self {
        let step = std::f64::consts::SQRT_2 * self.step;
        Self { cost: 0.0, deviation: CANCELLED_DEVIATION * step.max(1.0), step, ..self }
    }
}

/// A solution: the cost of each group, and what is needed to tell how sure it is.
#[derive(Clone, Debug)]
pub(crate) struct Fit {
    /// The cost of a call of each group, then the clock's part of a sample.
    coefficients: Vec<f64>,
    /// For each epoch, by how much it moved the coefficients away from what the other epochs say.
    influences: Vec<Vec<f64>>,
    /// The variance of the coefficients that the clock's step alone would leave.
    step_covariance: Matrix,
    /// For each coefficient, the deviation that an error of the prior causes.
    prior_deviations: Vec<f64>,
    /// The share of the samples that took so much longer than the others that they have no weight.
    pub(crate) disturbed: f64,
}

/// The tempo of an epoch, and how much the epoch weighs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tempo {
    /// Ticks of the clock in a core cycle.
    pub(crate) ticks_per_cycle: f64,
    /// The same as it was read in this epoch alone: how far the readings lie apart says how sure they are.
    pub(crate) reading: f64,
    /// How many samples of the epoch count.
    pub(crate) samples: f64,
}

/// Ticks of the clock in a core cycle, on average over the samples.
pub(crate) fn mean_ticks_per_cycle(epochs: &[Tempo]) -> f64 {
    let samples: f64 = epochs.iter().map(|epoch| epoch.samples).sum();
    epochs.iter().map(|epoch| epoch.samples * epoch.ticks_per_cycle).sum::<f64>() / samples
}

/// A linear combination of costs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Estimate {
    /// Cost of a call.
    pub(crate) cost: f64,
    /// For each epoch, by how much it moved the cost away from what the other epochs say.
    influences: Vec<f64>,
    /// The variance that the clock's step alone would leave.
    step_variance: f64,
    /// The variance that comes from not knowing the clock's part exactly.
    prior_variance: f64,
}

impl Estimate {
    /// A cost about which nothing is uncertain, over so many epochs.
    pub(super) fn exact(cost: f64, epochs: usize) -> Self {
        Self { cost, influences: vec![0.0; epochs], step_variance: 0.0, prior_variance: 0.0 }
    }

    /// Half of the width of the 95 % interval; none if there are too few epochs or samples to tell.
    pub(crate) fn half_width(&self) -> Option<f64> {
        if self.influences.len() < 2 {
            return None;
        }
        // The epochs show the effect of the step too, more or less by luck. Much less means that they are in step with the clock.
        let batches = stats::sums_of_batches(&self.influences, MIN_BATCHES);
        let seen = stats::variance_of_sum(&batches);
        let variance = seen.max(self.step_variance / 2.0) + self.prior_variance;
        let half_width = stats::student_t_95(stats::freedom_of_differences(batches.len())) * variance.sqrt();
        half_width.is_finite().then_some(half_width)
    }

    /// What each epoch by itself says.
    fn by_epoch(&self) -> Vec<f64> {
        let epochs = self.influences.len() as f64;
        self.influences.iter().map(|influence| self.cost + epochs * influence).collect()
    }

    /// How far the epochs lie apart: the median absolute percentage error, a share of 1; none if there is only one.
    pub(crate) fn mdape(&self) -> Option<f64> {
        let by_epoch = self.by_epoch();
        (by_epoch.len() > 1).then(|| stats::mdape(&by_epoch))
    }

    /// The same cost less a known part of it.
    pub(crate) fn minus(self, known: f64) -> Self {
        Self { cost: self.cost - known, ..self }
    }

    /// A cost in ticks, in core cycles: the ratio of two means over the same epochs, so that a drift of the core clock, which
    /// is in both, leaves the ratio alone.
    pub(crate) fn in_cycles(&self, epochs: &[Tempo]) -> Self {
        let samples: f64 = epochs.iter().map(|epoch| epoch.samples).sum();
        let ticks_per_cycle = mean_ticks_per_cycle(epochs);
        let cycles = self.cost / ticks_per_cycle;
        let influence = |(influence, epoch): (&f64, &Tempo)| {
            let tempo_influence = (epoch.reading - ticks_per_cycle) * epoch.samples / samples;
            (influence - cycles * tempo_influence) / ticks_per_cycle
        };
        Self {
            cost: cycles,
            influences: self.influences.iter().zip(epochs).map(influence).collect(),
            step_variance: self.step_variance / ticks_per_cycle.powi(2),
            prior_variance: self.prior_variance / ticks_per_cycle.powi(2) + (METRONOME_DEVIATION * cycles).powi(2),
        }
    }
}

impl Fit {
    /// Fits the costs to the samples, starting at `previous` where there is one.
    ///
    /// Returns `None` if the samples cannot tell the groups apart.
    pub(crate) fn new(samples: &Samples, prior: &ClockPrior, previous: Option<&Self>) -> Option<Self> {
        let mut robust = Robust::new(samples, prior);
        match previous {
            Some(previous) => robust.coefficients.clone_from(&previous.coefficients),
            None => {
                robust.solve()?;
                for _ in 0..HUBER_STEPS {
                    robust.reweigh(|u| (HUBER_CUTOFF / u.abs()).min(1.0));
                    robust.solve()?;
                }
            }
        }
        for _ in 0..BISQUARE_STEPS {
            robust.reweigh(bisquare);
            let before = robust.coefficients.clone();
            robust.solve()?;
            let moved = |(new, old): (&f64, &f64)| (new - old).abs() > TOLERANCE * old.abs();
            if !robust.coefficients[..samples.groups].iter().zip(&before).any(moved) {
                break;
            }
        }
        robust.finish()
    }

    /// Puts the fits of single costs together: first those of the groups, then, as two more coefficients, the clock's part of a
    /// sample and the cost of the mix, as `mix` says them. All of them have to be of the same epochs.
    pub(super) fn joined(groups: &[Self], mix: &Self) -> Self {
        let parts = || groups.iter().map(|fit| (fit, 0)).chain([(mix, 1), (mix, 0)]);
        let mut step_covariance = Matrix::zero(groups.len() + 2);
        for (row, (fit, coefficient)) in parts().enumerate() {
            step_covariance.add(row, row, fit.step_covariance.at(coefficient, coefficient));
        }
        let influences = |epoch: usize| parts().map(|(fit, coefficient)| fit.influences[epoch][coefficient]).collect();
        Self {
            coefficients: parts().map(|(fit, coefficient)| fit.coefficients[coefficient]).collect(),
            influences: (0..mix.influences.len()).map(influences).collect(),
            step_covariance,
            prior_deviations: parts().map(|(fit, coefficient)| fit.prior_deviations[coefficient]).collect(),
            disturbed: mix.disturbed,
        }
    }

    /// By how much each sample took longer than the costs say, with the core as fast as on average. Where a sample should have
    /// taken less than a few steps of the clock, that says nothing, and there is nothing.
    pub(crate) fn ratios(&self, samples: &Samples, step: f64) -> Vec<f64> {
        let clock = self.coefficients[samples.groups];
        let epochs = samples.epoch_ranges().zip(samples.tempi());
        let ratio = |index: usize, tempo: f64| {
            let expected = dot(samples.sample(index), &self.coefficients);
            (expected >= MIN_RATIO_STEPS * step).then(|| (samples.durations[index] - clock) / (tempo * expected))
        };
        epochs.flat_map(|(epoch, tempo)| epoch.filter_map(move |index| ratio(index, tempo))).collect()
    }

    /// The combination of the groups' costs with the given weights.
    pub(crate) fn estimate(&self, weights: &[f64]) -> Estimate {
        Estimate {
            cost: dot(weights, &self.coefficients),
            influences: self.influences.iter().map(|influence| dot(weights, influence)).collect(),
            step_variance: self.step_covariance.quadratic_form(weights),
            prior_variance: dot(weights, &self.prior_deviations).powi(2),
        }
    }
}

fn bisquare(u: f64) -> f64 {
    let ratio = u / BISQUARE_CUTOFF;
    if ratio.abs() < 1.0 { (1.0 - ratio * ratio).powi(2) } else { 0.0 }
}

/// The derivative of `u * bisquare(u)`.
fn bisquare_slope(u: f64) -> f64 {
    let square = (u / BISQUARE_CUTOFF).powi(2);
    if square < 1.0 { (1.0 - square) * (1.0 - 5.0 * square) } else { 0.0 }
}

/// The state of the iteration.
struct Robust<'a> {
    samples: &'a Samples,
    prior: &'a ClockPrior,
    coefficients: Vec<f64>,
    /// The mean number of calls in a sample over that of each sample.
    sizes: Vec<f64>,
    /// The weights in the sums of squares: `sizes` times the robust weights.
    weights: Vec<f64>,
    /// Residuals against the speed of their epoch, for the mean size of a sample and in units of `scale`.
    deviations: Vec<f64>,
    scale: f64,
}

impl<'a> Robust<'a> {
    fn new(samples: &'a Samples, prior: &'a ClockPrior) -> Self {
        let mean_calls = samples.counts.iter().sum::<f64>() / samples.len() as f64;
        let sizes: Vec<f64> =
            samples.counts.chunks(samples.groups).map(|counts| mean_calls / counts.iter().sum::<f64>()).collect();
        Self {
            samples,
            prior,
            coefficients: vec![0.0; samples.groups + 1],
            weights: sizes.clone(),
            sizes,
            deviations: vec![0.0; samples.len()],
            // Before there are residuals, the clock's step is all that is known of their size.
            scale: prior.step.max(1.0),
        }
    }

    /// The information that the samples and the prior hold, in units of one over the variance.
    fn information(&self) -> Matrix {
        let size = self.samples.groups + 1;
        let mut information = Matrix::zero(size);
        for (index, &weight) in self.weights.iter().enumerate() {
            if weight > 0.0 {
                information.add_square(self.samples.sample(index), weight);
            }
        }
        information.scale(self.scale.powi(-2));
        information.add(size - 1, size - 1, self.prior.deviation.powi(-2));
        information
    }

    /// Least squares with the weights of now.
    fn solve(&mut self) -> Option<()> {
        let clock = self.samples.groups;
        let mut moments = vec![0.0; clock + 1];
        for (index, (&weight, &duration)) in self.weights.iter().zip(&self.samples.durations).enumerate() {
            add_scaled(&mut moments, self.samples.sample(index), weight * duration);
            moments[clock] += weight * duration;
        }
        for moment in &mut moments {
            *moment *= self.scale.powi(-2);
        }
        moments[clock] += self.prior.cost * self.prior.deviation.powi(-2);
        self.coefficients = self.information().inverse()?.times(&moments);
        Some(())
    }

    /// Computes residuals, their scale, and the weights that follow from them.
    fn reweigh(&mut self, weight: fn(f64) -> f64) {
        let clock = self.coefficients[self.samples.groups];
        let predicted: Vec<f64> =
            (0..self.samples.len()).map(|index| dot(self.samples.sample(index), &self.coefficients)).collect();
        let weighted_squares = predicted.iter().zip(&self.sizes).map(|(duration, size)| size * duration * duration);
        let typical_square = weighted_squares.sum::<f64>() / predicted.len() as f64;
        let prior_square = SPEED_PRIOR_SAMPLES * typical_square;
        for (epoch, tempo) in self.samples.epoch_ranges().zip(self.samples.tempi()) {
            let (mut product, mut square) = (tempo * prior_square, prior_square);
            for index in epoch.clone() {
                product += self.weights[index] * predicted[index] * (self.samples.durations[index] - clock);
                square += self.weights[index] * predicted[index] * predicted[index];
            }
            // What waits for memory does not follow the core clock.
            let slowest = tempo.max(1.0) * (1.0 + MAX_SPEED_DEVIATION);
            let speed = (product / square).clamp(tempo.min(1.0) * (1.0 - MAX_SPEED_DEVIATION), slowest);
            let speed = if speed.is_nan() { tempo } else { speed };
            for index in epoch {
                let residual = self.samples.durations[index] - clock - speed * predicted[index];
                self.deviations[index] = residual * self.sizes[index].sqrt();
            }
        }
        let mut absolute: Vec<f64> = self.deviations.iter().map(|deviation| deviation.abs()).collect();
        let deviation = stats::MAD_TO_DEVIATION * stats::median(&mut absolute);
        let typical = typical_square.sqrt();
        let least_steps = if typical < SHORT_STEPS * self.prior.step { LEAST_STEPS_OF_SHORT } else { LEAST_STEPS };
        self.scale = deviation.max(least_steps * self.prior.step).max(self.prior.spread * typical);
        for (index, deviation) in self.deviations.iter_mut().enumerate() {
            *deviation /= self.scale;
            self.weights[index] = self.sizes[index] * weight(*deviation);
        }
    }

    fn finish(self) -> Option<Fit> {
        let size = self.samples.groups + 1;
        let inverse = self.information().inverse()?;
        let samples = self.weights.iter().filter(|&&weight| weight > 0.0).count() as f64;
        let degrees_left = samples - size as f64;
        // As few samples as coefficients fit anything, so nothing is known of the errors.
        let small_sample = if degrees_left > 0.0 { ((samples - 1.0) / degrees_left).sqrt() } else { f64::NAN };
        // The response of the estimate to a small error of a sample falls off faster than its weight (Huber, "Robust
        // Statistics", 1981, section 7.6).
        let sum_over_samples = |value: fn(f64) -> f64| {
            self.deviations.iter().zip(&self.sizes).map(|(&deviation, size)| size * value(deviation)).sum::<f64>()
        };
        let response = sum_over_samples(bisquare_slope) / sum_over_samples(bisquare);
        let scale = small_sample / (response * self.scale.powi(2));
        let influences = self
            .samples
            .epoch_ranges()
            .map(|epoch| {
                let mut score = vec![0.0; size];
                for index in epoch {
                    let counts = self.samples.sample(index);
                    let fitted = dot(counts, &self.coefficients) + self.coefficients[size - 1];
                    let residual = self.weights[index] * (self.samples.durations[index] - fitted);
                    add_scaled(&mut score, counts, residual);
                    score[size - 1] += residual;
                }
                let mut influence = inverse.times(&score);
                influence.iter_mut().for_each(|value| *value *= scale);
                influence
            })
            .collect();
        let is_disturbed = |(&weight, &deviation): (&f64, &f64)| weight == 0.0 && deviation > 0.0;
        let disturbed = self.weights.iter().zip(&self.deviations).filter(|&both| is_disturbed(both)).count();
        let disturbed = disturbed as f64 / self.samples.len() as f64;
        // The error of a reading that falls anywhere within a step, at the start and at the end of a sample.
        let step_variance = self.prior.step.powi(2) / 6.0;
        let mut step_covariance = inverse.clone();
        step_covariance.scale((step_variance / self.scale.powi(2)).min(1.0));
        let prior_deviations = (0..size).map(|row| inverse.at(row, size - 1) / self.prior.deviation).collect();
        Some(Fit { coefficients: self.coefficients, influences, step_covariance, prior_deviations, disturbed })
    }
}

/// A small symmetric matrix.
#[derive(Clone, Debug)]
struct Matrix {
    size: usize,
    entries: Vec<f64>,
}

impl Matrix {
    fn zero(size: usize) -> Self {
        Self { size, entries: vec![0.0; size * size] }
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        self.entries[row * self.size + column]
    }

    fn add(&mut self, row: usize, column: usize, value: f64) {
        self.entries[row * self.size + column] += value;
    }

    fn scale(&mut self, factor: f64) {
        self.entries.iter_mut().for_each(|entry| *entry *= factor);
    }

    /// Adds `weight` times the product of the vector (`counts`, 1) with itself.
    fn add_square(&mut self, counts: &[f64], weight: f64) {
        let last = self.size - 1;
        for (row, &count) in counts.iter().enumerate() {
            let weighted = weight * count;
            add_scaled(&mut self.entries[row * self.size..][..last], counts, weighted);
            self.add(row, last, weighted);
            self.add(last, row, weighted);
        }
        self.add(last, last, weight);
    }

    fn times(&self, vector: &[f64]) -> Vec<f64> {
        self.entries.chunks(self.size).map(|row| dot(row, vector)).collect()
    }

    /// `vector`, filled up with zeros, times the matrix times the vector.
    fn quadratic_form(&self, vector: &[f64]) -> f64 {
        self.entries.chunks(self.size).zip(vector).map(|(row, &factor)| factor * dot(vector, row)).sum()
    }

    /// The inverse of a positive definite matrix, by way of its Cholesky factor, or `None` if it is not one within the
    /// precision of floating point.
    fn inverse(&self) -> Option<Self> {
        let size = self.size;
        let mut factor = Self::zero(size);
        for row in 0..size {
            for column in 0..=row {
                let inner: f64 = (0..column).map(|k| factor.at(row, k) * factor.at(column, k)).sum();
                let rest = self.at(row, column) - inner;
                if row == column {
                    // The comparison is false also for what is not a number.
                    let is_positive = rest > 1e-12 * self.at(row, row);
                    if !is_positive {
                        return None;
                    }
                    factor.add(row, row, rest.sqrt());
                } else {
                    factor.add(row, column, rest / factor.at(column, column));
                }
            }
        }
        let mut inverse = Self::zero(size);
        for column in 0..size {
            let mut solution = vec![0.0; size];
            for row in 0..size {
                let unit = f64::from(u8::from(row == column));
                let inner: f64 = (0..row).map(|k| factor.at(row, k) * solution[k]).sum();
                solution[row] = (unit - inner) / factor.at(row, row);
            }
            for row in (0..size).rev() {
                let inner: f64 = (row + 1..size).map(|k| factor.at(k, row) * solution[k]).sum();
                solution[row] = (solution[row] - inner) / factor.at(row, row);
            }
            for (row, value) in solution.into_iter().enumerate() {
                inverse.add(row, column, value);
            }
        }
        Some(inverse)
    }
}

/// The sum of products of two vectors, as far as the shorter one reaches.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add_scaled(sum: &mut [f64], vector: &[f64], factor: f64) {
    for (sum, value) in sum.iter_mut().zip(vector) {
        *sum += factor * value;
    }
}
