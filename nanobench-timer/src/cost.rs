//! What a reading costs and how finely the clock resolves, both measured on first use.

use std::hint::black_box;
use std::time::{Duration, Instant};

use once_cell::sync::OnceCell;

use crate::affinity::{available_cpus, pin_to};
use crate::{robust, start, stop};

/// The pairs that are timed. Enough for the mean to resolve a hundredth of a step; they take well under a millisecond
/// where the clock is a counter.
const PAIRS: usize = 2048;

/// The pairs that are timed on all CPUs together, if there are no more of them than this.
const PAIRS_OVER_CPUS: usize = 512;

/// The pairs that are thrown away after a move to another CPU, whose caches know nothing of the thread.
const COLD_PAIRS: usize = 4;

/// No further CPU is moved to after this time. A move takes some tens of microseconds, or some milliseconds where the other
/// CPU is busy.
const MAX_TOUR: Duration = Duration::from_millis(100);

/// The readings whose differences are looked at to find the step.
const STEP_READINGS: usize = 1024;

/// How often a clock that does not seem to move is read before giving up on it.
const MAX_IDLE_READINGS: usize = 200_000;

/// The cost of reading the clock twice: what a region with nothing in it appears to take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairCost {
    /// The mean over the undisturbed pairs, in ticks. It averages over the steps of the clock and is therefore finer
    /// than they are: this is the value to reckon with.
    pub mean_ticks: f64,
    /// The most common single reading, in ticks. On a clock with coarse steps it is one of these, so it is for the
    /// record and for comparison with other tools.
    pub mode_ticks: u64,
}

/// What an empty region takes between [`start`] and [`stop`] on this machine.
///
/// The first call measures for less than a millisecond where the clock is a counter, on the CPU that it happens to
/// run on; later ones return the same value at once.
///
/// Taking it off a timing is only right on the whole, not for each sample, and not at all where the end of the timed
/// code overlaps with the reading. Longer samples make it irrelevant; differences between samples of two sizes cancel
/// it.
///
/// ```
/// let cost = nanobench_timer::pair_cost();
/// println!("an empty region takes {:.1} ticks", cost.mean_ticks);
/// ```
#[must_use]
pub fn pair_cost() -> PairCost {
    static COST: OnceCell<PairCost> = OnceCell::new();
    *COST.get_or_init(measure_pair)
}

/// What an empty region between [`start`] and [`stop`] takes most often on the CPUs that this thread may use, in ticks; the
/// step of the clock where that is more, so at least 1.
///
/// This is the resolution of highwayhash's `tsc_timer`: the mode of readings from every CPU, and what a single reading can
/// tell apart at best. [`pair_cost`] is finer, but of one CPU only. If CPUs differ, as large and small cores do, it is what
/// most of them have.
///
/// The first call moves the thread to each CPU in turn, or to as many as can be reached within 100 ms, and gives it back the
/// CPUs that it had; where the system cannot pin, it measures where it is. Later ones return the same value at once.
///
/// ```
/// let nanoseconds = nanobench_timer::frequency().nanoseconds(nanobench_timer::resolution_ticks_over_cpus() as f64);
/// println!("a single reading resolves {nanoseconds:.1} ns");
/// ```
#[must_use]
pub fn resolution_ticks_over_cpus() -> u64 {
    static RESOLUTION: OnceCell<u64> = OnceCell::new();
    *RESOLUTION.get_or_init(|| {
        let begin = Instant::now();
        let mut delay = Delay::new();
        let mut samples = tour(
            &available_cpus(),
            || begin.elapsed() > MAX_TOUR,
            |cpu, pairs| {
                // A CPU that was taken away meanwhile has nothing to say.
                let Ok(_pinned) = cpu.map(pin_to).transpose() else { return Vec::new() };
                pair_samples(COLD_PAIRS, &mut delay);
                pair_samples(pairs, &mut delay)
            },
        );
        samples.sort_unstable();
        let mode = if samples.is_empty() { 0 } else { robust::half_sample_mode(&samples) };
        mode.max(step_ticks())
    })
}

