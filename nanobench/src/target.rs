//! What the engine can time, and the small generic code that is compiled into the user's crate to be timed.
//!
//! Everything here that depends on the user's types is compiled anew for each benchmark, so it holds the sampling loop and
//! the handling of inputs and nothing else.

use std::borrow::Borrow;
use std::fmt::{Debug, Display};
use std::mem::{ManuallyDrop, needs_drop, size_of};
use std::ops::DerefMut;

use crate::allocations;
use crate::amounts::{Amounts, Counted, Size};
use crate::black_box::{black_box, black_box_loaded};
use crate::chain::{Chain, Zero};
use crate::groups::Groups;

/// Which question is asked: the two have different answers wherever a processor works on several things at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// How many calls get done in a given time, when none waits for another.
    Throughput,
    /// How long it takes from an input to its output: each call waits for the one before.
    Latency,
}

/// What a sample times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timed {
    /// The function.
    Function(Mode),
    /// The same loop around nothing. What makes calls wait for each other is no part of it.
    EmptyLoop,
}

/// What a target says that is asked for a latency which it cannot measure. The runner does not ask it.
pub(crate) const NOT_CHAINED: &str = "the function was not compiled for latency";

/// What is done with a target: measuring, or calling it once.
pub(crate) type Visit<'a> = &'a mut dyn FnMut(&mut dyn Target);

/// Something that can be called many times in a row while a clock runs.
pub trait Target {
    /// Is told before each epoch, outside what is timed.
    fn begin_epoch(&mut self) {}

    /// The inputs, as far as the engine has to know them.
    fn groups(&self) -> &Groups;

    /// The most calls that one sample may make: inputs and results wait in memory, and a sample that overflowed the caches
    /// would measure them instead.
    fn max_calls(&self) -> u64;

    /// Makes `calls` calls and returns the ticks from before the first to after the last, the cost of reading the clock
    /// included.
    ///
    /// `order` holds the position of the input of each call; it is empty for a function without inputs.
    ///
    /// # Panics
    ///
    /// If the function was not compiled for the mode.
    fn sample(&mut self, mode: Mode, calls: u64, order: &[u32]) -> u64 {
        self.sample_after(Timed::Function(mode), calls, order, &mut || {})
    }

    /// The same with the loop around nothing, which gets the same inputs.
    fn sample_empty_loop(&mut self, calls: u64, order: &[u32]) -> u64 {
        self.sample_after(Timed::EmptyLoop, calls, order, &mut || {})
    }

    /// Either of them, with `gate` called once when everything is prepared and only the calls themselves are left to do: there
    /// threads wait for each other.
    ///
    /// # Panics
    ///
    /// If the function was not compiled for the mode.
    fn sample_after(&mut self, timed: Timed, calls: u64, order: &[u32], gate: &mut dyn FnMut()) -> u64;

    /// How long each thread took in the last sample, in ticks, where several made it together.
    fn thread_ticks(&self) -> &[u64] {
        &[]
    }

    /// Whether threads of its own make the calls, be it one.
    fn is_threaded(&self) -> bool {
        false
    }

    /// Whether it has more threads than there are processors, so that waiting for one is part of what a call costs.
    fn is_crowded(&self) -> bool {
        false
    }

    /// The cycles of the core that each call of a latency sample takes on top of the function's own, for making its input
    /// wait.
    fn link_cycles(&self) -> f64 {
        0.0
    }

    /// How much of something the calls do, where that depends on the input.
    fn amounts(&self) -> &[Amounts] {
        &[]
    }
}

/// A target together with what its calls do an amount of.
pub(crate) struct WithAmounts<T> {
    pub(crate) inner: T,
    pub(crate) amounts: Vec<Amounts>,
}

impl<T: DerefMut<Target: Target>> Target for WithAmounts<T> {
    fn begin_epoch(&mut self) {
        self.inner.begin_epoch();
    }

    fn groups(&self) -> &Groups {
        self.inner.groups()
    }

    fn max_calls(&self) -> u64 {
        self.inner.max_calls()
    }

    fn sample_after(&mut self, timed: Timed, calls: u64, order: &[u32], gate: &mut dyn FnMut()) -> u64 {
        self.inner.sample_after(timed, calls, order, gate)
    }

