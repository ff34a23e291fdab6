//! Which complexity class the costs of an algorithm at several sizes grow by, and whether that can be told at all.
//!
//! Each class says that a call costs `constant + coefficient * f(n)`, where the constant is start-up and not negative. Three
//! things make an ordinary least-squares fit of that unfit to choose between classes, and are dealt with here:
//!
//! * **Sizes differ by powers of ten.** In seconds the largest size outweighs all others together. Errors are taken relative
//!   to the cost, as differences of logarithms, so that each size has a say.
//! * **Curves are not exact.** When the data outgrow a cache, or the branches the predictor's memory, the cost of a step rises
//!   and stays risen, by much more than the confidence interval of any point. So the logarithm of the cost is taken to wander
//!   about the curve of its class as the size grows: a local level model, whose likelihood comes from a Kalman filter (A. Harvey,
//!   *Forecasting, Structural Time Series Models and the Kalman Filter*, 1989). How far it wanders is not known and is averaged
//!   over. Innovations follow Student's t distribution, because most are small and the edge of a cache is not (K. Lange,
//!   R. Little, J. Taylor, "Robust Statistical Modeling Using the t Distribution", Journal of the American Statistical
//!   Association 84, 1989).
//! * **Something always fits best.** A class is named only if the costs are much more likely under it than under any other
//!   (R. Kass, A. Raftery, "Bayes Factors", Journal of the American Statistical Association 90, 1995), and if its curve is
//!   anywhere near them. A constant counts as one more parameter and is paid for as in the Bayesian information criterion
//!   (G. Schwarz, "Estimating the Dimension of a Model", The Annals of Statistics 6, 1978).
//!
//! # Examples
//!
//! ```
//! use nanobench::complexity::{Complexity, Point};
//!
//! // 3 ns to start, 0.5 ns for each item; each cost is known within a standard error of 1 %.
//! let points: Vec<Point> = [16.0, 128.0, 1024.0, 8192.0, 65536.0]
//!     .into_iter()
//!     .map(|n| {
//!         let cost_seconds = 3e-9 + 0.5e-9 * n;
//!         Point { n, cost_seconds, deviation_seconds: 0.01 * cost_seconds }
//!     })
//!     .collect();
//!
//! let complexity = Complexity::new(&points);
//! let best = complexity.best().expect("the lead is real");
//! assert_eq!(best.name, "O(n)");
//! assert!((best.coefficient_seconds - 0.5e-9).abs() < 0.01e-9);
//! println!("{complexity}");
//! ```

use std::fmt;

use crate::measurement::{Measurement, Outcome};
use crate::printable::printable;

/// The fewest different sizes from which a class can be told.
const MIN_SIZES: usize = 3;

/// How many times the smallest size the largest has to be.
const MIN_SPAN: f64 = 4.0;

/// How far costs are off the curve of their class, apart from all wandering, as a share: another alignment, another process.
const MODEL_DEVIATION: f64 = 0.02;

/// How far the logarithm of the cost wanders from its curve while the size grows by a factor of e, as a standard deviation.
const WANDER_DEVIATION: f64 = 0.03;

/// The multiples of both deviations that are tried and averaged over.
const SCALES: [f64; 7] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0];

/// The degrees of freedom of the innovations.
const FREEDOM: f64 = 3.0;

/// The square of an innovation, in units of its variance, from which on it is a jump of the level rather than noise.
const JUMP: f64 = 6.0;

/// By what factor a class with a constant grows over the sizes at least. A cost that grows by less is not told from one that
/// does not, because a cache can do that.
const MIN_GROWTH: f64 = 2.0;

/// The least that a step of work can cost where there is a constant beside it, in seconds. A core gets no more than some 1024
/// bits from its first-level cache in a cycle of 0.2 ns. Below that, what looks like a little work for each of very many items
/// is a cache that they have outgrown.
const MIN_STEP_SECONDS: f64 = 2e-13;

/// How much more likely, as a logarithm, the costs have to be under the best class than under one that is thereby ruled out: 150
/// times, which Kass and Raftery call very strong evidence.
const LEAD: f64 = 5.0;

/// The error, as a share, from which on a curve is nowhere near the costs.
const MAX_ERROR: f64 = 0.5;

/// What a call costs at one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The size, for example the number of items.
    pub n: f64,
    /// The cost of a call, in seconds.
    pub cost_seconds: f64,
    /// The standard error of the cost, in seconds: half the width of a 95 % interval, divided by 1.96. Zero or NaN if it is
    /// not known.
    pub deviation_seconds: f64,
}

