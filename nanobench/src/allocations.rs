//! What a function asks of the allocator: an allocator that can count, and the counts.
//!
//! Counting is off while anything is timed. A pass of its own ([`count`]) turns it on, for the thread that makes the calls and
//! for the time in which the clock would run: the loops in `target` say when that begins and ends.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An allocator that lets benchmarks say how often and for how much memory they ask.
///
/// It hands everything on to another allocator: that of the system, or one that is given to [`new`](Self::new). Where it is the
/// global allocator of a program, each row of the table has the columns `allocs/op`, `bytes/op` and `peak bytes`, and
/// [`Measurement::allocations`](crate::Measurement::allocations) and `--format jsonl` have the counts in full: see
/// [`Allocations`].
///
/// # What is counted
///
/// What happens while the clock would run: what the call itself does, and the drop of an input that it consumes. The making of
/// inputs and the drops of results are not counted, as they are not timed.
///
/// Only the thread that makes the calls is watched. Where a function starts threads, what starting them takes on its own thread
/// counts, and what they do themselves does not. Memory that they free for it looks as if it were never freed. Where `threads` has
/// several threads make the calls, the counts are those of a call in the first of them.
///
/// # What it costs
///
/// Nothing is counted while anything is timed: once the figures are known, as many calls as an epoch has are made for the counts,
/// or one for each input where there are more of these, but never more than were timed, and at most 10,000. So a benchmark whose
/// calls are slow may take up to twice as long. What remains in the timed calls is the question whether to count: one load of a
/// static variable and a branch that is foreseen, about a cycle for each call of the allocator.
///
/// # Supported systems
///
/// Linux, Windows (but for the `gnu` targets with GCC), Apple's systems, FreeBSD, NetBSD and DragonFly. On others thread-local
/// variables may themselves be allocated, which an allocator cannot use; there it hands on and does not count, and there are no
/// columns.
///
/// # Examples
///
/// ```
/// use nanobench::nanobench;
///
/// #[global_allocator]
/// static ALLOCATOR: nanobench::Allocator = nanobench::Allocator::system();
///
/// #[nanobench(inputs = ["a", "ab", "abc"])]
/// fn uppercase(text: &str) -> String {
///     text.to_uppercase()
/// }
///
/// nanobench::main!();
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Allocator<A = System> {
    inner: A,
}

impl Allocator {
    /// One that hands on to the allocator of the system.
    #[must_use]
    pub const fn system() -> Self {
        Self::new(System)
    }
}

impl<A> Allocator<A> {
    /// One that hands on to another allocator.
    ///
    /// ```
    /// use std::alloc::System;
    /// use nanobench::Allocator;
    ///
    /// #[global_allocator]
    /// static ALLOCATOR: Allocator<System> = Allocator::new(System);
    /// # fn main() {}
    /// ```
    pub const fn new(inner: A) -> Self {
        Self { inner }
    }
}

// SAFETY: every method hands its arguments on to the same method of an allocator that keeps the contract, and returns what that
// returned. Counting changes numbers in static memory only: it neither allocates nor panics.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Allocator<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of this very method.
        let pointer = unsafe { self.inner.alloc(layout) };
        if is_counting() && !pointer.is_null() {
            record(Event::Allocation(layout.size()));
        }
        pointer
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let pointer = unsafe { self.inner.alloc_zeroed(layout) };
        if is_counting() && !pointer.is_null() {
            record(Event::Allocation(layout.size()));
        }
        pointer
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if is_counting() {
            record(Event::Deallocation(layout.size()));
        }
        // SAFETY: as above.
        unsafe { self.inner.dealloc(pointer, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: as above.
        let pointer = unsafe { self.inner.realloc(pointer, layout, new_size) };
        if is_counting() && !pointer.is_null() {
            record(Event::Reallocation { from: layout.size(), to: new_size });
        }
        pointer
    }
}