/// The samples of all `cpus`, equally many of each, until time is over; those of none in particular if there are none.
fn tour(
    cpus: &[usize],
    is_over: impl Fn() -> bool,
    mut samples_on: impl FnMut(Option<usize>, usize) -> Vec<u64>,
) -> Vec<u64> {
    let Some((&first, others)) = cpus.split_first() else {
        return samples_on(None, PAIRS_OVER_CPUS);
    };
    let pairs = (PAIRS_OVER_CPUS / cpus.len()).max(1);
    let mut samples = samples_on(Some(first), pairs);
    for cpu in others.iter().take_while(|_| !is_over()) {
        samples.extend(samples_on(Some(*cpu), pairs));
    }
    samples
}

/// The smallest amount by which the clock moves, in ticks; at least 1.
///
/// A counter need not count one by one. The TSC of AMD's Zen advances by some tens every 10 ns, and the steps need
/// not be whole numbers: 24.5 ticks show up as 24 and 25 by turns, and the result is then 24. No single difference of
/// readings means anything below this size, while a mean over many can (see [`robust::dominant_mean`]).
///
/// The first call measures for less than a millisecond where the clock is a counter; later ones return the same value
/// at once.
///
/// ```
/// assert!(nanobench_timer::step_ticks() >= 1);
/// ```
#[must_use]
pub fn step_ticks() -> u64 {
    // The margin is for a whole step that was found to be a hair less.
    (exact_step() + 0.01).floor() as u64
}

/// The step with its fraction; at least 1.
fn exact_step() -> f64 {
    static STEP: OnceCell<f64> = OnceCell::new();
    *STEP.get_or_init(|| step_of(&step_readings()).max(1.0))
}

fn measure_pair() -> PairCost {
    let step = exact_step();
    let mut samples = pair_samples(PAIRS, &mut Delay::new());
    if samples.is_empty() {
        return PairCost { mean_ticks: 0.0, mode_ticks: 0 };
    }
    samples.sort_unstable();
    let mode_ticks = robust::half_sample_mode(&samples);
    let mut samples: Vec<f64> = samples.into_iter().map(|ticks| ticks as f64).collect();
    PairCost { mean_ticks: robust::dominant_mean(&mut samples, step), mode_ticks }
}

/// What so many empty regions appear to take.
fn pair_samples(pairs: usize, delay: &mut Delay) -> Vec<u64> {
    let mut samples = Vec::with_capacity(pairs);
    for _ in 0..pairs {
        delay.wait();
        let begin = start();
        let end = stop();
        // A thread that is moved to a CPU whose counter lags sees time run backwards.
        if let Ok(ticks) = u64::try_from(end.wrapping_sub(begin) as i64) {
            samples.push(ticks);
        }
    }
    samples
}

/// Readings that lie a varying small number of cycles apart, from first to last; those that a standing clock repeats
/// are left out.
fn step_readings() -> Vec<u64> {
    let mut delay = Delay::new();
    let mut readings = Vec::with_capacity(STEP_READINGS);
    readings.push(start());
    let mut idle_readings = 0;
    while readings.len() < STEP_READINGS && idle_readings < MAX_IDLE_READINGS {
        delay.wait();
        let next = start();
        if readings.last() == Some(&next) {
            idle_readings += 1;
        } else {
            readings.push(next);
        }
    }
    readings
}

/// Waits for a few cycles, a different number each time.
///
/// Readings in a tight loop can fall into step with the clock: if the loop takes as long as two of the clock's steps,
/// each reading falls on the same place between two steps, and an average over them averages nothing. The longest
/// wait takes 100 ns or so, which is longer than most clocks' step.
struct Delay {
    state: u32,
}

impl Delay {
    const fn new() -> Self {
        Self { state: 0x9e37_79b9 }
    }

    #[inline]
    fn wait(&mut self) {
        // Marsaglia's xorshift, which is plenty for the purpose.
        self.state ^= self.state << 13;
        self.state ^= self.state >> 17;
        self.state ^= self.state << 5;
        for i in 0..self.state % 256 {
            black_box(i);
        }
    }
}

/// The smallest lattice that fits: below this many ticks, a tolerance of one tick lets nearly every number fit.
const MIN_LATTICE_STEP: f64 = 6.0;

/// A lattice must be seen at so many of its multiples at least. Readings that are all the same distance apart would
/// fit a lattice with that distance.
const MIN_MULTIPLES: usize = 3;

/// Larger differences, in multiples of the smallest, say little about the step and may hide an interruption. Nor is a
/// clock whose fastest reading takes longer than so many steps in need of knowing them.
const MAX_MULTIPLE: u32 = 64;

