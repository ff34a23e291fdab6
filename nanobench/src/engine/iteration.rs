//! How many calls an epoch makes: warm up, find out how many fill an epoch, then measure. Pure arithmetic, no clock.

use crate::clock::ClockFacts;
use crate::config::Config;
use crate::rng::Rng;

/// After so many measured epochs the target time doubles, and again after as many more, so that the samples of a run of any
/// length fit in memory.
const EPOCHS_PER_DOUBLING: u64 = 1_024;

/// How many epochs of about the right length, with the core to ourselves, have to say what a call costs: the first ones may find the
/// inputs out of the caches. If they do not come within this share of the time there are fewer of them, and neighbours, but never fewer
/// than the least number. The time is that of the wall: beside a neighbour, inputs and readings take several times as long as the calls.
const CONFIRMING_EPOCHS: u64 = 8;
const MAX_CONFIRMING_SHARE: f64 = 0.25;
const MIN_CONFIRMING_EPOCHS: u64 = 2;

/// Measured durations say that more calls than can be counted would not fill an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IterationsOverflow;

/// Decides the number of calls of each epoch from the durations of those before it.
///
/// The number starts at the least allowed, is multiplied by ten while an epoch is far too short, and is then computed from the cost of a
/// call: the least that several epochs of about the right length show, since an interrupt or a neighbour on the core makes calls dearer.
/// The number matters: of fewer calls, more are among the first ones after the branch predictor has forgotten.
///
/// Epochs that only serve to find the number are not measured: the one that ends the search does so because it happened to be slow, and
/// to keep it would bias the result. For the same reason measured epochs have no influence on the number.
#[derive(Clone, Debug)]
pub(crate) struct IterationLogic {
    phase: Phase,
    calls: u64,
    /// 0 where the number of calls is free.
    exact_calls: u64,
    min_calls: u64,
    target_ticks: f64,
    max_target_ticks: f64,
    /// How long the search may take, if it has to wait for a quiet core.
    max_search_ticks: f64,
    measured_epochs: u64,
}

/// What an epoch has shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Elapsed {
    pub(crate) calls: u64,
    /// How long they took together.
    pub(crate) ticks: f64,
    /// Whether the core was ours alone, as far as one can tell. Only the search wants to know.
    pub(crate) is_quiet: bool,
    /// How long the run has taken so far, with all that is done beside the calls.
    pub(crate) spent_ticks: f64,
}

impl Elapsed {
    fn ticks_per_call(&self) -> f64 {
        self.ticks / self.calls as f64
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    Warmup,
    Upscaling,
    Confirming(Confirmed),
    Measuring { ticks_per_call: f64 },
}

/// What the epochs of about the right length have shown so far.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Confirmed {
    least_ticks_per_call: f64,
    epochs: u64,
    /// How many of them had the core to themselves.
    quiet_epochs: u64,
}

impl Confirmed {
    const NOTHING: Self = Self { least_ticks_per_call: f64::INFINITY, epochs: 0, quiet_epochs: 0 };

    fn and(self, elapsed: Elapsed) -> Self {
        Self {
            least_ticks_per_call: self.least_ticks_per_call.min(elapsed.ticks_per_call()),
            epochs: self.epochs + 1,
            quiet_epochs: self.quiet_epochs + u64::from(elapsed.is_quiet),
        }
    }
}

impl IterationLogic {
    pub(crate) fn new(config: &Config, clock: &ClockFacts) -> Self {
        let wanted_ticks = clock.resolution_ticks() * config.clock_resolution_multiple as f64;
        let max_ticks = clock.ticks(config.max_epoch_time);
        let budget_ticks = clock.ticks(config.max_time) / config.epochs as f64;
        let min_ticks = clock.ticks(config.min_epoch_time);
        let target_ticks = wanted_ticks.min(max_ticks).min(budget_ticks).max(min_ticks);
        let mut logic = Self {
            phase: Phase::Warmup,
            calls: config.warmup,
            exact_calls: config.epoch_iterations,
            min_calls: config.min_epoch_iterations.max(1),
            target_ticks,
            max_target_ticks: max_ticks.max(min_ticks),
            max_search_ticks: MAX_CONFIRMING_SHARE * clock.ticks(config.max_time),
            measured_epochs: 0,
        };
        if config.warmup == 0 {
            logic.finish_warmup();
        }
        logic
    }