/// What a unit of work asks of the allocator, on average, where [`Allocator`] is installed.
///
/// `bytes_allocated + bytes_grown - bytes_freed` is what remains allocated: what a result owns, less what an input owned, or a
/// leak. Bytes are those that were asked for; an allocator may take more.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Allocations {
    /// How many pieces of memory it asks for.
    pub allocations: f64,
    /// How many it gives back.
    pub deallocations: f64,
    /// How often it has a piece made larger, as a vector does that has no room left.
    pub growths: f64,
    /// How many bytes the pieces have that it asks for.
    pub bytes_allocated: f64,
    /// How many bytes it gives back, with whole pieces or by having one made smaller.
    pub bytes_freed: f64,
    /// By how many bytes it has pieces made larger.
    pub bytes_grown: f64,
    /// The most bytes that were allocated at a time during one call, over those at its beginning. It is for a whole call, however
    /// many units of work that does, and for the call that needs the most.
    pub peak_bytes: u64,
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    allocations: u64,
    deallocations: u64,
    growths: u64,
    bytes_allocated: u64,
    bytes_freed: u64,
    bytes_grown: u64,
    peak_bytes: u64,
}

impl Counts {
    const NONE: Self = Self {
        allocations: 0,
        deallocations: 0,
        growths: 0,
        bytes_allocated: 0,
        bytes_freed: 0,
        bytes_grown: 0,
        peak_bytes: 0,
    };

    // It runs within the allocator, which must not panic: hence no checked arithmetic.
    fn add_event(&mut self, event: Event) {
        let add = |sum: &mut u64, bytes: usize| *sum = sum.wrapping_add(bytes as u64);
        match event {
            Event::Allocation(size) => {
                add(&mut self.allocations, 1);
                add(&mut self.bytes_allocated, size);
            }
            Event::Deallocation(size) => {
                add(&mut self.deallocations, 1);
                add(&mut self.bytes_freed, size);
            }
            Event::Reallocation { from, to } if from < to => {
                add(&mut self.growths, 1);
                add(&mut self.bytes_grown, to.wrapping_sub(from));
            }
            Event::Reallocation { from, to } => add(&mut self.bytes_freed, from.wrapping_sub(to)),
        }
        let requested = self.bytes_allocated.wrapping_add(self.bytes_grown);
        self.peak_bytes = self.peak_bytes.max(requested.saturating_sub(self.bytes_freed));
    }

    /// Adds what another call did. The peak is that of the call which needs the most.
    pub(crate) fn add(&mut self, call: &Self) {
        self.allocations += call.allocations;
        self.deallocations += call.deallocations;
        self.growths += call.growths;
        self.bytes_allocated += call.bytes_allocated;
        self.bytes_freed += call.bytes_freed;
        self.bytes_grown += call.bytes_grown;
        self.peak_bytes = self.peak_bytes.max(call.peak_bytes);
    }

    /// What it comes to for each of so many units of work.
    pub(crate) fn per_unit(&self, units: f64) -> Allocations {
        let mean = |sum: u64| sum as f64 / units;
        Allocations {
            allocations: mean(self.allocations),
            deallocations: mean(self.deallocations),
            growths: mean(self.growths),
            bytes_allocated: mean(self.bytes_allocated),
            bytes_freed: mean(self.bytes_freed),
            bytes_grown: mean(self.bytes_grown),
            peak_bytes: self.peak_bytes,
        }
    }
}

/// What the allocator was asked for, in bytes.
#[derive(Clone, Copy)]
enum Event {
    Allocation(usize),
    Deallocation(usize),
    Reallocation { from: usize, to: usize },
}

/// What a thread has counted.
#[derive(Clone, Copy)]
struct State {
    /// Whether the clock would be running.
    is_in_region: bool,
    counts: Counts,
}

impl State {
    const NEW: Self = Self { is_in_region: false, counts: Counts::NONE };
}

/// How many threads are counting. All look at this one first, since a static variable is found faster than a thread's own.
static COUNTING_THREADS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    // A constant without a destructor: there is nothing to make at the first use, which would be within the allocator.
    static STATE: Cell<State> = const { Cell::new(State::NEW) };
}