/// How wrong a figure may be that calls itself unstable, as a standard deviation and a share.
const UNSTABLE_DEVIATION: f64 = 0.1;

impl Point {
    /// What a measurement says, per unit; none if it has no size or no cost.
    pub(crate) fn of(measurement: &Measurement) -> Option<Self> {
        let n = measurement.config()?.complexity_n?;
        let cost = measurement.nanoseconds()?;
        // Half of a 95 % interval is about two standard deviations.
        let half_width = cost.interval.map_or(f64::NAN, |interval| (interval.high - interval.low) / 2.0);
        let least = if *measurement.outcome() == Outcome::Ok { 0.0 } else { UNSTABLE_DEVIATION * cost.value };
        let deviation_seconds = (half_width / 1.96).max(least) / 1e9;
        Some(Self { n, cost_seconds: cost.value / 1e9, deviation_seconds })
    }
}

/// A complexity class: a name, and the number of steps that an input of a given size takes.
///
/// # Examples
///
/// Classes of one's own compete with those that are always there:
///
/// ```
/// use nanobench::complexity::{Class, Complexity, Point};
///
/// // Trial division, up to the root of the number.
/// let points = [100.0, 1e3, 1e4, 1e5, 1e6]
///     .map(|n: f64| Point { n, cost_seconds: 2e-9 * n.sqrt(), deviation_seconds: 0.0 });
///
/// let mut classes = Class::standard();
/// classes.push(Class::new("O(sqrt n)", f64::sqrt));
/// let complexity = Complexity::with_classes(&points, &classes);
/// assert_eq!(complexity.best().map(|fit| fit.name.as_str()), Some("O(sqrt n)"));
/// ```
pub struct Class {
    name: String,
    steps: Box<dyn Fn(f64) -> f64>,
}

impl Class {
    /// A class whose cost is proportional to `steps(n)`, apart from a constant.
    ///
    /// The function must be finite and not negative at every size, and positive at one of them: otherwise it is not fitted, and
    /// the report says so.
    pub fn new(name: impl Into<String>, steps: impl Fn(f64) -> f64 + 'static) -> Self {
        Self { name: name.into(), steps: Box::new(steps) }
    }

    /// O(1), O(log n), O(n), O(n log n), O(n²) and O(n³). Logarithms are to the base 2, and zero for sizes below 1.
    pub fn standard() -> Vec<Self> {
        fn log2(n: f64) -> f64 {
            n.log2().max(0.0)
        }
        vec![
            Self::new("O(1)", |_| 1.0),
            Self::new("O(log n)", log2),
            Self::new("O(n)", |n| n),
            Self::new("O(n log n)", |n| n * log2(n)),
            Self::new("O(n²)", |n| n * n),
            Self::new("O(n³)", |n| n * n * n),
        ]
    }
}

impl fmt::Debug for Class {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Class").field("name", &self.name).finish_non_exhaustive()
    }
}

/// How well the costs go with one class.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassFit {
    /// The name of the class.
    pub name: String,
    /// What a step costs, in seconds.
    pub coefficient_seconds: f64,
    /// What a call costs before its first step, in seconds; zero if the costs are explained as well without.
    pub constant_seconds: f64,
    /// How far the costs are off the curve, a share of 1: the root mean square of the logarithm of their ratio, weighted by how
    /// well each cost is known. 0.05 is 5 %.
    pub error: f64,
    /// The logarithm of the likelihood of the costs, up to a constant that is the same for all classes.
    evidence: f64,
    /// The ratio of the curve at the largest size to that at the smallest.
    growth: f64,
}

/// The classes in the order of how well they explain the costs at several sizes, and whether the best of them is known to be
/// the right one.
///
/// Its `Display` is a Markdown table with a sentence below it that says what can be concluded. The
/// [documentation of the module](self) says how that is done.
#[derive(Clone, Debug, PartialEq)]
pub struct Complexity {
    /// One for each class, the best first: not always that with the smallest error, because a single step at the edge of a cache
    /// speaks less against a class than a deviation that grows with the size. Empty if there are too few sizes.
    pub fits: Vec<ClassFit>,
    verdict: Verdict,
    /// How many points had no positive finite size and cost.
    left_out: usize,
    /// The names of the classes whose functions could not be fitted.
    unfit: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
enum Verdict {
    /// The sizes are too few, or too close together.
    TooFewSizes,
    /// The first class is right.
    Told,
    /// These, by name, are not told apart.
    Tied(Vec<String>),
    /// The first class is the most likely, and wrong.
    Far,
}

impl Complexity {
    /// Compares the [standard classes](Class::standard).
    ///
    /// It takes at least three different sizes, the largest at least four times the smallest. A size may have several points,
    /// and they may come in any order. Points without a positive finite size and cost are left out.
    pub fn new(points: &[Point]) -> Self {
        Self::with_classes(points, &Class::standard())
    }