    fn thread_ticks(&self) -> &[u64] {
        self.inner.thread_ticks()
    }

    fn is_threaded(&self) -> bool {
        self.inner.is_threaded()
    }

    fn is_crowded(&self) -> bool {
        self.inner.is_crowded()
    }

    fn link_cycles(&self) -> f64 {
        self.inner.link_cycles()
    }

    fn amounts(&self) -> &[Amounts] {
        &self.amounts
    }
}

/// Memory that the queued inputs and results of a sample may take, in bytes: well within a second-level cache.
const QUEUE_BYTES: usize = 64 * 1024;

/// The most calls in a sample whose inputs or results own something, since what they own takes memory too.
const MAX_OWNING_CALLS: u64 = 256;

/// Reads the clock before the first call.
#[inline(always)]
fn start() -> u64 {
    allocations::begin_region();
    nanobench_timer::start()
}

/// Reads the clock after the last call.
#[inline(always)]
fn stop() -> u64 {
    let ticks = nanobench_timer::stop();
    allocations::end_region();
    ticks
}

/// Times one call of `call` for each item of `items`.
///
/// Results that need dropping are kept until the clock has stopped. It becomes part of the one function that a benchmark is
/// registered with, which is called through a pointer, so that every sample runs the same instructions at the same address.
#[inline(always)]
pub(crate) fn time<I: Iterator, R>(items: I, mut call: impl FnMut(I::Item) -> R) -> u64 {
    // An argument of this size arrives in memory and would be updated there with each item; a variable is kept in registers.
    let mut items = items;
    if needs_drop::<R>() {
        // The optimiser is told of the buffer before the clock starts, so that no store to it can be put off until after
        // the clock has stopped.
        let mut results = ManuallyDrop::new(black_box(Vec::with_capacity(items.size_hint().0)));
        let start = start();
        results.extend(items.by_ref().map(call));
        let stop = stop();
        // If the drop of a result panics, or a call did, the other results are leaked: a second panic would abort the process.
        while let Some(result) = results.pop() {
            drop(result);
        }
        drop(ManuallyDrop::into_inner(results));
        stop.wrapping_sub(start)
    } else {
        let start = start();
        for item in items.by_ref() {
            black_box(call(item));
        }
        let stop = stop();
        stop.wrapping_sub(start)
    }
}

/// One sample of a function without inputs.
#[inline(always)]
pub fn sample_plain<R>(calls: u64, function: impl Fn() -> R) -> u64 {
    time(0..calls, |_| function())
}

/// One sample of a function with inputs: a call for each of the queue.
#[inline(always)]
pub fn sample<X, R>(queue: &mut Vec<X>, function: impl Fn(X) -> R) -> u64 {
    time(black_box(queue).drain(..), |input| function(black_box_loaded(input)))
}

/// One sample of a function with inputs: a call for each of the queue, which begins when the one before has its result.
#[inline(always)]
pub fn sample_chained<X: Chain, R: Chain>(queue: &mut Vec<X>, function: impl Fn(X) -> R) -> u64 {
    let zero = Zero::new();
    let mut items = black_box(queue).drain(..);
    let mut output = R::Output::default();
    let start = start();
    for input in items.by_ref() {
        output = function(input.after(output, zero)).output();
    }
    let stop = stop();
    stop.wrapping_sub(start)
}

/// One sample of the loop around a function without inputs: it counts.
#[inline(never)]
pub(crate) fn empty_loop_plain(calls: u64) -> u64 {
    time(0..calls, |_| ())
}

/// One sample of the loop around a function with inputs: it takes each from the queue and hands it back. All benchmarks whose
/// function gets the same type share it.
#[inline(never)]
pub(crate) fn empty_loop<X>(queue: &mut Vec<X>) -> u64 {
    sample(queue, |input| input)
}

/// The same for a function that is lent its input and may change it.
#[inline(never)]
pub(crate) fn empty_loop_lending<X>(queue: &mut Vec<X>) -> u64 {
    time(black_box(queue).iter_mut(), black_box)
}

