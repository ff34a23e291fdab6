//! Closures as targets: what [`Bench`](crate::Bench) measures.
//!
//! Like everything in `target`, this is compiled into the user's crate once for each closure, and holds loops only.

use std::mem::needs_drop;

use crate::black_box::{black_box, black_box_loaded};
use crate::groups::Groups;
use crate::target::{
    Mode, NOT_CHAINED, Target, Timed, empty_loop, empty_loop_lending, empty_loop_plain, max_calls_of_types, time,
};

/// A closure that needs nothing.
pub(crate) struct Plain<F> {
    function: F,
}

impl<F> Plain<F> {
    pub(crate) fn new(function: F) -> Self {
        Self { function }
    }
}

impl<R, F: FnMut() -> R> Target for Plain<F> {
    fn groups(&self) -> &Groups {
        &Groups::NoInputs
    }

    fn max_calls(&self) -> u64 {
        max_calls_of_types::<(), R>()
    }

    #[inline(never)]
    fn sample_after(&mut self, timed: Timed, calls: u64, _order: &[u32], gate: &mut dyn FnMut()) -> u64 {
        assert!(timed != Timed::Function(Mode::Latency), "{NOT_CHAINED}");
        gate();
        if timed == Timed::EmptyLoop {
            return empty_loop_plain(calls);
        }
        time(0..calls, |_| (self.function)())
    }
}

/// A closure that works on a state, which is made anew for each epoch.
pub(crate) struct WithState<M, S, F> {
    make: M,
    state: Option<S>,
    function: F,
}

impl<M, S, F> WithState<M, S, F> {
    pub(crate) fn new(make: M, function: F) -> Self {
        Self { make, state: None, function }
    }
}

impl<M: FnMut() -> S, S, R, F: FnMut(&mut S) -> R> Target for WithState<M, S, F> {
    fn begin_epoch(&mut self) {
        // The old state goes first, as one may be all that there is room for.
        self.state = None;
        self.state = Some((self.make)());
    }

    fn groups(&self) -> &Groups {
        &Groups::NoInputs
    }

    fn max_calls(&self) -> u64 {
        max_calls_of_types::<(), R>()
    }

    #[inline(never)]
    fn sample_after(&mut self, timed: Timed, calls: u64, _order: &[u32], gate: &mut dyn FnMut()) -> u64 {
        assert!(timed != Timed::Function(Mode::Latency), "{NOT_CHAINED}");
        let state = self.state.get_or_insert_with(&mut self.make);
        gate();
        if timed == Timed::EmptyLoop {
            return empty_loop_plain(calls);
        }
        time(0..calls, |_| (self.function)(state))
    }
}

/// A closure that is given an input of its own in each call.
pub(crate) struct WithInput<M, X, F> {
    make: M,
    queue: Vec<X>,
    function: F,
}

impl<M: FnMut() -> X, X, F> WithInput<M, X, F> {
    pub(crate) fn new(make: M, function: F) -> Self {
        Self { make, queue: Vec::new(), function }
    }

    fn fill(&mut self, calls: u64) {
        // A call that panicked has left inputs behind.
        self.queue.clear();
        self.queue.extend((0..calls).map(|_| (self.make)()));
    }
}

impl<M: FnMut() -> X, X, R, F: FnMut(X) -> R> Target for WithInput<M, X, F> {
    fn groups(&self) -> &Groups {
        &Groups::NoInputs
    }

    fn max_calls(&self) -> u64 {
        max_calls_of_types::<X, R>()
    }

    #[inline(never)]
    fn sample_after(&mut self, timed: Timed, calls: u64, _order: &[u32], gate: &mut dyn FnMut()) -> u64 {
        assert!(timed != Timed::Function(Mode::Latency), "{NOT_CHAINED}");
        self.fill(calls);
        gate();
        if timed == Timed::EmptyLoop {
            return empty_loop(&mut self.queue);
        }
        time(black_box(&mut self.queue).drain(..), |input| (self.function)(black_box_loaded(input)))
    }
}

/// A closure that is lent an input of its own in each call. Inputs are dropped after the clock has stopped.
pub(crate) struct WithInputRef<M, X, F>(WithInput<M, X, F>);

impl<M: FnMut() -> X, X, F> WithInputRef<M, X, F> {
    pub(crate) fn new(make: M, function: F) -> Self {
        Self(WithInput::new(make, function))
    }
}

