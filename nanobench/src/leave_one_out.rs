//! Leave-one-out, as highwayhash's and Highway's nanobenchmark do it: the cost of each input of a function, with their parameters
//! and their lines of output.
//!
//! A list of inputs that is as mixed as they are is timed whole, and without some calls of one input; the difference is what these
//! calls cost among the others. Under [`#[nanobench]`](macro@crate::nanobench) the setting `estimator = "leave-one-out"` does the
//! same within the budget of a benchmark, and the default, least squares, gets narrower intervals in the same time.
//!
//! # What is different from the originals
//!
//! * Every list is shuffled afresh before every timing. A list that is replayed is learnt by the branch predictor.
//! * A list and all of its subsets are timed by turns, so that a slow change of the core clock is in both parts of a difference.
//! * Each input has a result or a [`Reason`] of its own.
//! * The variability is that of the difference, with a 95 % interval, and not that of the totals.
//! * Functions that are too fast to be timed get the longest lists, and differences are signed: nothing wraps.
//! * A single distinct input will do, and lists and samples take bounded memory: long lists and long runs end there.
//! * The cost of the loop is shown under `verbose`, and not subtracted: what overlaps does not add up.

use std::fmt::{self, Display};

use crate::black_box::{black_box, black_box_loaded};
use crate::engine::per_input;
pub use crate::engine::per_input::{InputCost, Params, Reason};
use crate::groups::{Groups, MAX_GROUPS};
use crate::machine::MachineClock;
use crate::printable::printable;
use crate::stats;
use crate::target::{Mode, NOT_CHAINED, Target, Timed, empty_loop, max_calls_of_types, time};

/// Measures what a call of `function` costs with each distinct value of `inputs`, in the company of the others.
///
/// A value that comes several times is that much more frequent. Each call gets a clone, made while the clock stands still. The
/// results are in the order in which the values first appear. How long it takes is up to `params`, not to a budget: from some
/// tens of milliseconds to a second, where the core is shared or costs are small beside the others.
///
/// # Errors
///
/// If there is nothing to measure or nothing to measure with. What goes wrong with one input is in the outcome of that input.
///
/// # Panics
///
/// If `function` does.
///
/// # Examples
///
/// Copies of 3, 4, 7 and 8 bytes, equally frequent. Lengths that foresaw branches decide upon cost more in such company than
/// over and over:
///
/// ```
/// use nanobench::black_box;
/// use nanobench::leave_one_out::Params;
///
/// let from = [7; 8];
/// let mut to = [0; 8];
/// let copy = |n: usize| to[..n].copy_from_slice(black_box(&from[..n]));
///
/// let mut params = Params::default();
/// params.max_evals = 2;
/// let costs = nanobench::measure(copy, [3, 3, 4, 4, 7, 7, 8, 8], &params)?;
/// assert_eq!(costs.len(), 4);
/// for cost in &costs {
///     println!("{cost}"); // `    3:  25.20 ticks; MAD=0.10%`
///     if let Ok(cost) = &cost.outcome {
///         assert!(cost.ticks.value > 0.0);
///     }
/// }
/// # Ok::<(), nanobench::leave_one_out::MeasureError>(())
/// ```
pub fn measure<T: Clone + PartialEq, R>(
    function: impl FnMut(T) -> R,
    inputs: impl IntoIterator<Item = T>,
    params: &Params,
) -> Result<Vec<PerInput<T>>, MeasureError> {
    let inputs: Vec<T> = inputs.into_iter().collect();
    let values = distinct(&inputs)?;
    if let Err((name, expected)) = params.check() {
        return Err(MeasureError::OutOfRange { name, expected });
    }
    let costs = on_this_machine(&mut WithInputs::new(inputs, function), params)?;
    let per_input = |(input, outcome)| PerInput { input, outcome };
    Ok(values.into_iter().zip(costs).map(per_input).collect())
}

/// Everything that does not depend on the types of the user.
fn on_this_machine(target: &mut dyn Target, params: &Params) -> Result<Vec<Result<InputCost, Reason>>, MeasureError> {
    let clock = MachineClock::new();
    if !per_input::is_usable(&crate::clock::Clock::facts(&clock)) {
        return Err(MeasureError::NoClock);
    }
    let mut log = |line: fmt::Arguments| eprintln!("{line}");
    let log: Option<per_input::Log> = if params.verbose { Some(&mut log) } else { None };
    Ok(per_input::measure(target, params, &clock, log))
}

