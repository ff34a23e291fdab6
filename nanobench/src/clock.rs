//! What the engine knows of time: a clock that it can read, the facts that say what a reading is worth, and what it needs of the
//! processor to time the same thing twice.

/// A clock whose ticks are those in which a [`Target`](crate::target::Target) counts its samples. What it says beyond the time, not
/// every clock can say.
pub(crate) trait Clock {
    /// The time now, in ticks since some fixed moment.
    fn now_ticks(&self) -> u64;

    /// What is known of the clock.
    fn facts(&self) -> ClockFacts;

    /// What tells core cycles, where there is something.
    fn metronome(&self) -> Option<&dyn Metronome> {
        None
    }

    /// For how long the system has made this thread wait for a processor so far, in seconds; none where it does not tell.
    fn waited_seconds(&self) -> Option<f64> {
        None
    }

    /// Makes the branch predictor forget what it has learnt, and returns whether that is possible here; see
    /// [`nanobench_timer::predictor`].
    fn forget_branches(&self, _random_bits: &mut dyn FnMut() -> u64) -> bool {
        false
    }
}

/// Code whose duration in core cycles is known; see [`nanobench_timer::metronome`].
pub(crate) trait Metronome {
    /// How long so many times a hundred dependent additions take: as many cycles. In ticks of the clock, its cost included.
    fn dependent_ticks(&self, hundreds: u32) -> u64;

    /// How long so many times 120 independent additions take, in ticks of the clock, its cost included.
    fn independent_ticks(&self, blocks: u32) -> u64;

    /// How long so many times two overlapping chains take, in ticks of the clock, its cost included; none where there are none.
    fn overlapping_ticks(&self, blocks: u32) -> Option<u64>;

    /// How many independent additions a core can make in a cycle, where that is known of its kind.
    fn known_adds_per_cycle(&self) -> Option<f64>;

    /// Whether it is known of this kind of core that the chains overlap when one has it to oneself.
    fn are_chains_known_to_overlap(&self) -> bool;
}

/// What a reading of a clock is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ClockFacts {
    /// How many ticks the clock makes in a second.
    pub(crate) ticks_per_second: f64,
    /// The smallest amount by which the clock moves.
    pub(crate) step_ticks: f64,
    /// What reading the clock before and after a region adds to the region.
    pub(crate) pair_cost_ticks: f64,
}

impl ClockFacts {
    /// The shortest time that can be told from no time: a step of the clock, or the cost of reading it where that is more.
    pub(crate) fn resolution_ticks(&self) -> f64 {
        self.step_ticks.max(self.pair_cost_ticks)
    }

    /// A duration in ticks.
    pub(crate) fn ticks(&self, duration: std::time::Duration) -> f64 {
        duration.as_secs_f64() * self.ticks_per_second
    }
}
