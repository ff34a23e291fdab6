//! What the engine can time, and the small generic code that is compiled into the user's crate to be timed.
//!
//! Everything here that depends on the user's types is compiled anew for each benchmark, so it holds the sampling loop and
//! the handling of inputs and nothing else.

use std::mem::{ManuallyDrop, needs_drop, size_of};
use std::ops::DerefMut;

use crate::allocations;
use crate::amounts::{Amounts, Counted, Size};
use crate::black_box::{black_box, black_box_loaded};
use crate::chain::{Chain, Zero};
use crate::groups::Groups;

mod inputs;
#[cfg(test)]
mod tests;

pub(crate) use inputs::Plain;
pub use inputs::{Inputs, Sample};

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
