//! Threads that have to start together, whatever happens in them.

use super::*;
use crate::amounts::Counted;
use crate::bencher::{self, Bencher};
use crate::clock::{Clock, ClockFacts};
use crate::closure::{Plain, WithInputRef, WithState};
use crate::config::Config;
use crate::cpus::Placement;
use crate::engine;
use crate::machine::MachineClock;
use crate::measurement::Measurement;
use crate::target::{Inputs, Mode, sample};
use nanobench_timer::affinity::{self, Pinned};
use std::cell::Cell;
use std::collections::HashMap;
use std::panic::panic_any;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex, mpsc};
use std::thread::ThreadId;
use std::time::Duration;

/// Runs a test that would not end if a thread were left waiting.
#[track_caller]
fn ends(test: impl FnOnce() + Send + 'static) {
    let (done, waiting) = mpsc::channel();
    thread::spawn(move || done.send(catch_unwind(AssertUnwindSafe(test))));
    match waiting.recv_timeout(Duration::from_secs(60)) {
        Ok(Ok(())) => {}
        Ok(Err(payload)) => resume_unwind(payload),
        Err(_) => panic!("a thread still waits"),
    }
}

/// Lends `run` a target of so many threads.
fn with_threads<'t>(
    threads: usize,
    make: &(dyn Fn() -> Box<dyn Target + 't> + Sync),
    run: impl FnOnce(&mut dyn Target),
) {
    let mut run = Some(run);
    visit(NonZeroUsize::new(threads).unwrap(), &|visit| visit(&mut *make()), &mut |target| {
        run.take().expect("the calling thread is shown one target")(target);
    });
}

fn throughput(target: &mut dyn Target, calls: u64) -> u64 {
    target.sample(Mode::Throughput, calls, &[])
}

/// The payload of the panic that `run` ends with.
fn panic_of(run: impl FnOnce()) -> Box<dyn Any + Send> {
    catch_unwind(AssertUnwindSafe(run)).expect_err("it should panic")
}

/// What happens in a thread of a [`Scripted`] target.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Script {
    Ticks(u64),
    PanicBeforeTheGate,
    PanicBehindTheGate,
}

/// Takes a fixed time, without spending it, or panics with its index.
struct Scripted<'a> {
    script: Script,
    index: usize,
    dropped: &'a AtomicUsize,
}

impl Target for Scripted<'_> {
    fn groups(&self) -> &Groups {
        &Groups::NoInputs
    }

    fn max_calls(&self) -> u64 {
        u64::MAX
    }

    fn sample_after(&mut self, _timed: Timed, calls: u64, _order: &[u32], gate: &mut dyn FnMut()) -> u64 {
        if self.script == Script::PanicBeforeTheGate {
            panic_any(self.index);
        }
        gate();
        match self.script {
            Script::Ticks(ticks) => calls * ticks,
            _ => panic_any(self.index),
        }
    }
}

impl Drop for Scripted<'_> {
    fn drop(&mut self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

/// Lends `run` a target with a thread for each script; the first is that of the calling thread, since it makes its target
/// first. Checks that all targets are gone afterwards.
fn with_scripts(scripts: &[Script], run: impl FnOnce(&mut dyn Target)) {
    let (made, dropped) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let make = || -> Box<dyn Target + '_> {
        let index = made.fetch_add(1, Ordering::Relaxed);
        Box::new(Scripted { script: scripts[index], index, dropped: &dropped })
    };
    with_threads(scripts.len(), &make, run);
    assert_eq!(dropped.into_inner(), scripts.len(), "targets that were dropped");
}

#[test]
fn all_threads_make_equally_many_calls_and_make_them_at_once() {
    // Twice as many threads as processors are among the cases. No call ends before each thread is in one.
    for threads in [1, 2, 4, 2 * cpus::parallelism().get()] {
        ends(move || {
            let together = Barrier::new(threads);
            let calls = Mutex::new(HashMap::<ThreadId, u64>::new());
            let function = || {
                together.wait();
                *calls.lock().unwrap().entry(thread::current().id()).or_default() += 1;
            };
            let make = || -> Box<dyn Target + '_> { Box::new(Plain::new(function)) };
            with_threads(threads, &make, |target| {
                throughput(target, 20);
                throughput(target, 5);
            });
            let calls = calls.into_inner().unwrap();
            assert_eq!(calls[&thread::current().id()], 25, "the calling thread takes part");
            assert_eq!(calls.into_values().collect::<Vec<_>>(), vec![25; threads]);
        });
    }
}