/// Whether thread-local variables have a place from the start. On other systems the first use of one allocates, and so would
/// never end within the allocator.
const HAS_STATIC_THREAD_LOCALS: bool = cfg!(any(
    all(target_os = "linux", not(target_env = "ohos")),
    all(windows, not(all(target_env = "gnu", not(target_abi = "llvm")))),
    target_vendor = "apple",
    target_os = "freebsd",
    target_os = "netbsd",
    target_os = "dragonfly",
));

#[inline(always)]
fn is_counting() -> bool {
    COUNTING_THREADS.load(Ordering::Relaxed) != 0
}

#[cold]
#[inline(never)]
fn record(event: Event) {
    // A thread that is about to end may still free memory.
    let _ = STATE.try_with(|cell| {
        let mut state = cell.get();
        if state.is_in_region {
            state.counts.add_event(event);
            cell.set(state);
        }
    });
}

/// Is told before the clock starts. It is a function of its own so that it costs a benchmark's code only the call.
#[inline(never)]
pub(crate) fn begin_region() {
    set_in_region(true);
}

/// Is told after the clock has stopped.
#[inline(never)]
pub(crate) fn end_region() {
    set_in_region(false);
}

fn set_in_region(is_in_region: bool) {
    if is_counting() {
        STATE.set(State { is_in_region, ..STATE.get() });
    }
}

/// Counts what this thread asks of the allocator in the timed regions of `run`. If that panics, counting is over all the same.
pub(crate) fn count(run: impl FnOnce()) -> Counts {
    if !HAS_STATIC_THREAD_LOCALS {
        run();
        return Counts::NONE;
    }
    let _counting = Counting::begin();
    run();
    STATE.get().counts
}

/// Counting is on while this lives.
struct Counting {
    /// What the thread was counting before: a function that is being measured may measure something itself.
    previous: State,
}

impl Counting {
    fn begin() -> Self {
        let counting = Self { previous: STATE.replace(State::NEW) };
        COUNTING_THREADS.fetch_add(1, Ordering::Relaxed);
        counting
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        COUNTING_THREADS.fetch_sub(1, Ordering::Relaxed);
        STATE.set(self.previous);
    }
}

