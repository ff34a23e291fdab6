//! Calls that find their data out of the caches.
//!
//! Before each call a buffer larger than all caches is walked, so that what the function works on has to come from memory. That
//! takes milliseconds, so a sample is a single call, an epoch is a single sample, and a run has some hundred of them.
//!
//! * **No slope.** All samples are of one size, so the clock's part of them cannot be told from the call's. What the clock
//!   costs by itself is subtracted (the prior of the [fit](super::fit)), and how wrong that may be is part of the interval.
//! * **The mean.** Single calls differ from each other as much as the memory does, and with inputs as much as these do. So only
//!   what takes many times as long as the mean is a disturbance, neither two levels nor a spread are a reason to distrust the
//!   figure, and how wide the interval is decides alone.
//! * **No metronome.** It would be read with cold code, milliseconds from what it should tell about. What waits for memory does
//!   not follow the core clock either, so there are no cycles.
//!
//! Flushing the inputs line by line (`clflush`) would be quicker and take nothing else along, but nobody knows what an input owns:
//! a map is a pointer to its table, and what a closure captures is not known at all.

use std::cell::Cell;
use std::path::Path;
use std::time::Duration;

use crate::amounts::Amounts;
use crate::black_box::black_box;
use crate::config::Config;
use crate::groups::Groups;
use crate::target::{Target, Timed};

#[cfg(test)]
mod tests;

/// How far single calls may lie from the mean without having been disturbed, as a standard deviation and a share of it. Calls
/// that took about ten times as long as the mean have no weight then, and those that took twice as long nearly all of it.
pub(super) const SPREAD: f64 = 2.0;

/// Half of the width of an interval from which on the figure is called unstable, a share of 1: a hundred calls that each wait for
/// the memory a different time give no better.
pub(super) const MAX_HALF_WIDTH: f64 = 0.15;

/// The buffer is so many times as large as all caches of a core together. Caches do not replace what was used least recently to
/// the letter: on an EPYC with 32 MiB of third level, single misses cost a fifth less behind a buffer of one and a half times
/// that size, the same behind twice and four times, and sometimes nothing behind half of it.
const CACHES: usize = 2;

/// The size of the buffer where the system does not tell those of the caches.
const DEFAULT_BYTES: usize = 64 << 20;

/// The size that is taken for that of a cache line. Where lines are longer, each of them is visited more than once.
const LINE_BYTES: usize = 64;

/// The most time of a benchmark for which nobody has set it, for each [`DEFAULT_BYTES`] of the buffer, and at least for one.
const DEFAULT_MAX_TIME: Duration = Duration::from_millis(500);

/// What drives everything else out of the caches.
pub(super) struct Eviction {
    /// The first words of cache lines, with the rest of each.
    words: Box<[Cell<u64>]>,
}

impl Eviction {
    /// A buffer for this machine.
    pub(super) fn new() -> Self {
        Self::of_bytes(buffer_bytes(Path::new("/sys/devices/system/cpu")))
    }

    fn of_bytes(bytes: usize) -> Self {
        // Pages of zeros that were never written to may all be the same one.
        Self { words: vec![Cell::new(1); bytes / size_of::<u64>()].into_boxed_slice() }
    }

    fn bytes(&self) -> usize {
        self.words.len() * size_of::<u64>()
    }

    /// Reads and writes one word of each line, from the first to the last, as prefetchers expect it.
    pub(super) fn run(&self) {
        for word in black_box(&self.words).iter().step_by(LINE_BYTES / size_of::<u64>()) {
            word.set(word.get().wrapping_add(1));
        }
    }

    /// The settings with which cold calls are measured, where `config` says how all others are.
    pub(super) fn settings(&self, config: &Config) -> Config {
        let mut settings = config.clone();
        if !config.is_max_time_set() {
            settings.max_time = DEFAULT_MAX_TIME.mul_f64((self.bytes() as f64 / DEFAULT_BYTES as f64).max(1.0));
        }
        if config.epoch_iterations == 0 {
            settings.epoch_iterations = config.min_epoch_iterations.max(1);
        }
        // Whatever is made when it is used for the first time is made now.
        settings.warmup = config.warmup.max(1);
        settings
    }
}

/// The size of the buffer, from the directory in which the system describes the processors. The thread may run on any of them, so
/// the one with the largest caches decides.
fn buffer_bytes(cpus: &Path) -> usize {
    let caches = subdirectories(cpus, "cpu").map(|cpu| {
        subdirectories(&cpu.join("cache"), "index").filter_map(|cache| data_cache_bytes(&cache)).sum::<usize>()
    });
    match caches.max() {
        None | Some(0) => DEFAULT_BYTES,
        Some(bytes) => CACHES * bytes,
    }
}

/// The directories in `path` that are called `name` and a number.
fn subdirectories(path: &Path, name: &'static str) -> impl Iterator<Item = std::path::PathBuf> {
    let entries = std::fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
    entries.map(|entry| entry.path()).filter(move |path| {
        let number = path.file_name().and_then(|file| file.to_str()).and_then(|file| file.strip_prefix(name));
        number.is_some_and(|number| number.parse::<u32>().is_ok())
    })
}

/// The size of the cache that a directory describes; none if it only holds instructions.
fn data_cache_bytes(cache: &Path) -> Option<usize> {
    let kind = std::fs::read_to_string(cache.join("type")).ok()?;
    if kind.trim() == "Instruction" {
        return None;
    }
    size_bytes(std::fs::read_to_string(cache.join("size")).ok()?.trim())
}

/// A size as the kernel writes it, such as `32768K`.
fn size_bytes(text: &str) -> Option<usize> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match &text[digits.len()..] {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        _ => return None,
    };
    digits.parse::<usize>().ok()?.checked_mul(1 << shift)
}

/// A target whose samples are single calls, each right after the caches have been swept.
pub(super) struct Cold<'a> {
    target: &'a mut dyn Target,
    evict: &'a dyn Fn(),
}

impl<'a> Cold<'a> {
    /// `target` with `evict` called before each sample.
    pub(super) fn new(target: &'a mut dyn Target, evict: &'a dyn Fn()) -> Self {
        Self { target, evict }
    }
}

impl Target for Cold<'_> {
    fn begin_epoch(&mut self) {
        self.target.begin_epoch();
    }

    fn groups(&self) -> &Groups {
        self.target.groups()
    }

    fn max_calls(&self) -> u64 {
        1
    }

    fn sample_after(&mut self, timed: Timed, calls: u64, order: &[u32], gate: &mut dyn FnMut()) -> u64 {
        (self.evict)();
        // Without any calls the loop around the function still reads the clock twice, so that its own code and stack are back in
        // the caches. The function and its data are not touched.
        self.target.sample_after(timed, 0, &[], &mut || {});
        self.target.sample_after(timed, calls, order, gate)
    }

    fn amounts(&self) -> &[Amounts] {
        self.target.amounts()
    }

    fn thread_ticks(&self) -> &[u64] {
        self.target.thread_ticks()
    }

    fn is_threaded(&self) -> bool {
        self.target.is_threaded()
    }

    fn is_crowded(&self) -> bool {
        self.target.is_crowded()
    }

    fn link_cycles(&self) -> f64 {
        self.target.link_cycles()
    }
}