#[test]
fn no_thread_makes_a_call_before_all_have_prepared() {
    for threads in [2, 5] {
        ends(move || {
            let (prepared, early) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let prepare = || prepared.fetch_add(1, Ordering::SeqCst);
            let make = || -> Box<dyn Target + '_> {
                Box::new(WithInputRef::new(prepare, |_: &mut usize| {
                    if prepared.load(Ordering::SeqCst) % (10 * threads) != 0 {
                        early.fetch_add(1, Ordering::Relaxed);
                    }
                }))
            };
            with_threads(threads, &make, |target| {
                for _ in 0..200 {
                    throughput(target, 10);
                }
            });
            assert_eq!((prepared.into_inner(), early.into_inner()), (2_000 * threads, 0));
        });
    }
}

#[test]
fn each_thread_sees_the_same_inputs_in_an_order_of_its_own() {
    static SEEN: Mutex<Vec<(ThreadId, u32)>> = Mutex::new(Vec::new());
    fn see(input: u32) {
        SEEN.lock().unwrap().push((thread::current().id(), input));
    }
    ends(|| {
        let make = || Inputs::new([10, 11, 12, 13]).by_value(|queue| sample(queue, see), 1_000);
        let order: Vec<u32> = (0..400).map(|call| call * call % 3).collect();
        with_threads(3, &make, |target| {
            assert_eq!(target.max_calls(), 1_000);
            target.sample(Mode::Throughput, 400, &order);
        });
        let mut orders = HashMap::<ThreadId, Vec<u32>>::new();
        for (thread, input) in SEEN.lock().unwrap().drain(..) {
            orders.entry(thread).or_default().push(input - 10);
        }
        assert_eq!(orders[&thread::current().id()], order, "the first thread keeps to the order that it was given");
        let mut orders: Vec<Vec<u32>> = orders.into_values().collect();
        assert_eq!(orders.len(), 3);
        assert!(orders[0] != orders[1] && orders[1] != orders[2] && orders[2] != orders[0]);
        orders.iter_mut().for_each(|order| order.sort_unstable());
        assert!(orders[0] == orders[1] && orders[1] == orders[2]);
    });
}

#[test]
fn a_sample_takes_as_long_as_the_threads_on_average() {
    ends(|| {
        let scripts = [Script::Ticks(10), Script::Ticks(20), Script::Ticks(60)];
        with_scripts(&scripts, |target| {
            assert_eq!(throughput(target, 7), 7 * 30);
            let mut ticks = target.thread_ticks().to_vec();
            ticks.sort_unstable();
            assert_eq!(ticks, [70, 140, 420]);
        });
    });
}

#[test]
fn a_panic_in_any_thread_goes_on_in_the_calling_one_and_all_threads_end() {
    for panic in [Script::PanicBeforeTheGate, Script::PanicBehindTheGate] {
        for index in 0..4 {
            ends(move || {
                let mut scripts = [Script::Ticks(1); 4];
                scripts[index] = panic;
                with_scripts(&scripts, |target| {
                    // A target can be used after a panic, with threads as without.
                    for _ in 0..3 {
                        let payload = panic_of(|| _ = throughput(target, 5));
                        assert_eq!(payload.downcast_ref(), Some(&index), "{panic:?}");
                    }
                    target.begin_epoch();
                });
            });
        }
    }
}

#[test]
fn a_panic_that_nobody_catches_leaves_no_thread_behind() {
    for index in [0, 2] {
        ends(move || {
            let mut scripts = [Script::Ticks(1); 4];
            scripts[index] = Script::PanicBehindTheGate;
            let payload = panic_of(|| with_scripts(&scripts, |target| _ = throughput(target, 5)));
            assert_eq!(payload.downcast_ref(), Some(&index));
        });
    }
}

#[test]
fn of_several_panics_the_one_of_the_first_thread_goes_on() {
    ends(|| {
        let scripts = [Script::PanicBehindTheGate; 3];
        with_scripts(&scripts, |target| {
            assert_eq!(panic_of(|| _ = throughput(target, 1)).downcast_ref(), Some(&0_usize));
        });
    });
}