/// The most calls in a sample of a function without inputs; the argument only brings the types.
pub const fn max_calls_plain<R>(_function: fn() -> R) -> u64 {
    max_calls_of_types::<(), R>()
}

/// The most calls in a sample of a function with inputs; the argument only brings the types.
pub const fn max_calls<X, R>(_function: fn(X) -> R) -> u64 {
    max_calls_of_types::<X, R>()
}

pub(crate) const fn max_calls_of_types<X, R>() -> u64 {
    let owns = needs_drop::<X>() || needs_drop::<R>();
    let queued = size_of::<X>() + if needs_drop::<R>() { size_of::<R>() } else { 0 };
    let by_size = match QUEUE_BYTES.checked_div(queued) {
        None => u64::MAX,
        Some(0) => 1,
        Some(calls) => calls as u64,
    };
    if owns && by_size > MAX_OWNING_CALLS { MAX_OWNING_CALLS } else { by_size }
}

/// A function without inputs: pointers to what was compiled for it.
pub(crate) struct Plain {
    /// Times so many calls.
    pub(crate) sample: fn(u64) -> u64,
    /// The most calls of a sample.
    pub(crate) max_calls: u64,
}

impl Target for Plain {
    fn groups(&self) -> &Groups {
        &Groups::NoInputs
    }

    fn max_calls(&self) -> u64 {
        self.max_calls
    }

    fn sample_after(&mut self, timed: Timed, calls: u64, _order: &[u32], gate: &mut dyn FnMut()) -> u64 {
        let sample = match timed {
            Timed::Function(Mode::Throughput) => self.sample,
            Timed::Function(Mode::Latency) => panic!("{NOT_CHAINED}"),
            Timed::EmptyLoop => empty_loop_plain,
        };
        gate();
        sample(calls)
    }
}

/// The inputs of a benchmark on their way to becoming a target: first the values, then their groups, then the function.
pub struct Inputs<T> {
    values: Vec<T>,
    groups: Option<Groups>,
    amounts: Vec<Amounts>,
}

/// Times a call for each of the queue.
pub type Sample<Q> = Box<dyn Fn(&mut Vec<Q>) -> u64>;
/// The same for inputs that are lent.
type SampleLent<B> = Box<dyn for<'a> Fn(&mut Vec<&'a B>) -> u64>;

impl<T> Inputs<T> {
    /// Takes the inputs. A value that comes several times is that much more frequent.
    ///
    /// # Panics
    ///
    /// If there are none.
    pub fn new(values: impl IntoIterator<Item = T>) -> Self {
        let values: Vec<T> = values.into_iter().collect();
        assert!(!values.is_empty(), "`inputs` is empty: a benchmark needs at least one input");
        Self { values, groups: None, amounts: Vec::new() }
    }

    /// Groups the inputs by a label.
    pub fn by<L: Display>(mut self, label: impl Fn(&T) -> L) -> Self {
        self.groups = Some(Groups::labelled(self.values.len(), &|input| label(&self.values[input]).to_string()));
        self
    }

    /// Says how much of something a call does with an input.
    pub fn counted<N: Size>(mut self, counted: Counted, amount: impl Fn(&T) -> N) -> Self {
        let per_input = self.values.iter().map(|input| amount(input).size()).collect();
        self.amounts.push(Amounts { counted, per_input });
        self
    }
}