impl<M: FnMut() -> X, X, R, F: FnMut(&mut X) -> R> Target for WithInputRef<M, X, F> {
    fn groups(&self) -> &Groups {
        &Groups::NoInputs
    }

    fn max_calls(&self) -> u64 {
        max_calls_of_types::<X, R>()
    }

    #[inline(never)]
    fn sample_after(&mut self, timed: Timed, calls: u64, _order: &[u32], gate: &mut dyn FnMut()) -> u64 {
        assert!(timed != Timed::Function(Mode::Latency), "{NOT_CHAINED}");
        let inner = &mut self.0;
        inner.fill(calls);
        gate();
        let ticks = match timed {
            Timed::Function(_) => {
                time(black_box(&mut inner.queue).iter_mut(), |input| (inner.function)(black_box(input)))
            }
            Timed::EmptyLoop => empty_loop_lending(&mut inner.queue),
        };
        if needs_drop::<X>() {
            inner.queue.clear();
        }
        ticks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};

    #[test]
    fn a_closure_is_called_as_often_as_asked() {
        let calls = Cell::new(0);
        Plain::new(|| calls.set(calls.get() + 1)).sample(Mode::Throughput, 7, &[]);
        assert_eq!(calls.get(), 7);
    }

    #[test]
    fn a_state_is_made_once_an_epoch_and_the_old_one_is_dropped_before() {
        struct State<'a>(&'a RefCell<String>, u32);
        impl Drop for State<'_> {
            fn drop(&mut self) {
                self.0.borrow_mut().push_str(&format!("drop {} ", self.1));
            }
        }
        let log = RefCell::new(String::new());
        let mut made = 0;
        let make = || {
            made += 1;
            log.borrow_mut().push_str(&format!("make {made} "));
            State(&log, made)
        };
        let mut target =
            WithState::new(make, |state: &mut State| log.borrow_mut().push_str(&format!("use {} ", state.1)));
        for _ in 0..2 {
            target.begin_epoch();
            target.sample(Mode::Throughput, 2, &[]);
            target.sample(Mode::Throughput, 1, &[]);
        }
        assert_eq!(*log.borrow(), "make 1 use 1 use 1 use 1 drop 1 make 2 use 2 use 2 use 2 ");
    }

    #[test]
    fn every_call_has_an_input_of_its_own_by_value_and_by_reference() {
        let mut next = 0;
        let make = || {
            next += 1;
            vec![next]
        };
        let mut seen = Vec::new();
        WithInput::new(make, |input: Vec<i32>| seen.push(input[0])).sample(Mode::Throughput, 3, &[]);
        assert_eq!(seen, [1, 2, 3]);
        let mut seen = Vec::new();
        let lend = |input: &mut Vec<i32>| {
            input.push(0);
            seen.push(input[0]);
        };
        let mut target = WithInputRef::new(|| vec![9], lend);
        target.sample(Mode::Throughput, 2, &[]);
        assert!(target.0.queue.is_empty(), "inputs that own something do not wait for the next sample");
        assert_eq!(seen, [9, 9]);
    }

    #[test]
    fn the_empty_loop_has_as_many_inputs_and_calls_nothing() {
        let (made, calls) = (Cell::new(0), Cell::new(0));
        let make = || {
            made.set(made.get() + 1);
            vec![made.get()]
        };
        let count = || calls.set(calls.get() + 1);
        Plain::new(count).sample_empty_loop(7, &[]);
        WithState::new(make, |_state: &mut Vec<i32>| count()).sample_empty_loop(7, &[]);
        made.set(0);
        let mut by_value = WithInput::new(make, |_input: Vec<i32>| count());
        by_value.sample_empty_loop(7, &[]);
        let mut lent = WithInputRef::new(make, |_input: &mut Vec<i32>| count());
        lent.sample_empty_loop(7, &[]);
        assert_eq!((made.get(), calls.get()), (14, 0));
        assert!(by_value.queue.is_empty() && lent.0.queue.is_empty());
    }

    #[test]
    fn a_panic_leaves_no_inputs_for_the_next_sample() {
        let seen = RefCell::new(Vec::new());
        let mut next = 0;
        let make = || {
            next += 1;
            next
        };
        let mut target = WithInputRef::new(make, |input: &mut i32| {
            seen.borrow_mut().push(*input);
            assert!(*input != 2, "no luck");
        });
        let sample = || target.sample(Mode::Throughput, 3, &[]);
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(sample)).is_err());
        target.sample(Mode::Throughput, 1, &[]);
        assert_eq!(*seen.borrow(), [1, 2, 4]);
    }
}