    /// Compares these classes, which need not include the standard ones. A class that is compared with no other is right unless
    /// it is far off.
    pub fn with_classes(points: &[Point], classes: &[Class]) -> Self {
        let mut observations: Vec<Observation> = points.iter().filter_map(Observation::new).collect();
        let left_out = points.len() - observations.len();
        observations.sort_by(|a, b| a.n.total_cmp(&b.n));

        let mut fits = Vec::new();
        let mut unfit = Vec::new();
        if !are_enough(&observations) {
            return Self { fits, verdict: Verdict::TooFewSizes, left_out, unfit };
        }
        for class in classes {
            match Curve::new(class, &observations) {
                Some(curve) => fits.push(curve.fit(class.name.clone())),
                None => unfit.push(class.name.clone()),
            }
        }
        fits.sort_by(|a, b| b.evidence.total_cmp(&a.evidence));
        let verdict = verdict(&fits);
        Self { fits, verdict, left_out, unfit }
    }

    /// The class that the costs grow by; none if there are too few sizes, if another class explains the costs about as well, or
    /// if none comes near them.
    pub fn best(&self) -> Option<&ClassFit> {
        if self.verdict == Verdict::Told { self.fits.first() } else { None }
    }

    /// What the figures mean, in a sentence.
    fn conclusion(&self) -> String {
        match (&self.verdict, self.fits.first()) {
            (Verdict::TooFewSizes, _) => format!(
                "No class can be told from these sizes: it takes at least {MIN_SIZES} different ones, the largest at least \
                 {MIN_SPAN} times the smallest."
            ),
            (_, None) => "There is no class to compare the costs with.".to_owned(),
            (Verdict::Told, Some(best)) => {
                let name = printable(&best.name);
                if best.growth == 1.0 {
                    format!("The costs do not grow with the size: {name}.")
                } else if best.constant_seconds > 0.0 {
                    format!("The costs grow as {name}, after {:.2} ns to start.", best.constant_seconds * 1e9)
                } else {
                    format!("The costs grow as {name}.")
                }
            }
            (Verdict::Tied(names), _) => format!(
                "The costs do not tell {} apart: measure more sizes, over a larger range or more precisely.",
                listed(names)
            ),
            (Verdict::Far, Some(best)) => format!(
                "None of the classes describes the costs: the most likely, {}, is off by {:.0} %. Measure over a range of sizes \
                 that stays within one cache, or add a class.",
                printable(&best.name),
                best.error * 100.0
            ),
        }
    }
}

/// Whether a class can be told from the sizes, which are in ascending order.
fn are_enough(observations: &[Observation]) -> bool {
    let [first, .., last] = observations else { return false };
    let changes = observations.windows(2).filter(|pair| pair[0].n < pair[1].n).count();
    changes + 1 >= MIN_SIZES && last.n / first.n >= MIN_SPAN
}

fn verdict(fits: &[ClassFit]) -> Verdict {
    let Some(best) = fits.first().filter(|best| best.error <= MAX_ERROR) else { return Verdict::Far };
    // The search for the best constant ends a rounding error away from the least growth that it may find.
    let may_be_constant = best.growth.ln().abs() < MIN_GROWTH.ln() + 1e-6;
    let tied = fits.iter().filter(|fit| fit.evidence > best.evidence - LEAD || (may_be_constant && fit.growth == 1.0));
    let names: Vec<String> = tied.map(|fit| fit.name.clone()).collect();
    if names.len() == 1 { Verdict::Told } else { Verdict::Tied(names) }
}

/// A point as the fits see it.
struct Observation {
    n: f64,
    /// The logarithm of the cost in seconds.
    log_cost: f64,
    /// The standard error of that logarithm; zero if it is not known.
    deviation: f64,
}

impl Observation {
    /// None if the size or the cost has no logarithm.
    fn new(point: &Point) -> Option<Self> {
        let usable = |x: f64| x.is_finite() && x > 0.0;
        if !usable(point.n) || !usable(point.cost_seconds) {
            return None;
        }
        let is_known = point.deviation_seconds > 0.0;
        // A cost that might as well be any other has next to no weight, and its variance must stay finite.
        let deviation = if is_known { (point.deviation_seconds / point.cost_seconds).min(1e3) } else { 0.0 };
        Some(Self { n: point.n, log_cost: point.cost_seconds.ln(), deviation })
    }
}

/// The steps of one class at the sizes of the observations, least size first.
struct Curve<'a> {
    observations: &'a [Observation],
    steps: Vec<f64>,
}