#[test]
fn a_panic_while_targets_are_made_goes_on_in_the_calling_thread() {
    for failing in 0..3 {
        ends(move || {
            let made = AtomicUsize::new(0);
            let make = || -> Box<dyn Target> {
                let index = made.fetch_add(1, Ordering::Relaxed);
                assert!(index != failing, "number {index}");
                Box::new(Plain::new(|| ()))
            };
            let payload = panic_of(|| with_threads(3, &make, |_| ()));
            assert_eq!(payload.downcast_ref(), Some(&format!("number {failing}")));
        });
    }
}

#[test]
fn a_panic_while_a_target_is_dropped_is_not_lost() {
    struct Bad(ThreadId);
    impl Drop for Bad {
        fn drop(&mut self) {
            assert!(thread::current().id() == self.0, "cannot be dropped");
        }
    }
    ends(|| {
        let calling = thread::current().id();
        let make = || -> Box<dyn Target> {
            let bad = Bad(calling);
            Box::new(Plain::new(move || _ = &bad))
        };
        let payload = panic_of(|| with_threads(2, &make, |target| _ = throughput(target, 1)));
        assert_eq!(payload.downcast_ref(), Some(&"cannot be dropped"));
    });
}

#[test]
fn inputs_that_differ_between_threads_are_refused() {
    ends(|| {
        let next = AtomicUsize::new(0);
        let make = || Inputs::new([0, 1 + next.fetch_add(1, Ordering::Relaxed)]).by_value(|_| 0, 9);
        let payload = panic_of(|| with_threads(2, &make, |_| ()));
        let message = payload.downcast_ref::<String>().map(String::as_str).or(payload.downcast_ref().copied());
        assert!(message.is_some_and(|message| message.contains("a fixed seed")), "{message:?}");
    });
}

#[test]
fn what_a_function_with_a_bencher_prepares_is_prepared_in_every_thread() {
    ends(|| {
        let (prepared, calls, cleared_up) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        let function = |bencher: Bencher| {
            prepared.fetch_add(1, Ordering::Relaxed);
            let mut own_calls = 0;
            bencher.items(3.0).run(|| own_calls += 1);
            calls.fetch_add(own_calls, Ordering::Relaxed);
            cleared_up.fetch_add(1, Ordering::Relaxed);
        };
        let threads = NonZeroUsize::new(3).unwrap();
        visit(threads, &|visit| bencher::visit(function, visit), &mut |target| {
            assert_eq!(prepared.load(Ordering::Relaxed), 3);
            assert_eq!(target.amounts(), [Amounts { counted: Counted::Items, per_input: vec![3.0] }]);
            throughput(target, 5);
            throughput(target, 2);
            assert_eq!(cleared_up.load(Ordering::Relaxed), 0);
        });
        assert_eq!((calls.into_inner(), cleared_up.into_inner()), (3 * 7, 3));
    });
}

#[test]
fn an_epoch_begins_in_every_thread() {
    ends(|| {
        let (states, calls) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let make = || -> Box<dyn Target + '_> {
            Box::new(WithState::new(
                || _ = states.fetch_add(1, Ordering::Relaxed),
                |(): &mut ()| calls.fetch_add(1, Ordering::Relaxed),
            ))
        };
        with_threads(4, &make, |target| {
            for epoch in 1..=3 {
                target.begin_epoch();
                assert_eq!(states.load(Ordering::Relaxed), 4 * epoch);
                assert!(target.thread_ticks().is_empty(), "no sample was made since");
                throughput(target, 2);
            }
        });
        assert_eq!(calls.into_inner(), 3 * 4 * 2);
    });
}

#[test]
fn a_panic_at_the_beginning_of_an_epoch_goes_on_in_the_calling_thread() {
    ends(|| {
        let states = AtomicUsize::new(0);
        let make = || -> Box<dyn Target + '_> {
            let state = || assert!(states.fetch_add(1, Ordering::Relaxed) != 1, "the second");
            Box::new(WithState::new(state, |(): &mut ()| ()))
        };
        let payload = panic_of(|| with_threads(3, &make, |target| target.begin_epoch()));
        assert_eq!(payload.downcast_ref(), Some(&"the second"));
    });
}

#[test]
fn one_thread_is_the_calling_one_and_has_nobody_to_be_unfair_to() {
    let calling = thread::current().id();
    let function = || assert_eq!(thread::current().id(), calling);
    let make = || -> Box<dyn Target + '_> { Box::new(Plain::new(function)) };
    with_threads(1, &make, |target| {
        assert!(!target.is_crowded());
        let ticks = throughput(target, 10);
        assert_eq!(target.thread_ticks(), [ticks]);
    });
    let mut shares = Shares::default();
    shares.add(10, &[5]);
    assert_eq!(shares.unfairness(), None);
}