/// The distinct values, in the order in which they first appear.
fn distinct<T: Clone + PartialEq>(inputs: &[T]) -> Result<Vec<T>, MeasureError> {
    let mut values: Vec<T> = Vec::new();
    for input in inputs {
        if !values.contains(input) {
            values.push(input.clone());
        }
        if values.len() > MAX_GROUPS {
            return Err(MeasureError::TooManyValues);
        }
    }
    if values.is_empty() { Err(MeasureError::NoInputs) } else { Ok(values) }
}

/// What a call with an input costs.
///
/// It is displayed as Highway does, or with the reason why there is nothing to display:
///
/// ```text
///     3:  25.20 ticks; MAD=0.10%
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PerInput<T> {
    /// The input.
    pub input: T,
    /// Its cost, or why it has none.
    pub outcome: Result<InputCost, Reason>,
}

impl<T: Display> Display for PerInput<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let input = printable(&self.input.to_string());
        match &self.outcome {
            Ok(InputCost { ticks, variability, .. }) => {
                write!(f, "{input:>5}: {:>6.2} ticks; MAD={:>4.2}%", ticks.value, 100.0 * variability)
            }
            Err(reason) => write!(f, "{input:>5}: {reason}"),
        }
    }
}

/// Why nothing was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MeasureError {
    /// There are no inputs.
    NoInputs,
    /// There are more than 32 distinct values.
    TooManyValues,
    /// The clock does not move, or nobody knows how fast.
    NoClock,
    /// A parameter is out of its range.
    OutOfRange {
        /// The name of the field.
        name: &'static str,
        /// What would have been right.
        expected: &'static str,
    },
}

impl Display for MeasureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoInputs => f.write_str("there are no inputs: give at least one"),
            Self::TooManyValues => write!(
                f,
                "the inputs have more than {MAX_GROUPS} distinct values: measure fewer, or group them with \
                 #[nanobench(inputs = .., by = ..)]"
            ),
            Self::NoClock => f.write_str("the clock does not move at a known speed: nothing can be timed with it"),
            Self::OutOfRange { name, expected } => write!(f, "the parameter `{name}` should be {expected}"),
        }
    }
}

impl std::error::Error for MeasureError {}

/// The costs that several measurements of the same inputs came to.
///
/// Each measurement gives every input one more duration. The median over them, and how far they lie apart, say what a single
/// measurement cannot.
///
/// ```
/// use nanobench::leave_one_out::{Durations, Params};
///
/// let mut params = Params::default();
/// params.max_evals = 1;
/// let mut durations = Durations::new([10, 40])?;
/// for _ in 0..3 {
///     durations.measure(|n| (0..n).fold(1u64, |x, n| x.wrapping_mul(x | n)), &params)?;
/// }
/// for item in durations.items() {
///     // `   10: median= 25.20 ticks; median abs. deviation= 0.100 ticks`, and the same per unit of work
///     println!("{item}, {}", item.scaled(1.0 / *item.input() as f64));
/// }
/// # Ok::<(), nanobench::leave_one_out::MeasureError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Durations<T> {
    inputs: Vec<T>,
    items: Vec<Item<T>>,
}

impl<T: Clone + PartialEq> Durations<T> {
    /// One item for each distinct value of `inputs`, which are as frequent as they come.
    ///
    /// # Errors
    ///
    /// If there are none, or too many distinct ones.
    pub fn new(inputs: impl IntoIterator<Item = T>) -> Result<Self, MeasureError> {
        let inputs: Vec<T> = inputs.into_iter().collect();
        let item = |input| Item { input, ticks: Vec::new() };
        let items = distinct(&inputs)?.into_iter().map(item).collect();
        Ok(Self { inputs, items })
    }

    /// Measures `function` with the inputs and adds to each item what was found. An input without a cost gets nothing.
    ///
    /// # Errors
    ///
    /// As for [`measure`].
    pub fn measure<R>(
        &mut self,
        function: impl FnMut(T) -> R,
        params: &Params,
    ) -> Result<Vec<PerInput<T>>, MeasureError> {
        let costs = measure(function, self.inputs.iter().cloned(), params)?;
        for (item, cost) in self.items.iter_mut().zip(&costs) {
            item.ticks.extend(cost.outcome.as_ref().map(|cost| cost.ticks.value));
        }
        Ok(costs)
    }

