//! What the engine can time, and the small generic code that is compiled into the user's crate to be timed.
//!
//! Everything here that depends on the user's types is compiled anew for each benchmark, so it holds the sampling loop and
//! the handling of inputs and nothing else.

use std::fmt::{Debug, Display};
use std::mem::{needs_drop, size_of};

use crate::black_box::{black_box, black_box_loaded};
use crate::groups::Groups;

/// Something that can be called many times in a row while a clock runs.
pub trait Target {
    /// The inputs, as far as the engine has to know them.
    fn groups(&self) -> &Groups;

    /// The most calls that one sample may make: inputs and results wait in memory, and a sample that overflowed the caches
    /// would measure them instead.
    fn max_calls(&self) -> u64;

    /// Makes `calls` calls and returns the ticks from before the first to after the last, the cost of reading the clock
    /// included.
    ///
    /// `order` holds the position of the input of each call; it is empty for a function without inputs.
    fn sample(&mut self, calls: u64, order: &[u32]) -> u64;
}

/// Memory that the queued inputs and results of a sample may take, in bytes: well within a second-level cache.
const QUEUE_BYTES: usize = 64 * 1024;

/// The most calls in a sample whose inputs or results own something, since what they own takes memory too.
const MAX_OWNING_CALLS: u64 = 256;

/// Times one call of `call` for each item of `items`.
///
/// Results that need dropping are kept until the clock has stopped. Never inlined, so that every sample of a benchmark
/// runs the same instructions at the same address.
#[inline(never)]
fn time<I: Iterator, R>(items: I, mut call: impl FnMut(I::Item) -> R) -> u64 {
    // An argument of this size arrives in memory and would be updated there with each item; a variable is kept in registers.
    let mut items = items;
    if needs_drop::<R>() {
        // The optimiser is told of the buffer before the clock starts, so that no store to it can be put off until after
        // the clock has stopped.
        let mut results = black_box(Vec::with_capacity(items.size_hint().0));
        let start = nanobench_timer::start();
        results.extend(items.by_ref().map(call));
        let stop = nanobench_timer::stop();
        black_box(&results);
        stop.wrapping_sub(start)
    } else {
        let start = nanobench_timer::start();
        for item in items.by_ref() {
            black_box(call(item));
        }
        let stop = nanobench_timer::stop();
        stop.wrapping_sub(start)
    }
}

/// The most calls in a sample of inputs of type `T` and results of type `R`.
fn max_calls<T, R>() -> u64 {
    let queued = size_of::<T>() + if needs_drop::<R>() { size_of::<R>() } else { 0 };
    let by_size = if queued == 0 { u64::MAX } else { (QUEUE_BYTES / queued).max(1) as u64 };
    if needs_drop::<T>() || needs_drop::<R>() { by_size.min(MAX_OWNING_CALLS) } else { by_size }
}

/// A function without inputs.
struct Plain {
    sample: Box<dyn Fn(u64) -> u64>,
    max_calls: u64,
}

impl Target for Plain {
    fn groups(&self) -> &Groups {
        &Groups::NoInputs
    }

    fn max_calls(&self) -> u64 {
        self.max_calls
    }

    fn sample(&mut self, calls: u64, _order: &[u32]) -> u64 {
        (self.sample)(calls)
    }
}

/// Makes a target of a function without inputs.
pub fn plain<R>(function: impl Fn() -> R + 'static) -> Box<dyn Target> {
    boxed_plain(Box::new(move |calls| time(0..calls, |_| function())), max_calls::<(), R>())
}

fn boxed_plain(sample: Box<dyn Fn(u64) -> u64>, max_calls: u64) -> Box<dyn Target> {
    Box::new(Plain { sample, max_calls })
}

/// The inputs of a benchmark on their way to becoming a target: first the values, then their groups, then the function.
pub struct Inputs<T> {
    values: Vec<T>,
    groups: Option<Groups>,
}

impl<T> Inputs<T> {
    /// Takes the inputs. A value that comes several times is that much more frequent.
    ///
    /// # Panics
    ///
    /// If there are none.
    pub fn new(values: impl IntoIterator<Item = T>) -> Self {
        let values: Vec<T> = values.into_iter().collect();
        assert!(!values.is_empty(), "`inputs` is empty: a benchmark needs at least one input");
        Self { values, groups: None }
    }

    /// Groups the inputs by a label.
    pub fn by<L: Display>(mut self, label: impl Fn(&T) -> L) -> Self {
        self.groups = Some(Groups::labelled(self.values.len(), &|input| label(&self.values[input]).to_string()));
        self
    }
}