impl<'a> Curve<'a> {
    /// None if these are not numbers of steps.
    fn new(class: &Class, observations: &'a [Observation]) -> Option<Self> {
        let steps: Vec<f64> = observations.iter().map(|observation| (class.steps)(observation.n)).collect();
        let are_numbers = steps.iter().all(|&steps| steps.is_finite() && steps >= 0.0);
        (are_numbers && steps.iter().any(|&steps| steps > 0.0)).then_some(Self { observations, steps })
    }

    fn fit(&self, name: String) -> ClassFit {
        let (start_steps, evidence) = self.best_start();
        let (coefficient_seconds, error) = self.coefficient_and_error(start_steps);
        let constant_seconds = if start_steps > 0.0 { start_steps * coefficient_seconds } else { 0.0 };
        let growth = (start_steps + self.steps_at_most()) / (start_steps + self.steps[0]);
        ClassFit { name, coefficient_seconds, constant_seconds, error, evidence, growth }
    }

    /// The steps at the largest size.
    fn steps_at_most(&self) -> f64 {
        self.steps[self.steps.len() - 1]
    }

    /// How many steps starting a call is worth, and the evidence for the class with that.
    fn best_start(&self) -> (f64, f64) {
        let positive = self.steps.iter().copied().filter(|&steps| steps > 0.0);
        let least = positive.fold(f64::INFINITY, f64::min) / 16.0;
        // Where there are no steps, as in the logarithm of 1, the start must be worth something.
        let smallest = if self.steps.contains(&0.0) { least } else { 0.0 };
        let without = (smallest, self.log_likelihood(smallest));
        match self.best_positive_start(least) {
            Some((start_steps, likelihood)) => {
                let price = 0.5 * (self.observations.len() as f64).ln();
                if likelihood - price > without.1 { (start_steps, likelihood - price) } else { without }
            }
            None => without,
        }
    }

    /// The most likely number of steps that a start is worth, from `least` on, and its likelihood: searched over powers of two,
    /// then by golden sections.
    fn best_positive_start(&self, least: f64) -> Option<(f64, f64)> {
        let most = (self.steps_at_most() - MIN_GROWTH * self.steps[0]) / (MIN_GROWTH - 1.0);
        if least >= most {
            return None;
        }
        let likelihood = |log_start: f64| {
            let start_steps = log_start.exp();
            if self.coefficient_and_error(start_steps).0 < MIN_STEP_SECONDS {
                f64::NEG_INFINITY
            } else {
                self.log_likelihood(start_steps)
            }
        };
        let (least, most) = (least.ln(), most.ln());
        let intervals = ((most - least) / std::f64::consts::LN_2).ceil();
        let spacing = (most - least) / intervals;
        let nodes = (0..=intervals as u32).map(|node| least + spacing * f64::from(node));
        let best = nodes.map(|node| (node, likelihood(node))).max_by(|a, b| a.1.total_cmp(&b.1))?;
        let refined = golden_maximum((best.0 - spacing).max(least), (best.0 + spacing).min(most), likelihood);
        let (log_start, likelihood) = if refined.1 > best.1 { refined } else { best };
        Some((log_start.exp(), likelihood))
    }

    /// The logarithm of the cost in units of the curve's, at each size.
    fn log_ratios(&self, start_steps: f64) -> impl Iterator<Item = f64> {
        self.observations
            .iter()
            .zip(&self.steps)
            .map(move |(observation, steps)| observation.log_cost - (start_steps + steps).ln())
    }

    /// The weighted mean of the logarithmic ratios as a factor, and their weighted standard deviation.
    fn coefficient_and_error(&self, start_steps: f64) -> (f64, f64) {
        let weights = self
            .observations
            .iter()
            .map(|observation| (MODEL_DEVIATION.powi(2) + observation.deviation.powi(2)).recip());
        let weighted: Vec<(f64, f64)> = weights.zip(self.log_ratios(start_steps)).collect();
        let total: f64 = weighted.iter().map(|(weight, _)| weight).sum();
        let mean = weighted.iter().map(|(weight, ratio)| weight * ratio).sum::<f64>() / total;
        let variance = weighted.iter().map(|(weight, ratio)| weight * (ratio - mean).powi(2)).sum::<f64>() / total;
        (mean.exp(), variance.sqrt())
    }

