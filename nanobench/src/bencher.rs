//! `Bencher`: what a function under the attribute is given that prepares something before it measures.

use crate::amounts::{Amounts, Counted};
use crate::closure::{Plain, WithInput, WithInputRef};
use crate::target::{Target, Visit, WithAmounts};

/// Measures a closure within a function under [`#[nanobench]`](macro@crate::nanobench) that has a state to prepare.
///
/// The function takes it as its first parameter and hands it a closure, once. What the function does before is not timed.
///
/// ```
/// use nanobench::{Bencher, black_box, nanobench};
///
/// #[nanobench(args = [16, 1_024])]
/// fn binary_search(bencher: Bencher, length: u64) {
///     let numbers: Vec<u64> = (0..length).collect();
///     let mut next = 0;
///     bencher.bytes(8.0).run(|| {
///         next = (next + 7) % length;
///         black_box(&numbers).binary_search(&next)
///     });
/// }
/// ```
#[must_use = "nothing is measured before `run`, `run_values` or `run_refs`"]
pub struct Bencher<'a> {
    visit: Visit<'a>,
    amounts: Vec<Amounts>,
}

/// Calls `function` with a bencher that shows the target to `visit`.
///
/// # Panics
///
/// If the function drops the bencher without measuring anything.
pub(crate) fn visit(function: impl Fn(Bencher), visit: Visit) {
    let mut has_run = false;
    let mut noting = |target: &mut dyn Target| {
        has_run = true;
        visit(target);
    };
    function(Bencher { visit: &mut noting, amounts: Vec::new() });
    assert!(has_run, "the function measured nothing: call `run`, `run_values` or `run_refs` of the bencher");
}

impl<'a> Bencher<'a> {
    /// Says how many bytes a call works on, for a column of bytes per second.
    pub fn bytes(self, bytes_per_call: f64) -> Self {
        self.counted(Counted::Bytes, bytes_per_call)
    }

    /// Says how many items a call works on, for a column of items per second.
    pub fn items(self, items_per_call: f64) -> Self {
        self.counted(Counted::Items, items_per_call)
    }

    /// Says how many characters a call works on, for a column of characters per second.
    pub fn chars(self, chars_per_call: f64) -> Self {
        self.counted(Counted::Chars, chars_per_call)
    }

    fn counted(mut self, counted: Counted, amount: f64) -> Self {
        self.amounts.push(Amounts { counted, per_input: vec![amount] });
        self
    }

    /// Measures what a call of `function` costs; see [`Bench::run`](crate::Bench::run).
    pub fn run<R>(self, function: impl FnMut() -> R) {
        self.visit(&mut Plain::new(function));
    }

    /// Has an input made by `make` for each call, while the clock stands still; see
    /// [`Bench::with_inputs`](crate::Bench::with_inputs).
    pub fn with_inputs<X, M: FnMut() -> X>(self, make: M) -> BencherWithInputs<'a, M> {
        BencherWithInputs { bencher: self, make }
    }

    fn visit(self, target: &mut dyn Target) {
        (self.visit)(&mut WithAmounts { inner: target, amounts: self.amounts });
    }
}

/// A [`Bencher`] that makes inputs.
#[must_use = "nothing is measured before `run_values` or `run_refs`"]
pub struct BencherWithInputs<'a, M> {
    bencher: Bencher<'a>,
    make: M,
}

impl<X, M: FnMut() -> X> BencherWithInputs<'_, M> {
    /// Measures what a call of `function` costs, which is given the input. What it returns is dropped outside the timed region.
    pub fn run_values<R>(self, function: impl FnMut(X) -> R) {
        self.bencher.visit(&mut WithInput::new(self.make, function));
    }

    /// Measures what a call of `function` costs, which is lent the input. Inputs are dropped outside the timed region.
    pub fn run_refs<R>(self, function: impl FnMut(&mut X) -> R) {
        self.bencher.visit(&mut WithInputRef::new(self.make, function));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Mode;

    #[test]
    fn a_function_prepares_once_and_its_closure_is_called_as_often_as_asked() {
        let (mut prepared, mut calls) = (0, 0);
        let function = std::cell::RefCell::new(|bencher: Bencher| {
            prepared += 1;
            bencher.bytes(3.0).run(|| calls += 1);
        });
        visit(|bencher| function.borrow_mut()(bencher), &mut |target| {
            assert_eq!(target.amounts(), [Amounts { counted: Counted::Bytes, per_input: vec![3.0] }]);
            target.sample(Mode::Throughput, 5, &[]);
            target.sample(Mode::Throughput, 2, &[]);
        });
        let _ = function.into_inner();
        assert_eq!((prepared, calls), (1, 7));
    }

    #[test]
    fn inputs_are_made_for_each_call() {
        let mut seen = Vec::new();
        let mut next = 0;
        let make = || {
            next += 1;
            next
        };
        let function = std::cell::RefCell::new(Some(|bencher: Bencher| {
            bencher.with_inputs(make).run_values(|input| seen.push(input));
        }));
        visit(|bencher| function.borrow_mut().take().expect("called once")(bencher), &mut |target| {
            target.sample(Mode::Throughput, 3, &[]);
        });
        assert_eq!(seen, [1, 2, 3]);
    }

    #[test]
    #[should_panic(expected = "the function measured nothing")]
    fn a_bencher_that_is_dropped_is_an_error() {
        visit(|_bencher| (), &mut |_| ());
    }
}
