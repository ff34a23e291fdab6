//! Several threads that make the same calls at the same time: what a call costs under contention.
//!
//! With `threads = [1, 2, 4]` a benchmark is measured three times: by one thread, by two at once and by four at once; 0 stands for
//! as many as the program may use processors. In each sample all threads make the same number of calls, with the same inputs, each
//! in an order of its own. They prepare, wait for each other, and start together, within a fraction of a microsecond.
//!
//! The figure is the cost of one call **in one thread** while the others do the same, the mean over the threads, in nanoseconds of
//! wall-clock time and in core cycles. It is not the time divided by the calls of all threads: work that scales perfectly costs the
//! same with four threads as with one, and gets four times as much done. What a call costs more with more threads is contention:
//! waiting for a lock, or for a cache line that another core writes to, or a share of the memory's bandwidth, of the caches, of the
//! power budget that sets the clock, and of a core with two hardware threads.
//!
//! * Contention needs something in common, such as a `static`, an atomic or the allocator. Inputs are not, and neither is what a
//!   function with a `Bencher` prepares: each thread makes its own, once. Inputs have to come out the same in every thread.
//! * A thread that has made its calls waits for the others, which then have less company. The longer a sample, the less this
//!   matters, unless some threads are always slower than others. If those took more than 1.5 times as long as the fastest, the row
//!   says so: the mean is then made of very different threads.
//! * Threads are not pinned: the system places them, and the first one stays where it is. Results of a lock or an atomic depend on
//!   which cores share a cache. `--cpu` keeps only the first one on its CPU.
//! * With more threads than processors some wait while others run, so that the scheduler of the system is a part of the figure.
//!   Samples are usually shorter than its time slices, and may be over before the next thread has its turn: the threads hardly
//!   meet, and the figure is too good. Samples of several milliseconds, as with `min_epoch_time = "200ms", max_time = "10s"`, hold
//!   the waiting too.
//! * A panic in one thread ends the benchmark with its message, when the others have made their calls. Calls that wait for calls in
//!   other threads, at a [`Barrier`](std::sync::Barrier) for example, therefore must not panic: the others would wait for ever.

use std::any::Any;
use std::hint;
use std::mem;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvError, SendError, Sender, TryRecvError};
use std::thread::{self, Scope, ScopedJoinHandle};

use crate::amounts::Amounts;
use crate::cpus;
use crate::groups::Groups;
use crate::rng::Rng;
use crate::target::{Target, Timed, Visit};

/// How often a thread looks whether it can go on before it lets others have its processor: some tens of microseconds. A thread that
/// sleeps takes longer than most samples to wake up, and lets its core fall into a clock that is not that of the samples. But when
/// another program has a processor, two of the threads may share one, and what the first of them spins the second has to wait: with
/// ten times as many, hardly a sample was made.
const SPINS: usize = 1_000;

/// Shows `run` a target whose samples are made by `threads` threads at once. Each of them is shown a target of its own by `visit`,
/// the calling one first.
///
/// # Panics
///
/// If `visit` or `run` does so, in whichever thread, or the targets differ in their inputs, or the system has no thread left.
pub(crate) fn visit(threads: NonZeroUsize, visit: &(dyn Fn(Visit) + Sync), run: Visit) {
    visit(&mut |own| thread::scope(|scope| run(&mut Threaded::new(scope, threads, own, visit))));
}

/// A target that is one in each of several threads; see the [module](self).
///
/// The calling thread is the first of them. The others live as long as this does.
pub(crate) struct Threaded<'scope, 'own> {
    own: &'own mut dyn Target,
    workers: Vec<Worker<'scope>>,
    gate: Arc<Gate>,
    /// How many samples were begun: the number of the last one.
    samples: usize,
    /// What each thread answered to the last command.
    ticks: Vec<u64>,
}

/// A thread beside the calling one. It reports when it has its target and after every command, and ends when there is nobody to give
/// it commands.
struct Worker<'scope> {
    commands: Sender<Command>,
    reports: Receiver<thread::Result<u64>>,
    thread: ScopedJoinHandle<'scope, ()>,
}

enum Command {
    BeginEpoch,
    Sample { number: usize, timed: Timed, calls: u64, order: Arc<[u32]> },
}

impl<'scope, 'own> Threaded<'scope, 'own> {
    /// Starts the threads beside this one in `scope`, and waits until each has its target.
    fn new(
        scope: &'scope Scope<'scope, '_>,
        threads: NonZeroUsize,
        own: &'own mut dyn Target,
        visit: &'scope (dyn Fn(Visit) + Sync),
    ) -> Self {
        let gate = Arc::new(Gate::new(threads > cpus::parallelism()));
        let start = |index| Worker::start(scope, index, threads, visit, own.groups().clone(), gate.clone());
        let workers = (2..=threads.get()).map(start).collect();
        let mut threaded = Self { own, workers, gate, samples: 0, ticks: Vec::new() };
        threaded.collect(Ok(0));
        threaded
    }