    /// The logarithm of the likelihood of the costs, averaged over how far they wander.
    fn log_likelihood(&self, start_steps: f64) -> f64 {
        let ratios: Vec<f64> = self.log_ratios(start_steps).collect();
        let each = SCALES.map(|scale| log_likelihood(self.observations, &ratios, scale));
        let largest = each.into_iter().fold(f64::NEG_INFINITY, f64::max);
        largest + (each.iter().map(|log| (log - largest).exp()).sum::<f64>() / each.len() as f64).ln()
    }
}

/// The logarithm of the likelihood of levels that wander from a common unknown one by `scale` times what is usual.
fn log_likelihood(observations: &[Observation], levels: &[f64], scale: f64) -> f64 {
    let noise = |observation: &Observation| (scale * MODEL_DEVIATION).powi(2) + observation.deviation.powi(2);
    let mut level = levels[0];
    let mut variance = noise(&observations[0]);
    let mut sum = 0.0;
    for (pair, &observed) in observations.windows(2).zip(&levels[1..]) {
        let noise = noise(&pair[1]);
        variance += (scale * WANDER_DEVIATION).powi(2) * (pair[1].n.ln() - pair[0].n.ln());
        let total = variance + noise;
        let innovation = observed - level;
        let square = innovation * innovation / total;
        sum -= 0.5 * total.ln() + 0.5 * (FREEDOM + 1.0) * (square / FREEDOM).ln_1p();
        // The level goes along with a jump, so that the edge of a cache counts once and not at every size beyond it.
        variance += total * (square / JUMP - 1.0).max(0.0);
        let gain = variance / (variance + noise);
        level += gain * innovation;
        variance *= 1.0 - gain;
    }
    sum
}

/// Where `function`, which has one maximum between `low` and `high`, has it, and its value there.
///
/// Source: J. Kiefer, "Sequential Minimax Search for a Maximum", Proceedings of the American Mathematical Society 4, 1953.
fn golden_maximum(mut low: f64, mut high: f64, function: impl Fn(f64) -> f64) -> (f64, f64) {
    const SHARE: f64 = 0.618_033_988_749_894_9;
    let evaluated = |x: f64| (x, function(x));
    let mut left = evaluated(high - SHARE * (high - low));
    let mut right = evaluated(low + SHARE * (high - low));
    for _ in 0..40 {
        if left.1 < right.1 {
            low = left.0;
            left = right;
            right = evaluated(low + SHARE * (high - low));
        } else {
            high = right.0;
            right = left;
            left = evaluated(high - SHARE * (high - low));
        }
    }
    if left.1 < right.1 { right } else { left }
}

impl fmt::Display for Complexity {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if !self.fits.is_empty() {
            writeln!(f, "|   coefficient |   err% | complexity")?;
            writeln!(f, "|--------------:|-------:|------------")?;
            for ClassFit { name, coefficient_seconds, error, .. } in &self.fits {
                let coefficient = scientific(*coefficient_seconds);
                writeln!(f, "|{coefficient:>14} |{:>6.1}% | {}", error * 100.0, printable(name).replace('|', "\\|"))?;
            }
            writeln!(f)?;
        }
        f.write_str(&self.conclusion())?;
        match self.left_out {
            0 => {}
            1 => f.write_str(" 1 point without a positive size and cost was left out.")?,
            count => write!(f, " {count} points without a positive size and cost were left out.")?,
        }
        if !self.unfit.is_empty() {
            let names = listed(&self.unfit);
            write!(f, " Not fitted, for not being a positive number of steps at these sizes: {names}.")?;
        }
        Ok(())
    }
}