// Never inlined: one copy serves all benchmarks with the same type of input, where each would otherwise be compiled with its own.
impl<T: Clone + PartialEq + Debug + 'static> Inputs<T> {
    /// Makes a target of a function that takes its input by value; it gets a clone, made while the clock stands still.
    #[inline(never)]
    pub fn by_value(self, sample: fn(&mut Vec<T>) -> u64, max_calls: u64) -> Box<dyn Target> {
        self.by_value_with(Box::new(sample), None, max_calls)
    }

    /// The same for a function that has been compiled for latency as well.
    #[inline(never)]
    pub fn by_value_chained(
        self,
        sample: fn(&mut Vec<T>) -> u64,
        sample_chained: fn(&mut Vec<T>) -> u64,
        link_cycles: f64,
        max_calls: u64,
    ) -> Box<dyn Target> {
        self.by_value_with(Box::new(sample), Some((Box::new(sample_chained), link_cycles)), max_calls)
    }

    /// The same for loops that have captured something. What latency needs comes with the cycles of the link.
    #[inline(never)]
    pub fn by_value_with(
        self,
        sample: Sample<T>,
        chained: Option<(Sample<T>, f64)>,
        max_calls: u64,
    ) -> Box<dyn Target> {
        let (values, groups, amounts) = self.grouped();
        Box::new(ByValue { values, groups, amounts, queue: Vec::new(), sample, chained, max_calls })
    }

    /// Makes a target of a function that takes its input by reference, perhaps as what the input borrows as: `&str` for
    /// inputs of type `String`.
    #[inline(never)]
    pub fn by_reference<B: ?Sized + 'static>(self, sample: fn(&mut Vec<&B>) -> u64, max_calls: u64) -> Box<dyn Target>
    where
        T: Borrow<B>,
    {
        self.by_reference_with(Box::new(sample), max_calls)
    }

    /// The same for a loop that has captured something.
    #[inline(never)]
    pub fn by_reference_with<B: ?Sized + 'static>(self, sample: SampleLent<B>, max_calls: u64) -> Box<dyn Target>
    where
        T: Borrow<B>,
    {
        let (values, groups, amounts) = self.grouped();
        Box::new(ByReference { values, groups, amounts, sample, max_calls })
    }

    fn grouped(self) -> (Vec<T>, Groups, Vec<Amounts>) {
        let values = self.values;
        let groups = self.groups.unwrap_or_else(|| {
            Groups::distinct(values.len(), &|a, b| values[a] == values[b], &|input| format!("{:?}", values[input]))
        });
        (values, groups, self.amounts)
    }
}

struct ByValue<T> {
    values: Vec<T>,
    groups: Groups,
    amounts: Vec<Amounts>,
    queue: Vec<T>,
    sample: Sample<T>,
    /// What latency needs, and the cycles of the link; none if the function was not compiled for it.
    chained: Option<(Sample<T>, f64)>,
    max_calls: u64,
}

impl<T: Clone> Target for ByValue<T> {
    fn groups(&self) -> &Groups {
        &self.groups
    }

    fn max_calls(&self) -> u64 {
        self.max_calls
    }

    fn sample_after(&mut self, timed: Timed, _calls: u64, order: &[u32], gate: &mut dyn FnMut()) -> u64 {
        let sample: &dyn Fn(&mut Vec<T>) -> u64 = match (timed, &self.chained) {
            (Timed::Function(Mode::Throughput), _) => &*self.sample,
            (Timed::Function(Mode::Latency), Some((chained, _))) => &**chained,
            (Timed::Function(Mode::Latency), None) => panic!("{NOT_CHAINED}"),
            (Timed::EmptyLoop, _) => &empty_loop::<T>,
        };
        self.queue.extend(order.iter().map(|&input| self.values[input as usize].clone()));
        gate();
        sample(&mut self.queue)
    }

    fn link_cycles(&self) -> f64 {
        self.chained.as_ref().map_or(0.0, |(_, link_cycles)| *link_cycles)
    }

    fn amounts(&self) -> &[Amounts] {
        &self.amounts
    }
}

struct ByReference<T, B: ?Sized> {
    values: Vec<T>,
    groups: Groups,
    amounts: Vec<Amounts>,
    sample: SampleLent<B>,
    max_calls: u64,
}

impl<T: Borrow<B>, B: ?Sized> Target for ByReference<T, B> {
    fn groups(&self) -> &Groups {
        &self.groups
    }

    fn max_calls(&self) -> u64 {
        self.max_calls
    }

    fn sample_after(&mut self, timed: Timed, _calls: u64, order: &[u32], gate: &mut dyn FnMut()) -> u64 {
        assert!(timed != Timed::Function(Mode::Latency), "{NOT_CHAINED}");
        let mut queue = order.iter().map(|&input| self.values[input as usize].borrow()).collect();
        gate();
        if timed == Timed::EmptyLoop { empty_loop(&mut queue) } else { (self.sample)(&mut queue) }
    }

    fn amounts(&self) -> &[Amounts] {
        &self.amounts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};