    /// Takes the reports of the workers on the last command, beside that of the calling thread. If one of them panicked, the panic
    /// goes on here, but not before every thread is done.
    fn collect(&mut self, own: thread::Result<u64>) {
        self.ticks.clear();
        let mut panicked: Option<Box<dyn Any + Send>> = None;
        let report = |worker: &Worker| self.gate.receive(&worker.reports).expect("a worker answers each command");
        for report in std::iter::once(own).chain(self.workers.iter().map(report)) {
            match report {
                Ok(ticks) => self.ticks.push(ticks),
                Err(payload) if panicked.is_none() => panicked = Some(payload),
                // It may be a value of the user whose drop panics in turn.
                Err(payload) => mem::forget(payload),
            }
        }
        if let Some(payload) = panicked {
            resume_unwind(payload);
        }
    }

    fn command(&self, command: impl Fn() -> Command) {
        for worker in &self.workers {
            worker.commands.send(command()).expect("a worker lives as long as it is given commands");
        }
    }
}

/// What a benchmark is told whose inputs come out differently each time they are made.
const INPUTS_DIFFER: &str = "`inputs` differs from thread to thread: each thread makes its own, and they should be the same. \
                             Make them with a generator of a fixed seed, such as `Rng::new(1)`";

impl Target for Threaded<'_, '_> {
    fn begin_epoch(&mut self) {
        self.command(|| Command::BeginEpoch);
        let own = catch_unwind(AssertUnwindSafe(|| self.own.begin_epoch()));
        self.collect(own.map(|()| 0));
        self.ticks.clear();
    }

    fn groups(&self) -> &Groups {
        self.own.groups()
    }

    fn max_calls(&self) -> u64 {
        self.own.max_calls()
    }

    fn sample_after(&mut self, timed: Timed, calls: u64, order: &[u32], gate: &mut dyn FnMut()) -> u64 {
        self.samples = self.samples.wrapping_add(1);
        let number = self.samples;
        self.gate.close();
        let shared: Arc<[u32]> = order.into();
        self.command(|| Command::Sample { number, timed, calls, order: shared.clone() });
        let mut has_passed = false;
        let own = catch_unwind(AssertUnwindSafe(|| {
            self.own.sample_after(timed, calls, order, &mut || {
                gate();
                self.gate.wait_for(self.workers.len());
                has_passed = true;
                self.gate.open(number);
            })
        }));
        if !has_passed {
            self.gate.open(number);
        }
        self.collect(own);
        let total: f64 = self.ticks.iter().map(|&ticks| ticks as f64).sum();
        (total / self.ticks.len() as f64).round() as u64
    }

    fn thread_ticks(&self) -> &[u64] {
        &self.ticks
    }

    fn is_crowded(&self) -> bool {
        self.gate.is_crowded
    }

    fn link_cycles(&self) -> f64 {
        self.own.link_cycles()
    }

    fn amounts(&self) -> &[Amounts] {
        self.own.amounts()
    }
}

impl Drop for Threaded<'_, '_> {
    fn drop(&mut self) {
        let end = |Worker { commands, reports, thread }| {
            // In this order, so that a panic which nobody is left to be told of goes the other way, through `join`.
            drop(reports);
            drop(commands);
            thread
        };
        let threads: Vec<_> = self.workers.drain(..).map(end).collect();
        for thread in threads {
            // What panics unreported is what comes after the last command, such as the drop of a target.
            if let Err(payload) = thread.join() {
                if thread::panicking() {
                    mem::forget(payload);
                } else {
                    resume_unwind(payload);
                }
            }
        }
    }
}

impl<'scope> Worker<'scope> {
    fn start(
        scope: &'scope Scope<'scope, '_>,
        index: usize,
        threads: NonZeroUsize,
        visit: &'scope (dyn Fn(Visit) + Sync),
        groups: Groups,
        gate: Arc<Gate>,
    ) -> Self {
        let (commands, received) = mpsc::channel();
        let (sent, reports) = mpsc::channel();
        let run = move || {
            let mut work = |target: &mut dyn Target| {
                assert!(*target.groups() == groups, "{INPUTS_DIFFER}");
                work(target, &received, &sent, &gate);
            };
            let visit = || {
                cpus::unpin_new_thread();
                visit(&mut work);
            };
            if let Err(payload) = catch_unwind(AssertUnwindSafe(visit)) {
                if let Err(SendError(Err(payload))) = sent.send(Err(payload)) {
                    resume_unwind(payload);
                }
            }
        };
        // The name appears in the message of a panic.
        let builder = thread::Builder::new().name(format!("benchmark thread {index} of {threads}"));
        let thread = builder.spawn_scoped(scope, run).unwrap_or_else(|error| {
            panic!("thread {index} of {threads} cannot be started: {error}. Ask for fewer `threads`")
        });
        Self { commands, reports, thread }
    }
}