/// A number with two digits of exponent at least, as C's `printf` writes it.
fn scientific(number: f64) -> String {
    let text = format!("{number:.7e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
    format!("{mantissa}e{sign}{digits:0>2}")
}

/// The names as part of a sentence.
fn listed(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| printable(name)).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// Sizes that are evenly spaced on a logarithmic scale.
    fn sizes(first: f64, last: f64, count: u32) -> Vec<f64> {
        let growth = (last / first).ln() / f64::from(count - 1);
        (0..count).map(|index| (first * (growth * f64::from(index)).exp()).round()).collect()
    }

    /// Points on a curve.
    fn exact(sizes: &[f64], cost_ns: impl Fn(f64) -> f64) -> Vec<Point> {
        sizes.iter().map(|&n| Point { n, cost_seconds: cost_ns(n) * 1e-9, deviation_seconds: 0.0 }).collect()
    }

    /// Points around a curve, off by so much as a standard deviation and share; some series know by how much.
    fn noisy(sizes: &[f64], noise: f64, rng: &mut Rng, cost_ns: impl Fn(f64) -> f64) -> Vec<Point> {
        let is_known = rng.bounded(2) == 0;
        let mut points = exact(sizes, cost_ns);
        for point in &mut points {
            let radius = (-2.0 * (1.0 - rng.uniform01()).ln()).sqrt();
            point.cost_seconds *= (noise * radius * (std::f64::consts::TAU * rng.uniform01()).cos()).exp();
            point.deviation_seconds = if is_known { noise * point.cost_seconds } else { 0.0 };
        }
        points
    }

    /// How many of 100 series, with a standard deviation of 1 to 3 %, are named what they are.
    fn named(
        class: &str,
        sizes: &[f64],
        seed: u64,
        mut cost_ns: impl FnMut(f64, &mut Rng) -> Box<dyn Fn(f64) -> f64>,
    ) -> u32 {
        let mut rng = Rng::new(seed);
        let mut right = 0;
        for _ in 0..100 {
            let start_ns = 2.0 + 4.0 * rng.uniform01();
            let curve = cost_ns(start_ns, &mut rng);
            let noise = 0.01 + 0.02 * rng.uniform01();
            let complexity = Complexity::new(&noisy(sizes, noise, &mut rng, curve));
            right += u32::from(complexity.best().is_some_and(|best| best.name == class));
        }
        right
    }

    fn steps(class: &str) -> Box<dyn Fn(f64) -> f64> {
        Class::standard().into_iter().find(|standard| standard.name == class).expect("it is a standard class").steps
    }

    const STANDARD: [&str; 6] = ["O(1)", "O(log n)", "O(n)", "O(n log n)", "O(n²)", "O(n³)"];

    fn best_name(points: &[Point]) -> Option<String> {
        Complexity::new(points).best().map(|best| best.name.clone())
    }

    #[test]
    fn costs_of_each_class_are_named_despite_noise_and_a_start_up_cost() {
        for (class, seed) in STANDARD.into_iter().zip(1..) {
            let right = named(class, &sizes(10.0, 1e5, 9), seed, |start_ns, rng| {
                let (steps, step_ns) = (steps(class), 1.0 + 2.0 * rng.uniform01());
                Box::new(move |n| start_ns + step_ns * steps(n))
            });
            assert!(right >= 99, "{class}: {right}");
        }
    }

    #[test]
    fn the_edges_of_caches_do_not_change_the_class() {
        let one_edge: &[(f64, f64)] = &[(1e5, 1.5)];
        let three_edges: &[(f64, f64)] = &[(4e3, 1.2), (5e4, 1.3), (2e6, 1.6)];
        for (sizes, edges) in [(sizes(10.0, 1e6, 11), one_edge), (sizes(16.0, 16e6, 25), three_edges)] {
            for (class, seed) in STANDARD.into_iter().zip(1..).skip(1) {
                let right = named(class, &sizes, seed, |start_ns, rng| {
                    let (steps, step_ns) = (steps(class), 1.0 + 2.0 * rng.uniform01());
                    Box::new(move |n| {
                        let slower: f64 =
                            edges.iter().filter(|(edge, _)| n > *edge).map(|(_, factor)| factor).product();
                        (start_ns + step_ns * steps(n)) * slower
                    })
                });
                assert!(right >= 99, "{class} with {edges:?}: {right}");
            }
        }
    }

    #[test]
    fn a_binary_search_is_logarithmic_although_its_last_steps_miss_the_caches() {
        for (cached_steps, seed) in [(14.0, 1), (16.0, 2)] {
            let right = named("O(log n)", &sizes(16.0, 1_048_576.0, 17), seed, |_, _| {
                Box::new(move |n| {
                    let beyond = (n.log2() - cached_steps).max(0.0) / (20.0 - cached_steps);
                    1.0 + n.log2() + 39.0 * beyond.powf(1.2)
                })
            });
            assert!(right >= 99, "{cached_steps}: {right}");
        }
    }

    #[test]
    fn a_hash_lookup_that_outgrows_the_caches_is_not_called_linear() {
        let curves: [fn(f64) -> f64; 3] = [
            |n| 5.0 + 55.0 * n / (n + 5e5),
            |n| 6.0 + 4.0 * n / (n + 1e4) + 60.0 * n / (n + 2e6),
            |n| 5.0 + 2.0 * n / (n + 4e3) + 8.0 * n / (n + 1e5) + 90.0 * n / (n + 4e6),
        ];
        let mut rng = Rng::new(1);
        for curve in curves.into_iter().flat_map(|curve| [curve; 100]) {
            for count in [5, 13] {
                let best = best_name(&noisy(&sizes(10.0, 4e6, count), 0.02, &mut rng, curve));
                assert!(best.as_deref().is_none_or(|name| name == "O(1)"), "{best:?}");
            }
        }
    }

    #[test]
    fn what_a_cache_explains_as_well_is_not_called_logarithmic() {
        let complexity = Complexity::new(&exact(&sizes(100.0, 1e5, 16), |n| 6.0 + 0.6 * n.log2()));
        assert_eq!(complexity.best(), None);
        assert!(complexity.to_string().contains("do not tell O(log n) and O(1) apart"), "{complexity}");
    }

    #[test]
    fn neighbours_are_not_told_apart_by_noisy_costs_of_few_sizes() {
        for class in ["O(n)", "O(n log n)"] {
            let mut rng = Rng::new(1);
            let named = (0..100).filter(|_| {
                let points = noisy(&sizes(1000.0, 4000.0, 8), 0.1, &mut rng, steps(class));
                best_name(&points).is_some()
            });
            assert!(named.count() <= 1, "{class}");
        }
    }

    #[test]
    fn a_wrong_class_is_hardly_ever_named_even_from_few_and_bad_points() {
        for (class, seed) in STANDARD.into_iter().zip(1..) {
            let mut rng = Rng::new(seed);
            let mut wrong = 0;
            for round in 0..300 {
                let (count, noise) = (3 + round % 6, [0.03, 0.1, 0.2][round as usize / 100]);
                let (steps, step_ns) = (steps(class), 0.3 + 2.0 * rng.uniform01());
                let points = noisy(&sizes(10.0, 1e4, count), noise, &mut rng, |n| 4.0 + step_ns * steps(n));
                wrong += u32::from(best_name(&points).is_some_and(|name| name != class));
            }
            assert!(wrong <= 6, "{class}: {wrong}");
        }
    }

    #[test]
    fn costs_between_the_classes_get_no_name() {
        let complexity = Complexity::new(&exact(&sizes(10.0, 1e5, 9), |n| n.powf(1.5)));
        assert_eq!(complexity.best(), None);
        assert!(complexity.to_string().contains("None of the classes"), "{complexity}");
    }

    #[test]
    fn exact_costs_have_no_error_and_the_right_coefficient() {
        for class in STANDARD {
            let steps = steps(class);
            let complexity = Complexity::new(&exact(&sizes(10.0, 1e5, 9), |n| 5.08935 * steps(n)));
            let best = complexity.best().expect("there is no doubt");
            assert_eq!(best.name, class);
            assert!((best.coefficient_seconds / 5.08935e-9 - 1.0).abs() < 1e-12, "{best:?}");
            assert_eq!(best.constant_seconds, 0.0);
            assert!(best.error < 1e-12, "{best:?}");
            let row = format!("\n| 5.0893500e-09 |   0.0% | {class}\n");
            assert!(complexity.to_string().contains(&row), "{complexity}");
            let verb = if class == "O(1)" { "do not grow with the size:" } else { "grow as" };
            assert!(complexity.to_string().ends_with(&format!("\nThe costs {verb} {class}.")), "{complexity}");
        }
    }

    #[test]
    fn a_start_up_cost_is_found() {
        let complexity = Complexity::new(&exact(&sizes(16.0, 65536.0, 13), |n| 20.0 + 0.02 * n));
        let best = complexity.best().expect("there is no doubt");
        assert!((best.constant_seconds / 20e-9 - 1.0).abs() < 1e-3, "{best:?}");
        assert!((best.coefficient_seconds / 0.02e-9 - 1.0).abs() < 1e-3, "{best:?}");
        assert!(complexity.to_string().ends_with("\nThe costs grow as O(n), after 20.00 ns to start."), "{complexity}");
    }

    #[test]
    fn one_item_takes_no_logarithmic_steps_but_costs_something() {
        let complexity = Complexity::new(&exact(&[1.0, 8.0, 64.0, 512.0, 4096.0, 32768.0], |n| 3.0 + 2.0 * n.log2()));
        let best = complexity.best().expect("there is no doubt");
        assert_eq!(best.name, "O(log n)");
        assert!((best.constant_seconds / 3e-9 - 1.0).abs() < 1e-3, "{best:?}");
    }

    #[test]
    fn an_uncertain_cost_has_little_weight() {
        let mut points = exact(&sizes(10.0, 1e5, 9), |n| 3.0 * n);
        points[8].cost_seconds *= 3.0;
        points[8].deviation_seconds = f64::INFINITY;
        let complexity = Complexity::new(&points);
        let best = complexity.best().expect("the other points leave no doubt");
        assert_eq!(best.name, "O(n)");
        assert!((best.coefficient_seconds / 3e-9 - 1.0).abs() < 1e-6, "{best:?}");
    }

    #[test]
    fn neither_order_nor_repetition_of_the_points_matters() {
        let sorted = exact(&sizes(10.0, 1e5, 9), |n| 3.0 * n);
        let mut shuffled = [sorted.clone(), sorted.clone()].concat();
        Rng::new(1).shuffle(&mut shuffled);
        assert_eq!(best_name(&sorted).as_deref(), Some("O(n)"));
        assert_eq!(best_name(&shuffled).as_deref(), Some("O(n)"));
    }

    #[test]
    fn too_few_sizes_tell_nothing_and_say_so() {
        let series: [&[f64]; 5] = [&[], &[10.0], &[10.0, 1e6], &[100.0; 20], &[100.0, 200.0, 300.0, 399.0]];
        for sizes in series {
            let complexity = Complexity::new(&exact(sizes, |n| n));
            assert!(complexity.fits.is_empty() && complexity.best().is_none());
            assert_eq!(
                complexity.to_string(),
                "No class can be told from these sizes: it takes at least 3 different ones, the largest at least 4 times the \
                 smallest."
            );
        }
    }

    #[test]
    fn points_that_have_no_logarithm_are_left_out_and_counted() {
        let mut points = exact(&sizes(10.0, 1e5, 9), |n| 3.0 * n);
        let bad =
            [(0.0, 1.0), (-5.0, 1.0), (5.0, 0.0), (5.0, -1.0), (f64::NAN, 1.0), (5.0, f64::NAN), (5.0, f64::INFINITY)];
        points.extend(bad.map(|(n, cost_seconds)| Point { n, cost_seconds, deviation_seconds: 0.0 }));
        let complexity = Complexity::new(&points);
        assert_eq!(complexity.fits, Complexity::new(&points[..9]).fits);
        assert!(
            complexity.to_string().ends_with("O(n). 7 points without a positive size and cost were left out."),
            "{complexity}"
        );
    }

    #[test]
    fn no_points_whatever_lead_to_figures_that_are_not_numbers() {
        const VALUES: [f64; 12] =
            [0.0, -1.0, 1e-320, 1e-300, 1e-9, 0.5, 1.0, 1000.0, 1e100, 1e308, f64::INFINITY, f64::NAN];
        let mut rng = Rng::new(1);
        for _ in 0..2000 {
            let mut value = || VALUES[rng.bounded(12) as usize];
            let points = [(); 8].map(|()| Point { n: value(), cost_seconds: value(), deviation_seconds: value() });
            for fit in Complexity::new(&points).fits {
                let figures = [fit.coefficient_seconds, fit.constant_seconds, fit.error, fit.evidence, fit.growth];
                assert!(!figures.iter().any(|figure| figure.is_nan()), "{fit:?} of {points:?}");
            }
        }
    }

    #[test]
    fn a_class_of_ones_own_competes_and_one_that_cannot_be_fitted_is_named() {
        let points = exact(&sizes(10.0, 1e6, 11), |n| 4.0 * n.sqrt());
        let mut classes = Class::standard();
        classes.push(Class::new("O(sqrt n)", f64::sqrt));
        classes.push(Class::new("O(n!)", |n| if n < 171.0 { n } else { f64::INFINITY }));
        let complexity = Complexity::with_classes(&points, &classes);
        assert_eq!(complexity.best().expect("there is no doubt").name, "O(sqrt n)");
        assert_eq!(complexity.fits.len(), 7);
        assert!(
            complexity.to_string().ends_with(
                "The costs grow as O(sqrt n). Not fitted, for not being a positive number of steps at these sizes: O(n!)."
            ),
            "{complexity}"
        );
        assert_eq!(Complexity::with_classes(&points, &[]).to_string(), "There is no class to compare the costs with.");
    }

    #[test]
    fn a_broken_name_cannot_break_the_table() {
        let classes = [Class::new("a|b\u{1b}[2J\n", |n| n)];
        let complexity = Complexity::with_classes(&exact(&[1.0, 10.0, 100.0], |n| 250.0 * n), &classes);
        assert_eq!(
            complexity.to_string(),
            "|   coefficient |   err% | complexity\n\
             |--------------:|-------:|------------\n\
             | 2.5000000e-07 |   0.0% | a\\|b\\u{1b}[2J\\u{a}\n\n\
             The costs grow as a|b\\u{1b}[2J\\u{a}."
        );
    }

    #[test]
    fn exponents_have_two_digits() {
        let numbers = [5.08935e-9, 1.0, 2.5e12, 1e-300];
        let texts = ["5.0893500e-09", "1.0000000e+00", "2.5000000e+12", "1.0000000e-300"];
        assert_eq!(numbers.map(scientific), texts);
    }
}
