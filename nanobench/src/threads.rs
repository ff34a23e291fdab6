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

mod gate;
mod shares;
#[cfg(test)]
mod tests;
mod worker;

use std::any::Any;
use std::mem;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::thread::{self, Scope};

use crate::amounts::Amounts;
use crate::cpus;
use crate::groups::Groups;
use crate::target::{Target, Timed, Visit};
use gate::Gate;
pub(crate) use shares::Shares;
use worker::{Command, Worker};

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

    fn is_threaded(&self) -> bool {
        true
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