    /// Adds a duration that comes from elsewhere, in ticks. Answers whether there is such an input.
    pub fn add_sample(&mut self, input: &T, ticks: f64) -> bool {
        let item = self.items.iter_mut().find(|item| item.input == *input);
        item.map(|item| item.ticks.push(ticks)).is_some()
    }
}

impl<T> Durations<T> {
    /// The items, in the order in which their inputs first appeared.
    #[must_use]
    pub fn items(&self) -> &[Item<T>] {
        &self.items
    }

    /// Forgets all durations and keeps the inputs.
    pub fn clear(&mut self) {
        self.items.iter_mut().for_each(|item| item.ticks.clear());
    }
}

/// An input and its durations so far.
///
/// It is displayed as highwayhash does:
///
/// ```text
///     3: median= 25.20 ticks; median abs. deviation= 0.100 ticks
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Item<T> {
    input: T,
    ticks: Vec<f64>,
}

impl<T> Item<T> {
    /// The input.
    #[must_use]
    pub fn input(&self) -> &T {
        &self.input
    }

    /// The durations, in ticks, in the order in which they came.
    #[must_use]
    pub fn durations(&self) -> &[f64] {
        &self.ticks
    }

    /// The median, in ticks; none if there are no durations.
    #[must_use]
    pub fn median(&self) -> Option<f64> {
        (!self.ticks.is_empty()).then(|| stats::median(&mut self.ticks.clone()))
    }

    /// The median absolute deviation from the median, in ticks; none if there are no durations.
    #[must_use]
    pub fn median_absolute_deviation(&self) -> Option<f64> {
        (!self.ticks.is_empty()).then(|| stats::median_absolute_deviation(&mut self.ticks.clone()))
    }
}

impl<T: Display> Item<T> {
    /// The line that is displayed, with all ticks multiplied by `factor`: for example one over the bytes that a call works on.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> String {
        let input = printable(&self.input.to_string());
        match (self.median(), self.median_absolute_deviation()) {
            (Some(median), Some(deviation)) => {
                let (median, deviation) = (median * factor, deviation * factor);
                format!("{input:>5}: median={median:>6.2} ticks; median abs. deviation={deviation:>6.3} ticks")
            }
            _ => format!("{input:>5}: no durations"),
        }
    }
}

impl<T: Display> Display for Item<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.scaled(1.0))
    }
}

/// A closure and the inputs that it is called with.
struct WithInputs<T, F> {
    values: Vec<T>,
    groups: Groups,
    queue: Vec<T>,
    function: F,
}

impl<T: PartialEq, F> WithInputs<T, F> {
    fn new(values: Vec<T>, function: F) -> Self {
        let groups = Groups::distinct(values.len(), &|a, b| values[a] == values[b], &|input| input.to_string());
        Self { values, groups, queue: Vec::new(), function }
    }
}

impl<T: Clone, R, F: FnMut(T) -> R> Target for WithInputs<T, F> {
    fn groups(&self) -> &Groups {
        &self.groups
    }

    fn max_calls(&self) -> u64 {
        max_calls_of_types::<T, R>()
    }