    thread_local! {
        static SEEN: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
        static CHAINED: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
        static CALLS: Cell<u64> = const { Cell::new(0) };
        static LOG: RefCell<String> = const { RefCell::new(String::new()) };
    }

    #[test]
    fn the_empty_loop_gets_the_inputs_and_drops_those_that_own_something_without_a_call() {
        struct Owning(&'static Cell<u64>);
        impl Clone for Owning {
            fn clone(&self) -> Self {
                self.0.set(self.0.get() + 1);
                Self(self.0)
            }
        }
        impl Drop for Owning {
            fn drop(&mut self) {
                self.0.set(self.0.get() + 1_000);
            }
        }
        impl PartialEq for Owning {
            fn eq(&self, _other: &Self) -> bool {
                true
            }
        }
        impl Debug for Owning {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("owning")
            }
        }
        let log: &'static Cell<u64> = Box::leak(Box::new(Cell::new(0)));
        let never = |_: &mut Vec<Owning>| -> u64 { panic!("the function is not called") };
        let mut target = Inputs::new([Owning(log), Owning(log)]).by_value(never, 100);
        target.sample_empty_loop(3, &[1, 0, 1]);
        assert_eq!(log.get(), 3_003);
        let never = |_: &mut Vec<&Owning>| -> u64 { panic!("the function is not called") };
        Inputs::new([Owning(log)]).by_reference::<Owning>(never, 100).sample_empty_loop(2, &[0, 0]);
        assert_eq!(log.get(), 4_003, "what is lent is not cloned");
    }

    #[test]
    fn each_call_gets_the_input_that_the_order_names() {
        fn see(input: &'static str) {
            SEEN.with_borrow_mut(|seen| seen.push(input));
        }
        let mut target = Inputs::new(["a", "b", "c"]).by_value(|queue| sample(queue, see), 100);
        target.sample(Mode::Throughput, 4, &[2, 0, 0, 1]);
        SEEN.with_borrow(|seen| assert_eq!(*seen, ["c", "a", "a", "b"]));
    }

    #[test]
    fn each_call_of_a_chain_gets_the_input_that_the_order_names_whatever_came_out_before() {
        fn see(input: u64) -> u8 {
            CHAINED.with_borrow_mut(|seen| seen.push(input));
            input as u8 ^ 0x5a
        }
        let values = [u64::MAX, 0, 1 << 63, 0x0123_4567_89ab_cdef];
        let mut target = Inputs::new(values).by_value_chained(
            |queue| sample(queue, see),
            |queue| sample_chained(queue, see),
            2.0,
            100,
        );
        let order = [3, 0, 0, 2, 1, 3, 2];
        for mode in [Mode::Latency, Mode::Throughput] {
            target.sample(mode, 7, &order);
            let expected: Vec<u64> = order.iter().map(|&input| values[input as usize]).collect();
            assert_eq!(CHAINED.take(), expected, "{mode:?}");
        }
        assert_eq!(target.link_cycles(), 2.0);
    }

    #[test]
    fn a_chain_goes_through_types_of_every_kind_of_register() {
        fn float(input: bool) -> f32 {
            if input { 1.5 } else { f32::NAN }
        }
        fn wide(input: f64) -> i128 {
            input as i128 - 1
        }
        fn letter(input: char) -> char {
            assert_eq!(input, 'é');
            'a'
        }
        fn signs(input: i128) -> bool {
            assert_eq!(input, -1);
            input < 0
        }
        let order = [0; 5];
        Inputs::new([true]).by_value_chained(|_| 0, |queue| sample_chained(queue, float), 2.0, 9).sample(
            Mode::Latency,
            5,
            &order,
        );
        Inputs::new([-1e30]).by_value_chained(|_| 0, |queue| sample_chained(queue, wide), 2.0, 9).sample(
            Mode::Latency,
            5,
            &order,
        );
        Inputs::new(['é']).by_value_chained(|_| 0, |queue| sample_chained(queue, letter), 2.0, 9).sample(
            Mode::Latency,
            5,
            &order,
        );
        Inputs::new([-1]).by_value_chained(|_| 0, |queue| sample_chained(queue, signs), 2.0, 9).sample(
            Mode::Latency,
            5,
            &order,
        );
    }

