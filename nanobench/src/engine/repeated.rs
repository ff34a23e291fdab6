//! One input over and over: what a loop that does not vary its input measures, for comparison.

use crate::groups::Groups;
use crate::target::{Target, Timed};

/// A target whose every call gets the same input, so that the processor foresees every branch.
pub(super) struct Repeated<'a> {
    target: &'a mut dyn Target,
    input: u32,
    groups: Groups,
    order: Vec<u32>,
}

impl<'a> Repeated<'a> {
    /// `target` with only the input at the position `input`.
    pub(super) fn new(target: &'a mut dyn Target, input: u32) -> Self {
        Self { target, input, groups: Groups::Mix { inputs: 1, too_many: false }, order: Vec::new() }
    }
}

impl Target for Repeated<'_> {
    fn begin_epoch(&mut self) {
        self.target.begin_epoch();
    }

    fn groups(&self) -> &Groups {
        &self.groups
    }

    fn max_calls(&self) -> u64 {
        self.target.max_calls()
    }

    fn sample_after(&mut self, timed: Timed, calls: u64, order: &[u32], gate: &mut dyn FnMut()) -> u64 {
        self.order.clear();
        self.order.resize(order.len(), self.input);
        self.target.sample_after(timed, calls, &self.order, gate)
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