/// The step of a clock that has given these `readings`. 0 if it did not move forward.
///
/// This would be the greatest common divisor of the differences between neighbours, were it not for counters that the
/// processor or a hypervisor multiplies by a fraction and rounds down: their differences are within one tick of the
/// multiples of a number that is not whole. So where the divisor is small, the largest such number is looked for, and
/// the divisor is the answer only if there is none.
fn step_of(readings: &[u64]) -> f64 {
    let forward =
        readings.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]) as i64).filter(|difference| *difference > 0);
    let mut differences: Vec<u64> = forward.map(i64::unsigned_abs).collect();
    differences.sort_unstable();
    differences.dedup();
    let Some(&smallest) = differences.first() else {
        return 0.0;
    };
    differences.retain(|difference| *difference <= smallest.saturating_mul(MAX_MULTIPLE.into()));
    let divisor = differences.iter().copied().fold(0, greatest_common_divisor) as f64;
    if divisor >= MIN_LATTICE_STEP {
        return divisor;
    }
    // The smallest difference is some whole number of steps.
    (1..=MAX_MULTIPLE)
        .take_while(|count| smallest as f64 / f64::from(*count) >= MIN_LATTICE_STEP)
        .find_map(|count| Lattice::through(&differences, count))
        .map_or(divisor, |lattice| lattice.narrowed_by(readings).middle())
}

/// An interval that holds the step of a clock whose readings are multiples of it, rounded down to whole ticks.
///
/// The difference of two such readings is less than one tick away from a multiple of the step, so every difference
/// whose multiple is known narrows the interval, the more the larger it is.
#[derive(Clone, Copy)]
struct Lattice {
    low: f64,
    high: f64,
}

impl Lattice {
    /// The lattice on which all the differences lie, given that the first is `count` steps long. They are in ascending
    /// order, so that each is told apart by what the smaller ones have left of the interval.
    fn through(differences: &[u64], count: u32) -> Option<Self> {
        let smallest = *differences.first()? as f64;
        let count = f64::from(count);
        let mut lattice = Self { low: (smallest - 1.0) / count, high: (smallest + 1.0) / count };
        let mut multiples = 1;
        let mut last_steps = count;
        for difference in differences.iter().map(|difference| *difference as f64) {
            let steps = (difference / lattice.middle()).round();
            lattice = lattice.narrowed(difference, steps)?;
            multiples += usize::from(steps > last_steps);
            last_steps = steps;
        }
        (multiples >= MIN_MULTIPLES).then_some(lattice)
    }

    /// Uses the growing distance of the readings from the first one, for as long as it can be told how many steps it
    /// is.
    fn narrowed_by(self, readings: &[u64]) -> Self {
        let Some((&first, rest)) = readings.split_first() else {
            return self;
        };
        let mut lattice = self;
        for distance in rest.iter().map(|reading| reading.wrapping_sub(first) as i64 as f64) {
            let steps = (distance / lattice.middle()).round();
            let is_unambiguous = distance > 0.0 && distance / lattice.low - distance / lattice.high < 0.5;
            match lattice.narrowed(distance, steps).filter(|_| is_unambiguous) {
                Some(narrowed) => lattice = narrowed,
                None => break,
            }
        }
        lattice
    }

    fn narrowed(self, difference: f64, steps: f64) -> Option<Self> {
        let low = self.low.max((difference - 1.0) / steps);
        let high = self.high.min((difference + 1.0) / steps);
        (low <= high).then_some(Self { low, high })
    }

    fn middle(self) -> f64 {
        self.low.midpoint(self.high)
    }
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    /// What a counter with this `step`, scaled and rounded down, shows to somebody who reads it after each of the
    /// `gaps`.
    fn seen(step: f64, gaps: impl Iterator<Item = f64>) -> Vec<u64> {
        let mut time = 12_345.678;
        gaps.map(|gap| {
            time += gap;
            ((time / step).floor() * step).floor() as u64
        })
        .collect()
    }

    fn varying_gaps() -> impl Iterator<Item = f64> {
        (0..1000).map(|i| 40.0 + f64::from(i * 37 % 101) * 0.9)
    }

    /// Readings that are so far apart.
    fn apart(differences: &[u64]) -> Vec<u64> {
        let mut reading = 1000_u64;
        let mut readings = vec![reading];
        readings.extend(differences.iter().map(|difference| {
            reading = reading.wrapping_add(*difference);
            reading
        }));
        readings
    }