    #[test]
    fn a_panicking_call_of_a_chain_leaves_the_target_usable() {
        fn not_zero(input: u8) -> u8 {
            assert_ne!(input, 0);
            input
        }
        let mut target = Inputs::new([0, 1]).by_value_chained(|_| 0, |queue| sample_chained(queue, not_zero), 2.0, 100);
        let panicked =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| target.sample(Mode::Latency, 3, &[1, 0, 0])));
        assert!(panicked.is_err());
        target.sample(Mode::Latency, 1, &[1]);
    }

    #[test]
    #[should_panic(expected = "not compiled for latency")]
    fn a_function_that_was_not_compiled_for_latency_does_not_give_another_figure_instead() {
        Inputs::new([1u8]).by_value(|_| 0, 100).sample(Mode::Latency, 1, &[0]);
    }

    #[test]
    fn owned_inputs_are_cloned_afresh_for_each_call() {
        fn sort(mut values: Vec<i32>) -> Vec<i32> {
            assert_eq!(values, [2, 1]);
            values.sort_unstable();
            values
        }
        let mut target = Inputs::new([vec![2, 1]]).by_value(|queue| sample(queue, sort), 100);
        target.sample(Mode::Throughput, 3, &[0, 0, 0]);
        target.sample(Mode::Throughput, 1, &[0]);
    }

    #[test]
    fn inputs_are_lent_as_what_they_borrow_as() {
        fn first_word(text: &str) -> &str {
            text.split(' ').next().unwrap_or(text)
        }
        let mut target = Inputs::new(["one two".to_owned()]).by_reference(|queue| sample(queue, first_word), 100);
        target.sample(Mode::Throughput, 2, &[0, 0]);
        fn is_five(number: &u32) {
            assert_eq!(*number, 5);
        }
        Inputs::new([5u32]).by_reference::<u32>(|queue| sample(queue, is_five), 100).sample(Mode::Throughput, 1, &[0]);
    }

    #[test]
    fn a_function_without_inputs_is_called_as_often_as_asked() {
        fn count() {
            CALLS.set(CALLS.get() + 1);
        }
        let mut plain = Plain { sample: |calls| sample_plain(calls, count), max_calls: 9 };
        plain.sample(Mode::Throughput, 1_000, &[]);
        assert_eq!(CALLS.get(), 1_000);
    }

    #[test]
    fn results_are_dropped_after_the_last_call() {
        struct Logged;
        impl Drop for Logged {
            fn drop(&mut self) {
                LOG.with_borrow_mut(|log| log.push('d'));
            }
        }
        let _ = sample_plain(3, || {
            LOG.with_borrow_mut(|log| log.push('c'));
            Logged
        });
        LOG.with_borrow(|log| assert_eq!(log, "cccddd"));
    }

    #[test]
    fn a_panicking_call_leaves_the_target_usable() {
        fn only_one(values: Vec<u8>) {
            assert_eq!(values, [1]);
        }
        let mut target = Inputs::new([vec![1], vec![2]]).by_value(|queue| sample(queue, only_one), 100);
        let panicked =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| target.sample(Mode::Throughput, 3, &[0, 1, 0])));
        assert!(panicked.is_err());
        target.sample(Mode::Throughput, 1, &[0]);
    }

    #[test]
    #[should_panic(expected = "`inputs` is empty")]
    fn a_benchmark_needs_an_input() {
        Inputs::<u8>::new([]);
    }

    #[test]
    fn samples_of_large_or_owning_values_are_short() {
        const OWNING: u64 = max_calls_plain(Vec::<u8>::new as fn() -> _);
        assert_eq!(OWNING, MAX_OWNING_CALLS);
        assert_eq!(max_calls_plain((|| 1) as fn() -> i32), u64::MAX);
        assert_eq!(max_calls((|x| x) as fn(u64) -> u64), 8_192);
        assert_eq!(max_calls((|_| ()) as fn([u8; 1_000_000])), 1);
        assert_eq!(max_calls((|text| text.len()) as fn(&'static str) -> usize), 4_096);
    }
}
