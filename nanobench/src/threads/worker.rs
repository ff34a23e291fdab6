//! The threads beside the calling one, and what they are told to do.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvError, SendError, Sender};
use std::thread::{self, Scope, ScopedJoinHandle};

use super::gate::Gate;
use crate::cpus;
use crate::groups::Groups;
use crate::rng::Rng;
use crate::target::{Target, Timed, Visit};

/// What a benchmark is told whose inputs come out differently each time they are made.
const INPUTS_DIFFER: &str = "`inputs` differs from thread to thread: each thread makes its own, and they should be the same. \
                             Make them with a generator of a fixed seed, such as `Rng::new(1)`";

/// A thread beside the calling one. It reports when it has its target and after every command, and ends when there is nobody to give
/// it commands.
pub(super) struct Worker<'scope> {
    pub(super) commands: Sender<Command>,
    pub(super) reports: Receiver<thread::Result<u64>>,
    pub(super) thread: ScopedJoinHandle<'scope, ()>,
}

pub(super) enum Command {
    BeginEpoch,
    Sample { number: usize, timed: Timed, calls: u64, order: Arc<[u32]> },
}

impl<'scope> Worker<'scope> {
    pub(super) fn start(
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