/// What a worker does with its target.
fn work(target: &mut dyn Target, commands: &Receiver<Command>, reports: &Sender<thread::Result<u64>>, gate: &Gate) {
    let mut own_order = Vec::new();
    let mut rng = Rng::random();
    let mut report = Ok(0);
    while reports.send(report).is_ok() {
        report = match gate.receive(commands) {
            Err(RecvError) => break,
            Ok(Command::BeginEpoch) => catch_unwind(AssertUnwindSafe(|| target.begin_epoch())).map(|()| 0),
            Ok(Command::Sample { number, timed, calls, order }) => {
                own_order.clear();
                own_order.extend_from_slice(&order);
                drop(order);
                rng.shuffle(&mut own_order);
                let mut has_arrived = false;
                let ticks = catch_unwind(AssertUnwindSafe(|| {
                    target.sample_after(timed, calls, &own_order, &mut || {
                        has_arrived = true;
                        gate.arrive();
                        gate.pass(number);
                    })
                }));
                if !has_arrived {
                    gate.arrive();
                }
                ticks
            }
        };
    }
}

/// Where the workers wait until all are prepared and the calling thread, which comes last, lets everybody go.
///
/// Everybody spins: a system call to wake the others would start them many microseconds apart.
struct Gate {
    /// Whether there are more threads than processors. The thread that another one waits for may then need its processor.
    is_crowded: bool,
    /// How many workers have prepared for the sample that comes next, or failed to.
    arrived: AtomicUsize,
    /// The number of the sample that the gate was last opened for.
    opened: AtomicUsize,
}

impl Gate {
    fn new(is_crowded: bool) -> Self {
        Self { is_crowded, arrived: AtomicUsize::new(0), opened: AtomicUsize::new(0) }
    }

    /// Makes it ready for the next sample, before the workers hear of it.
    fn close(&self) {
        self.arrived.store(0, Ordering::Relaxed);
    }

    fn arrive(&self) {
        self.arrived.fetch_add(1, Ordering::Release);
    }

    fn wait_for(&self, workers: usize) {
        self.spin_until(|| self.arrived.load(Ordering::Acquire) == workers);
    }

    fn open(&self, number: usize) {
        self.opened.store(number, Ordering::Release);
    }

    fn pass(&self, number: usize) {
        self.spin_until(|| self.opened.load(Ordering::Acquire) == number);
    }

    fn spin_until(&self, is_over: impl Fn() -> bool) {
        let mut spins = if self.is_crowded { 0 } else { SPINS };
        while !is_over() {
            if spins == 0 {
                thread::yield_now();
            } else {
                spins -= 1;
                hint::spin_loop();
            }
        }
    }

    /// Waits for a message, awake for as long as it is worth it.
    fn receive<T>(&self, messages: &Receiver<T>) -> Result<T, RecvError> {
        let spins = if self.is_crowded { 0 } else { SPINS };
        for _ in 0..spins {
            match messages.try_recv() {
                Ok(message) => return Ok(message),
                Err(TryRecvError::Disconnected) => return Err(RecvError),
                Err(TryRecvError::Empty) => hint::spin_loop(),
            }
        }
        messages.recv()
    }
}

/// How the time of the samples was divided between the threads, which all make equally many calls.
///
/// A sample counts for as much as it has calls and not for as long as it takes, so that one in which a thread was interrupted does
/// not make that thread a slow one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shares {
    /// For each thread, the sum of its shares.
    threads: Vec<f64>,
}

impl Shares {
    /// Adds a sample of `calls` calls in each thread, and how long each took.
    pub(crate) fn add(&mut self, calls: u64, thread_ticks: &[u64]) {
        let total: f64 = thread_ticks.iter().map(|&ticks| ticks as f64).sum();
        if total > 0.0 {
            self.threads.resize(thread_ticks.len(), 0.0);
            for (share, &ticks) in self.threads.iter_mut().zip(thread_ticks) {
                *share += calls as f64 * ticks as f64 / total;
            }
        }
    }

    /// How many times as long as the fastest thread the slowest one took; none where there are not several.
    pub(crate) fn unfairness(&self) -> Option<f64> {
        let fastest = self.threads.iter().copied().fold(f64::INFINITY, f64::min);
        let slowest = self.threads.iter().copied().fold(0.0, f64::max);
        (self.threads.len() > 1 && fastest > 0.0).then(|| slowest / fastest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::amounts::Counted;
    use crate::bencher::{self, Bencher};
    use crate::clock::{Clock, ClockFacts, Metronome};
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
    use std::sync::{Barrier, Mutex};
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

        fn metronome(&self) -> Option<&dyn Metronome> {
            None
        }

        fn waited_seconds(&self) -> Option<f64> {
            None
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
}