    #[test]
    fn a_whole_step_is_found_exactly() {
        assert_eq!(step_of(&seen(26.0, varying_gaps())), 26.0);
        assert_eq!(step_of(&seen(2.0, varying_gaps())), 2.0);
    }

    #[test]
    fn a_clock_that_counts_one_by_one_has_a_step_of_one() {
        assert_eq!(step_of(&seen(1.0, varying_gaps())), 1.0);
    }

    #[test]
    fn a_fractional_step_is_found_though_no_difference_shows_it() {
        for step in [7.3, 17.0, 24.454_26, 36.4, 41.667, 100.0] {
            let found = step_of(&seen(step, varying_gaps()));
            assert!((found - step).abs() < 0.01, "{step} found as {found}");
        }
    }

    #[test]
    fn a_step_that_no_reading_is_fast_enough_to_see_is_inferred() {
        let found = step_of(&seen(24.454_26, varying_gaps().map(|gap| gap + 60.0)));
        assert!((found - 24.454_26).abs() < 0.01, "{found}");
    }

    #[test]
    fn readings_at_a_constant_distance_do_not_pass_for_a_step() {
        let mut differences: Vec<u64> = [24, 25, 26].into_iter().cycle().take(900).collect();
        assert_eq!(step_of(&apart(&differences)), 1.0);
        differences.extend([103, 260, 977]);
        assert_eq!(step_of(&apart(&differences)), 1.0);
    }

    #[test]
    fn an_interruption_does_not_hide_the_step() {
        let gaps = varying_gaps().enumerate().map(|(i, gap)| if i == 500 { 987_654_321.0 } else { gap });
        let found = step_of(&seen(24.454_26, gaps));
        assert!((found - 24.454_26).abs() < 0.01, "{found}");
    }

    #[test]
    fn few_readings_and_a_clock_that_runs_backwards_are_survived() {
        assert_eq!(step_of(&[]), 0.0);
        assert_eq!(step_of(&[42]), 0.0);
        assert_eq!(step_of(&[42, 42, 17]), 0.0);
        assert_eq!(step_of(&[42, 84]), 42.0);
        assert_eq!(step_of(&[u64::MAX, 0]), 1.0);
        assert_eq!(step_of(&apart(&[i64::MAX as u64, i64::MAX as u64 - 1])), 1.0);
    }

    /// How many samples a tour takes on each CPU that it comes to, if its time is over after `limit` of them.
    fn visits(cpus: usize, limit: usize) -> Vec<(Option<usize>, usize)> {
        let cpus: Vec<usize> = (0..cpus).map(|index| 3 * index).collect();
        let visits = RefCell::new(Vec::new());
        let samples = tour(
            &cpus,
            || visits.borrow().len() >= limit,
            |cpu, pairs| {
                visits.borrow_mut().push((cpu, pairs));
                vec![1; pairs]
            },
        );
        let visits = visits.into_inner();
        assert_eq!(samples.len(), visits.iter().map(|(_, pairs)| pairs).sum::<usize>());
        visits
    }

    #[test]
    fn every_cpu_has_a_say_in_the_resolution_however_many_there_are() {
        assert_eq!(visits(1, usize::MAX), [(Some(0), 512)]);
        assert_eq!(visits(2, usize::MAX), [(Some(0), 256), (Some(3), 256)]);
        for (cpus, pairs) in [(300, 1), (512, 1), (513, 1), (5_000, 1), (100, 5)] {
            let visits = visits(cpus, usize::MAX);
            assert_eq!(visits.len(), cpus);
            assert!(visits.iter().enumerate().all(|(index, visit)| *visit == (Some(3 * index), pairs)), "{cpus}");
        }
    }

    #[test]
    fn the_resolution_is_measured_where_the_thread_is_if_the_system_cannot_pin() {
        assert_eq!(visits(0, usize::MAX), [(None, 512)]);
    }

    #[test]
    fn a_tour_that_takes_too_long_ends_early_but_sees_one_cpu() {
        assert_eq!(visits(5_000, 10).len(), 10);
        assert_eq!(visits(4, 0), [(Some(0), 128)]);
    }

    #[test]
    fn the_resolution_is_no_less_than_the_step() {
        assert!(resolution_ticks_over_cpus() >= step_ticks());
    }

    #[test]
    fn a_clock_that_stands_still_has_a_step_of_at_least_one() {
        assert!(step_ticks() >= 1);
    }
}