    /// How many calls the next epoch makes.
    pub(crate) fn calls(&self) -> u64 {
        self.calls
    }

    /// Whether the next epoch counts.
    pub(crate) fn is_measuring(&self) -> bool {
        matches!(self.phase, Phase::Measuring { .. })
    }

    /// Takes note of an epoch.
    ///
    /// # Errors
    ///
    /// If no number of calls would take long enough: the calls cost nothing at all.
    pub(crate) fn add(&mut self, elapsed: Elapsed, rng: &mut Rng) -> Result<(), IterationsOverflow> {
        let Elapsed { calls, ticks, .. } = elapsed;
        match self.phase {
            Phase::Warmup => self.finish_warmup(),
            Phase::Upscaling if !self.is_close_enough(ticks) => {
                if ticks * 10.0 < self.target_ticks {
                    self.calls = calls.checked_mul(10).ok_or(IterationsOverflow)?;
                } else {
                    self.choose_calls(elapsed.ticks_per_call(), rng)?;
                }
            }
            // Where even the fewest calls fill an epoch there is nothing to confirm, and each may take long.
            Phase::Upscaling if calls > self.min_calls => {
                self.confirm(Confirmed::NOTHING.and(elapsed), elapsed.spent_ticks, rng)?;
            }
            Phase::Upscaling => self.start_measuring(elapsed.ticks_per_call(), rng)?,
            Phase::Confirming(confirmed) => self.confirm(confirmed.and(elapsed), elapsed.spent_ticks, rng)?,
            Phase::Measuring { ticks_per_call } => {
                self.measured_epochs += 1;
                if self.measured_epochs % EPOCHS_PER_DOUBLING == 0 {
                    self.target_ticks = (self.target_ticks * 2.0).min(self.max_target_ticks);
                }
                if self.exact_calls == 0 {
                    self.choose_calls(ticks_per_call, rng)?;
                }
            }
        }
        Ok(())
    }

    /// Begins to measure if what the epochs of about the right length have shown is enough or took too long.
    fn confirm(&mut self, confirmed: Confirmed, spent_ticks: f64, rng: &mut Rng) -> Result<(), IterationsOverflow> {
        let is_over = spent_ticks >= self.max_search_ticks && confirmed.epochs >= MIN_CONFIRMING_EPOCHS;
        if confirmed.quiet_epochs >= CONFIRMING_EPOCHS || is_over {
            return self.start_measuring(confirmed.least_ticks_per_call, rng);
        }
        self.phase = Phase::Confirming(confirmed);
        self.choose_calls(confirmed.least_ticks_per_call, rng)
    }

    fn finish_warmup(&mut self) {
        if self.exact_calls > 0 {
            self.phase = Phase::Measuring { ticks_per_call: f64::NAN };
            self.calls = self.exact_calls;
        } else {
            self.phase = Phase::Upscaling;
            self.calls = self.min_calls;
        }
    }

    fn start_measuring(&mut self, ticks_per_call: f64, rng: &mut Rng) -> Result<(), IterationsOverflow> {
        self.phase = Phase::Measuring { ticks_per_call };
        self.choose_calls(ticks_per_call, rng)
    }

    fn is_close_enough(&self, elapsed_ticks: f64) -> bool {
        elapsed_ticks * 3.0 >= self.target_ticks * 2.0
    }