impl<T: Clone + PartialEq + Debug + 'static> Inputs<T> {
    /// Makes a target of a function that takes its input by value; it gets a clone, made while the clock stands still.
    pub fn by_value<R>(self, function: impl Fn(T) -> R + 'static) -> Box<dyn Target> {
        let (values, groups) = self.grouped();
        let mut queue = Vec::new();
        boxed_with_inputs(
            groups,
            max_calls::<T, R>(),
            Box::new(move |order| {
                queue.extend(order.iter().map(|&input| values[input as usize].clone()));
                time(black_box(&mut queue).drain(..), |input| function(black_box_loaded(input)))
            }),
        )
    }

    /// Makes a target of a function that takes its input by reference, perhaps as what the input borrows as: `&str` for
    /// inputs of type `String`.
    pub fn by_reference<B: ?Sized, R>(self, function: impl Fn(&B) -> R + 'static) -> Box<dyn Target>
    where
        T: std::borrow::Borrow<B>,
    {
        let (values, groups) = self.grouped();
        boxed_with_inputs(
            groups,
            max_calls::<&B, R>(),
            Box::new(move |order| {
                let mut queue: Vec<&B> = order.iter().map(|&input| values[input as usize].borrow()).collect();
                time(black_box(&mut queue).drain(..), |input| function(black_box_loaded(input)))
            }),
        )
    }

    fn grouped(self) -> (Vec<T>, Groups) {
        let values = self.values;
        let groups = self.groups.unwrap_or_else(|| {
            Groups::distinct(values.len(), &|a, b| values[a] == values[b], &|input| format!("{:?}", values[input]))
        });
        (values, groups)
    }
}

/// A function with inputs.
struct WithInputs {
    groups: Groups,
    max_calls: u64,
    sample: Box<dyn FnMut(&[u32]) -> u64>,
}

impl Target for WithInputs {
    fn groups(&self) -> &Groups {
        &self.groups
    }

    fn max_calls(&self) -> u64 {
        self.max_calls
    }

    fn sample(&mut self, _calls: u64, order: &[u32]) -> u64 {
        (self.sample)(order)
    }
}

fn boxed_with_inputs(groups: Groups, max_calls: u64, sample: Box<dyn FnMut(&[u32]) -> u64>) -> Box<dyn Target> {
    Box::new(WithInputs { groups, max_calls, sample })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;

    #[test]
    fn each_call_gets_the_input_that_the_order_names() {
        let seen = Rc::new(RefCell::new(Vec::new()));
        let log = seen.clone();
        let mut target = Inputs::new(["a", "b", "c"]).by_value(move |input| log.borrow_mut().push(input));
        target.sample(4, &[2, 0, 0, 1]);
        assert_eq!(*seen.borrow(), ["c", "a", "a", "b"]);
    }

    #[test]
    fn owned_inputs_are_cloned_afresh_for_each_call() {
        let mut target = Inputs::new([vec![2, 1]]).by_value(|mut values: Vec<i32>| {
            assert_eq!(values, [2, 1]);
            values.sort_unstable();
            values
        });
        target.sample(3, &[0, 0, 0]);
        target.sample(1, &[0]);
    }

    #[test]
    fn inputs_are_lent_as_what_they_borrow_as() {
        let mut target = Inputs::new(["one".to_owned()]).by_reference(|text: &str| assert_eq!(text, "one"));
        target.sample(2, &[0, 0]);
        let mut target = Inputs::new([5u32]).by_reference(|number: &u32| assert_eq!(*number, 5));
        target.sample(1, &[0]);
    }

    #[test]
    fn a_function_without_inputs_is_called_as_often_as_asked() {
        let calls = Rc::new(RefCell::new(0));
        let counter = calls.clone();
        let mut target = plain(move || *counter.borrow_mut() += 1);
        target.sample(1_000, &[]);
        assert_eq!(*calls.borrow(), 1_000);
    }

    #[test]
    fn every_result_is_dropped() {
        let shared = Rc::new(());
        let result = shared.clone();
        let mut target = plain(move || result.clone());
        target.sample(100, &[]);
        drop(target);
        assert_eq!(Rc::strong_count(&shared), 1);
    }

    #[test]
    fn results_are_dropped_after_the_last_call() {
        struct Logged(Rc<RefCell<String>>);
        impl Drop for Logged {
            fn drop(&mut self) {
                self.0.borrow_mut().push('d');
            }
        }
        let log = Rc::new(RefCell::new(String::new()));
        let shared = log.clone();
        let mut target = plain(move || {
            shared.borrow_mut().push('c');
            Logged(shared.clone())
        });
        target.sample(3, &[]);
        assert_eq!(*log.borrow(), "cccddd");
    }

    #[test]
    fn a_panicking_call_leaves_the_target_usable() {
        let mut target = Inputs::new([vec![1], vec![2]]).by_value(|values: Vec<u8>| assert_eq!(values, [1]));
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| target.sample(3, &[0, 1, 0])));
        assert!(panicked.is_err());
        target.sample(1, &[0]);
    }

    #[test]
    fn samples_of_large_or_owning_values_are_short() {
        assert_eq!(plain(|| 1).max_calls(), u64::MAX);
        assert_eq!(plain(|| vec![1]).max_calls(), MAX_OWNING_CALLS);
        assert_eq!(Inputs::new([0u64]).by_value(|x| x).max_calls(), 8_192);
        assert_eq!(Inputs::new([[0u8; 40_000]; 1]).by_value(|x| x[0]).max_calls(), 1);
    }
}