    #[inline(never)]
    fn sample_after(&mut self, timed: Timed, _calls: u64, order: &[u32], gate: &mut dyn FnMut()) -> u64 {
        assert!(timed != Timed::Function(Mode::Latency), "{NOT_CHAINED}");
        self.queue.extend(order.iter().map(|&input| self.values[input as usize].clone()));
        gate();
        if timed == Timed::EmptyLoop {
            return empty_loop(&mut self.queue);
        }
        time(black_box(&mut self.queue).drain(..), |input| (self.function)(black_box_loaded(input)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measurement::{Figure, Interval};

    fn cost(ticks: f64, variability: f64) -> InputCost {
        let ticks = Figure { value: ticks, interval: Some(Interval { low: 0.9 * ticks, high: 1.1 * ticks }) };
        InputCost { ticks, nanoseconds: ticks, cycles: None, variability, spread_ticks: 1.0, samples: 9, shared: 0.0 }
    }

    #[test]
    fn costs_are_printed_as_highway_does() {
        let line = |input, ticks, variability| PerInput { input, outcome: Ok(cost(ticks, variability)) }.to_string();
        assert_eq!(line(3, 25.2, 0.001), "    3:  25.20 ticks; MAD=0.10%");
        assert_eq!(line(123_456, 12_345.678, 0.256), "123456: 12345.68 ticks; MAD=25.60%");
    }

    #[test]
    fn an_input_without_a_cost_says_why() {
        let reason = Reason::TotalNotLarger { total_ticks: 99.6, without_ticks: 107.0 };
        let failed = PerInput { input: "a\u{1b}[31m", outcome: Err(reason) };
        let expected = "a\\u{1b}[31m: measurement failed: total 100 ticks, 107 without some of the calls";
        assert_eq!(failed.to_string(), expected);
    }

    #[test]
    fn durations_are_printed_as_highwayhash_does_and_scaled() {
        let mut durations = Durations::new([3, 3, 4]).unwrap();
        for ticks in [25.1, 25.2, 25.5] {
            assert!(durations.add_sample(&3, ticks));
        }
        assert!(!durations.add_sample(&5, 1.0));
        let [three, four] = durations.items() else { panic!("{durations:?}") };
        assert_eq!(three.to_string(), "    3: median= 25.20 ticks; median abs. deviation= 0.100 ticks");
        assert_eq!(three.scaled(0.1), "    3: median=  2.52 ticks; median abs. deviation= 0.010 ticks");
        assert_eq!(four.to_string(), "    4: no durations");
        durations.clear();
        assert_eq!(durations.items()[0].median(), None);
    }

    #[test]
    fn several_measurements_accumulate() {
        let params = Params { max_evals: 1, seconds_per_eval: 1e-4, ..Params::default() };
        let mut durations = Durations::new([1_000, 2_000, 1_000]).unwrap();
        for repetition in 1..=3 {
            let costs = durations.measure(|n| (0..n).fold(1u64, |x, n| x.wrapping_mul(x | n)), &params).unwrap();
            assert_eq!(costs.iter().map(|cost| cost.input).collect::<Vec<u64>>(), [1_000, 2_000]);
            let added = durations.items().iter().zip(&costs).filter(|(item, _)| item.durations().len() == repetition);
            assert_eq!(added.count(), costs.iter().filter(|cost| cost.outcome.is_ok()).count());
        }
    }

    #[test]
    fn what_cannot_be_measured_is_refused() {
        let error = |inputs: Vec<u32>, params: Params| measure(drop::<u32>, inputs, &params).unwrap_err();
        assert_eq!(error(vec![], Params::default()), MeasureError::NoInputs);
        assert_eq!(error((0..33).collect(), Params::default()), MeasureError::TooManyValues);
        let out_of_range = [
            (Params { precision_divisor: 0, ..Params::default() }, "precision_divisor"),
            (Params { subset_ratio: 0, ..Params::default() }, "subset_ratio"),
            (Params { subset_ratio: 1_025, ..Params::default() }, "subset_ratio"),
            (Params { seconds_per_eval: f64::NAN, ..Params::default() }, "seconds_per_eval"),
            (Params { min_samples_per_eval: 0, ..Params::default() }, "min_samples_per_eval"),
            (Params { target_rel_mad: f64::NAN, ..Params::default() }, "target_rel_mad"),
            (Params { max_evals: 0, ..Params::default() }, "max_evals"),
        ];
        for (params, parameter) in out_of_range {
            assert!(matches!(error(vec![1], params), MeasureError::OutOfRange { name, .. } if name == parameter));
        }
        let message = error(vec![1], Params { max_evals: 0, ..Params::default() }).to_string();
        assert_eq!(message, "the parameter `max_evals` should be at least 1");
    }

    #[test]
    fn each_call_gets_a_clone_of_its_input() {
        let mut seen = Vec::new();
        let inputs = vec!["b".to_owned(), "a".to_owned(), "b".to_owned()];
        let mut target = WithInputs::new(inputs, |text: String| seen.push(text));
        target.sample(Mode::Throughput, 3, &[1, 0, 2]);
        assert_eq!(seen, ["a", "b", "b"]);
    }
}