    /// As many calls as fill the target at the given cost, and up to 20 % more at random: durations that all ended at the
    /// same fraction of the clock's step would not average over it.
    fn choose_calls(&mut self, ticks_per_call: f64, rng: &mut Rng) -> Result<(), IterationsOverflow> {
        let best = (self.target_ticks / ticks_per_call).max(self.min_calls as f64);
        let varied = best * (1.0 + 0.2 * rng.uniform01()) + 0.5;
        // The comparison is false for infinity and for what is not a number.
        if varied < u64::MAX as f64 {
            self.calls = varied as u64;
            Ok(())
        } else {
            Err(IterationsOverflow)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// A tick is a nanosecond, and the resolution ten of them.
    const CLOCK: ClockFacts = ClockFacts { ticks_per_second: 1e9, step_ticks: 10.0, pair_cost_ticks: 5.0 };

    fn alone(calls: u64, ticks: f64) -> Elapsed {
        Elapsed { calls, ticks, is_quiet: true, spent_ticks: 0.0 }
    }

    /// Runs epochs of calls that cost `cost_ticks` and returns the calls of each and whether it was measured.
    fn run(config: &Config, cost_ticks: f64, epochs: usize) -> Result<Vec<(u64, bool)>, IterationsOverflow> {
        let mut rng = Rng::new(123);
        let mut logic = IterationLogic::new(config, &CLOCK);
        let mut seen = Vec::new();
        for _ in 0..epochs {
            let calls = logic.calls();
            seen.push((calls, logic.is_measuring()));
            logic.add(alone(calls, calls as f64 * cost_ticks), &mut rng)?;
        }
        Ok(seen)
    }

    #[test]
    fn calls_grow_tenfold_until_an_epoch_is_near_its_target_and_are_then_computed() {
        let seen = run(&Config::default(), 1.0, 15).unwrap();
        assert_eq!(seen[..5], [(1, false), (10, false), (100, false), (1_000, false), (10_000, false)]);
        assert!(seen[5..].iter().all(|&(calls, _)| (100_000..=120_001).contains(&calls)), "{seen:?}");
        let measured: Vec<bool> = seen[5..].iter().map(|&(_, measured)| measured).collect();
        assert_eq!(measured, [[false; 8].as_slice(), &[true; 2]].concat());
    }

    #[test]
    fn the_epoch_that_ends_the_search_is_not_measured() {
        let seen = run(&Config::default(), 90_000.0, 3).unwrap();
        assert_eq!(seen[0], (1, false));
        assert!(seen[1].1);
    }

    #[test]
    fn an_interrupted_search_does_not_make_epochs_short() {
        let mut rng = Rng::new(1);
        let mut logic = IterationLogic::new(&Config::default(), &CLOCK);
        while !logic.is_measuring() {
            let calls = logic.calls();
            let interrupted = if calls > 50_000 && matches!(logic.phase, Phase::Upscaling) { 1e6 } else { 0.0 };
            logic.add(alone(calls, calls as f64 + interrupted), &mut rng).unwrap();
        }
        assert!(logic.calls() >= 100_000, "{}", logic.calls());
    }

    /// Searches while somebody else makes the calls of the first `shared` epochs take half as long again, and what is done beside the
    /// calls takes as long as they do. Returns how many epochs the search took and how many calls an epoch has then.
    fn search_beside_a_neighbour(config: &Config, shared: usize) -> (usize, u64) {
        let mut rng = Rng::new(1);
        let mut logic = IterationLogic::new(config, &CLOCK);
        let (mut epochs, mut spent_ticks) = (0, 0.0);
        while !logic.is_measuring() {
            let (calls, is_quiet) = (logic.calls(), epochs >= shared);
            let slowness = if is_quiet { 1.0 } else { 1.5 };
            let ticks = calls as f64 * slowness;
            spent_ticks += 2.0 * ticks;
            logic.add(Elapsed { calls, ticks, is_quiet, spent_ticks }, &mut rng).unwrap();
            epochs += 1;
        }
        (epochs, logic.calls())
    }

    #[test]
    fn a_neighbour_during_the_search_does_not_make_epochs_short() {
        let (epochs, calls) = search_beside_a_neighbour(&Config::default(), 40);
        assert_eq!(epochs, 40 + 8);
        assert!(calls >= 100_000, "{calls}");
    }

    #[test]
    fn the_search_does_not_wait_for_a_quiet_core_for_more_than_a_quarter_of_the_time() {
        let (epochs, calls) = search_beside_a_neighbour(&Config::default(), usize::MAX);
        assert!(
            (5 + 52..=5 + 63).contains(&epochs),
            "tenfold steps and a quarter of 50 ms in 200 to 240 us each: {epochs}"
        );
        assert!((66_666..=80_001).contains(&calls), "{calls}");
        let hasty = Config { max_time: Duration::from_micros(200), ..Config::default() };
        assert_eq!(search_beside_a_neighbour(&hasty, usize::MAX).0, 5 + 2);
    }

    #[test]
    fn measured_durations_do_not_change_the_number_of_calls() {
        let calls_after = |factor: f64| {
            let mut rng = Rng::new(1);
            let mut logic = IterationLogic::new(&Config::default(), &CLOCK);
            for _ in 0..20 {
                let slowness = if logic.is_measuring() { factor } else { 1.0 };
                logic.add(alone(logic.calls(), logic.calls() as f64 * slowness), &mut rng).unwrap();
            }
            logic.calls()
        };
        assert_eq!(calls_after(1.0), calls_after(2.0));
    }

    #[test]
    fn the_number_of_calls_varies_so_that_durations_do_not_lock_to_the_step() {
        let seen = run(&Config::default(), 1.0, 30).unwrap();
        let distinct: std::collections::HashSet<u64> = seen[6..].iter().map(|&(calls, _)| calls).collect();
        assert!(distinct.len() > 20);
    }

    #[test]
    fn an_exact_number_of_calls_wins_with_and_without_warmup() {
        let exact = Config { epoch_iterations: 7, min_epoch_iterations: 50, ..Config::default() };
        assert_eq!(run(&exact, 1.0, 3).unwrap(), [(7, true); 3]);
        let warm = Config { warmup: 1_000, ..exact };
        assert_eq!(run(&warm, 1.0, 3).unwrap(), [(1_000, false), (7, true), (7, true)]);
    }

    #[test]
    fn warmup_is_not_measured_and_does_not_replace_the_search() {
        let warm = Config { warmup: 3, ..Config::default() };
        assert_eq!(run(&warm, 1.0, 3).unwrap(), [(3, false), (1, false), (10, false)]);
    }

    #[test]
    fn an_epoch_never_makes_fewer_calls_than_the_least() {
        let config = Config { min_epoch_iterations: 50, ..Config::default() };
        let seen = run(&config, 1e6, 5).unwrap();
        assert!(seen.iter().all(|&(calls, _)| (50..=60).contains(&calls)), "{seen:?}");
        let zero = Config { min_epoch_iterations: 0, ..Config::default() };
        assert_eq!(run(&zero, 1.0, 1).unwrap(), [(1, false)]);
    }

    #[test]
    fn the_target_is_the_resolution_times_the_multiple_between_the_least_and_the_most() {
        let target = |config: &Config| IterationLogic::new(config, &CLOCK).target_ticks;
        let free = Config { min_epoch_time: Duration::ZERO, ..Config::default() };
        assert_eq!(target(&free), 10_000.0);
        assert_eq!(target(&Config { max_epoch_time: Duration::from_micros(2), ..free.clone() }), 2_000.0);
        let both = Config {
            min_epoch_time: Duration::from_micros(3),
            max_epoch_time: Duration::from_micros(2),
            ..Config::default()
        };
        assert_eq!(target(&both), 3_000.0, "the least wins");
    }

    #[test]
    fn the_target_leaves_room_in_the_budget_for_all_epochs() {
        let config = Config { clock_resolution_multiple: 1_000_000_000, ..Config::default() };
        assert_eq!(IterationLogic::new(&config, &CLOCK).target_ticks, 50e6 / 11.0);
    }

    #[test]
    fn calls_that_cost_nothing_are_an_overflow_and_not_an_endless_search() {
        assert_eq!(run(&Config::default(), 0.0, 100), Err(IterationsOverflow));
        let measuring_only_zero = Config { epoch_iterations: 5, ..Config::default() };
        assert_eq!(
            run(&measuring_only_zero, 0.0, 3).map(|seen| seen.len()),
            Ok(3),
            "an exact number needs no duration"
        );
    }

    #[test]
    fn a_very_long_run_makes_its_epochs_longer() {
        let seen = run(&Config::default(), 10.0, 5_000).unwrap();
        let mean =
            |epochs: &[(u64, bool)]| epochs.iter().map(|&(calls, _)| calls as f64).sum::<f64>() / epochs.len() as f64;
        let ratio = mean(&seen[4_200..]) / mean(&seen[100..1_000]);
        assert!((15.0..17.0).contains(&ratio), "{ratio}");
    }
}
