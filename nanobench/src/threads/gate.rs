//! Where threads wait for each other.

use std::hint;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvError, TryRecvError};
use std::thread;

/// How often a thread looks whether it can go on before it lets others have its processor: some tens of microseconds. A thread that
/// sleeps takes longer than most samples to wake up, and lets its core fall into a clock that is not that of the samples. But when
/// another program has a processor, two of the threads may share one, and what the first of them spins the second has to wait: with
/// ten times as many, hardly a sample was made.
const SPINS: usize = 1_000;

/// Where the workers wait until all are prepared and the calling thread, which comes last, lets everybody go.
///
/// Everybody spins: a system call to wake the others would start them many microseconds apart.
pub(super) struct Gate {
    /// Whether there are more threads than processors. The thread that another one waits for may then need its processor.
    pub(super) is_crowded: bool,
    /// How many workers have prepared for the sample that comes next, or failed to.
    arrived: AtomicUsize,
    /// The number of the sample that the gate was last opened for.
    opened: AtomicUsize,
}

impl Gate {
    pub(super) fn new(is_crowded: bool) -> Self {
        Self { is_crowded, arrived: AtomicUsize::new(0), opened: AtomicUsize::new(0) }
    }

    /// Makes it ready for the next sample, before the workers hear of it.
    pub(super) fn close(&self) {
        self.arrived.store(0, Ordering::Relaxed);
    }

    pub(super) fn arrive(&self) {
        self.arrived.fetch_add(1, Ordering::Release);
    }

    pub(super) fn wait_for(&self, workers: usize) {
        self.spin_until(|| self.arrived.load(Ordering::Acquire) == workers);
    }

    pub(super) fn open(&self, number: usize) {
        self.opened.store(number, Ordering::Release);
    }

    pub(super) fn pass(&self, number: usize) {
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
    pub(super) fn receive<T>(&self, messages: &Receiver<T>) -> Result<T, RecvError> {
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