#[test]
fn threads_are_a_crowd_when_there_are_more_of_them_than_processors() {
    let make = || -> Box<dyn Target> { Box::new(Plain::new(|| ())) };
    let available = cpus::parallelism().get();
    with_threads(available, &make, |target| assert!(!target.is_crowded()));
    with_threads(available + 1, &make, |target| assert!(target.is_crowded()));
}

#[test]
fn only_the_calling_thread_stays_on_the_cpu_that_it_is_pinned_to() {
    ends(|| {
        let all = affinity::available_cpus();
        let pinned = cpus::pin(Placement::Auto).unwrap();
        let own = pinned.as_ref().and_then(Pinned::cpu);
        let calling = thread::current().id();
        let function = || {
            let expected = if thread::current().id() == calling { Vec::from_iter(own) } else { all.clone() };
            assert_eq!(affinity::available_cpus(), expected);
        };
        let make = || -> Box<dyn Target + '_> { Box::new(Plain::new(function)) };
        let threads = cpus::parallelism().get();
        with_threads(threads.max(3), &make, |target| _ = throughput(target, 2));
        with_threads(threads, &make, |target| assert!(!target.is_crowded()));
        assert_eq!(affinity::available_cpus(), Vec::from_iter(own));
    });
}

#[test]
fn unfairness_is_what_the_slowest_thread_takes_in_terms_of_the_fastest() {
    let mut shares = Shares::default();
    assert_eq!(shares.unfairness(), None);
    shares.add(100, &[100, 200, 100]);
    assert_eq!(shares.unfairness(), Some(2.0));
    // Fast now and slow then is fair in the end.
    shares.add(100, &[200, 100, 100]);
    shares.add(100, &[100, 100, 200]);
    assert!((shares.unfairness().unwrap() - 1.0).abs() < 1e-12);
}

#[test]
fn an_interruption_of_one_thread_is_no_unfairness() {
    let mut shares = Shares::default();
    for _ in 0..100 {
        shares.add(1_000, &[5_000, 5_000]);
    }
    shares.add(1_000, &[5_000, 10_000_000]);
    assert!(shares.unfairness().unwrap() < 1.03);
}

#[test]
fn samples_that_nobody_timed_say_nothing_of_fairness() {
    let mut shares = Shares::default();
    shares.add(1, &[]);
    shares.add(1, &[0, 0]);
    assert_eq!(shares.unfairness(), None);
}

/// A clock of a nanosecond to the tick, which only moves on when it is read.
struct WhenRead(Cell<u64>);

impl Clock for WhenRead {
    fn now_ticks(&self) -> u64 {
        self.0.set(self.0.get() + 1_000);
        self.0.get()
    }

    fn facts(&self) -> ClockFacts {
        ClockFacts { ticks_per_second: 1e9, step_ticks: 1.0, pair_cost_ticks: 0.0 }
    }
}

fn measured(target: &mut dyn Target, clock: &dyn Clock) -> Measurement {
    engine::measure("contended", Mode::Throughput, target, &Config::default(), clock)
}

#[test]
fn the_figure_is_the_mean_over_the_threads_and_says_how_unfair_they_were() {
    ends(|| {
        with_scripts(&[Script::Ticks(100), Script::Ticks(180)], |target| {
            let measurement = measured(target, &WhenRead(Cell::new(0)));
            let figure = measurement.nanoseconds().unwrap();
            assert!((figure.value - 140.0).abs() < 0.01, "{figure:?}");
            assert!((measurement.unfairness.unwrap() - 1.8).abs() < 1e-9, "{:?}", measurement.unfairness);
        });
    });
}

#[test]
fn a_contended_atomic_gives_a_row() {
    ends(|| {
        let counter = AtomicUsize::new(0);
        let make = || -> Box<dyn Target + '_> { Box::new(Plain::new(|| counter.fetch_add(1, Ordering::Relaxed))) };
        for threads in [1, 2, 4] {
            with_threads(threads, &make, |target| {
                let measurement = measured(target, &MachineClock::new());
                assert!(measurement.nanoseconds().is_some_and(|figure| figure.value > 0.0), "{measurement:?}");
                assert_eq!(measurement.unfairness.is_some(), threads > 1);
                assert!(counter.load(Ordering::Relaxed) as u64 >= measurement.calls * threads as u64);
            });
        }
    });
}