/// Whether an [`Allocator`] is the global allocator of this program, perhaps behind others, and counts.
pub(crate) fn is_installed() -> bool {
    let counts = count(|| {
        begin_region();
        // The compiler may leave out an allocation that nobody sees.
        drop(std::hint::black_box(Box::new(1u8)));
        end_region();
    });
    counts.allocations > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Barrier;

    static ALLOCATOR: Allocator = Allocator::system();

    fn bytes(size: usize) -> Layout {
        Layout::from_size_align(size, 8).unwrap()
    }

    /// Allocates, and frees after `meanwhile` has perhaps changed the size.
    fn use_memory(size: usize, meanwhile: impl FnOnce(*mut u8) -> (*mut u8, usize)) {
        // SAFETY: no size here is zero.
        let (pointer, size) = meanwhile(unsafe { ALLOCATOR.alloc(bytes(size)) });
        // SAFETY: the memory is from this allocator and has this size by now.
        unsafe { ALLOCATOR.dealloc(pointer, bytes(size)) };
    }

    fn resized(pointer: *mut u8, from: usize, to: usize) -> *mut u8 {
        // SAFETY: the memory is from this allocator and had the size `from`, and no size here is zero.
        unsafe { ALLOCATOR.realloc(pointer, bytes(from), to) }
    }

    fn in_region(run: impl FnOnce()) -> Counts {
        count(|| {
            begin_region();
            run();
            end_region();
        })
    }

    #[test]
    fn pieces_and_bytes_are_counted() {
        let expected = Counts {
            allocations: 1,
            deallocations: 1,
            bytes_allocated: 100,
            bytes_freed: 100,
            peak_bytes: 100,
            ..Counts::NONE
        };
        assert_eq!(in_region(|| use_memory(100, |pointer| (pointer, 100))), expected);
        let zeroed = in_region(|| {
            // SAFETY: the size is not zero.
            let pointer = unsafe { ALLOCATOR.alloc_zeroed(bytes(100)) };
            // SAFETY: the memory is from this allocator and has this size.
            unsafe { ALLOCATOR.dealloc(pointer, bytes(100)) };
        });
        assert_eq!(zeroed, expected);
    }

    #[test]
    fn growing_is_counted_by_its_difference_and_shrinking_frees() {
        let counts = in_region(|| {
            use_memory(100, |pointer| {
                let pointer = resized(pointer, 100, 250);
                let pointer = resized(pointer, 250, 250);
                (resized(pointer, 250, 40), 40)
            });
        });
        let expected = Counts {
            allocations: 1,
            deallocations: 1,
            growths: 1,
            bytes_allocated: 100,
            bytes_freed: 250,
            bytes_grown: 150,
            peak_bytes: 250,
        };
        assert_eq!(counts, expected);
    }

    #[test]
    fn the_peak_is_the_most_at_a_time_and_never_below_the_beginning() {
        let one_in_another = in_region(|| {
            use_memory(10, |pointer| {
                use_memory(20, |inner| (inner, 20));
                use_memory(5, |inner| (inner, 5));
                (pointer, 10)
            });
        });
        assert_eq!(one_in_another.peak_bytes, 30);
        // SAFETY: the size is not zero.
        let older = unsafe { ALLOCATOR.alloc(bytes(100)) };
        let less_than_before = in_region(|| {
            // SAFETY: the memory is from this allocator and has this size.
            unsafe { ALLOCATOR.dealloc(older, bytes(100)) };
            use_memory(60, |pointer| (pointer, 60));
        });
        assert_eq!((less_than_before.bytes_freed, less_than_before.peak_bytes), (160, 0));
    }

    #[test]
    fn only_what_happens_in_the_region_counts() {
        let counts = count(|| {
            use_memory(1, |pointer| (pointer, 1));
            begin_region();
            use_memory(2, |pointer| (pointer, 2));
            end_region();
            use_memory(4, |pointer| (pointer, 4));
        });
        assert_eq!((counts.allocations, counts.bytes_allocated), (1, 2));
        begin_region();
        use_memory(8, |pointer| (pointer, 8));
        end_region();
        assert_eq!(count(|| ()), Counts::NONE);
    }

    #[test]
    fn other_threads_do_not_count_even_if_they_count_themselves() {
        let barrier = Barrier::new(2);
        let used = |size| {
            in_region(|| {
                barrier.wait();
                use_memory(size, |pointer| (pointer, size));
                barrier.wait();
            })
        };
        let (here, there) = std::thread::scope(|scope| {
            let there = scope.spawn(|| used(3));
            (used(5), there.join().unwrap())
        });
        assert_eq!((here.bytes_allocated, there.bytes_allocated), (5, 3));
    }

    #[test]
    fn a_panic_leaves_counting_off() {
        let panicked = catch_unwind(AssertUnwindSafe(|| in_region(|| std::panic::resume_unwind(Box::new(())))));
        assert!(panicked.is_err());
        assert!(!STATE.get().is_in_region);
        assert_eq!(count(|| use_memory(1, |pointer| (pointer, 1))), Counts::NONE);
    }

    #[test]
    fn counting_within_what_is_counted_leaves_the_outer_count_as_it_was() {
        let counts = in_region(|| {
            use_memory(1, |pointer| (pointer, 1));
            assert_eq!(in_region(|| use_memory(2, |pointer| (pointer, 2))).bytes_allocated, 2);
            use_memory(4, |pointer| (pointer, 4));
        });
        assert_eq!(counts.bytes_allocated, 5);
    }

    #[test]
    fn calls_are_averaged_and_the_peak_is_that_of_the_largest() {
        let call = |allocations, peak_bytes| Counts { allocations, peak_bytes, bytes_freed: 3, ..Counts::NONE };
        let mut sum = call(1, 10);
        sum.add(&call(2, 70));
        sum.add(&call(0, 20));
        let mean = sum.per_unit(6.0);
        assert_eq!((mean.allocations, mean.bytes_freed, mean.peak_bytes), (0.5, 1.5, 70));
    }

    #[test]
    fn an_allocator_that_merely_exists_is_not_installed() {
        use_memory(1, |pointer| (pointer, 1));
        assert!(!is_installed());
    }
}
