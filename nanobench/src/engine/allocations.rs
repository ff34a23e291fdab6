//! What the calls ask of the allocator: a pass over the inputs after everything has been timed.
//!
//! Each call is a sample of its own. So the peak is that of one call even though results are kept until the clock has stopped,
//! and what a call does belongs to the group of its input.

use crate::allocations::{Counts, count, is_installed};
use crate::measurement::Row;

use super::Run;

/// The most calls of a pass. More of them would take as long as the timing of a fast function.
const MAX_CALLS: u64 = 10_000;

impl Run<'_> {
    /// Fills in the allocations of `rows`, if the program can count them.
    pub(super) fn count_allocations(&mut self, rows: &mut [Row]) {
        if !is_installed() {
            return;
        }
        let groups = self.design.members();
        let mut inputs: Vec<(usize, Option<u32>)> = Vec::new();
        for (group, members) in groups.iter().enumerate() {
            inputs.extend(members.iter().map(|&input| (group, Some(input))));
        }
        if inputs.is_empty() {
            inputs.push((0, None));
        }
        self.rng.shuffle(&mut inputs);

        let mut counted = vec![(0, Counts::default()); groups.len().max(1)];
        let calls = calls(self.record.calls().iter().sum(), self.record.epochs() as u64, inputs.len() as u64);
        self.target.begin_epoch();
        for &(group, input) in inputs.iter().cycle().take(calls as usize) {
            let call = count(|| {
                self.target.sample(self.mode, 1, input.as_slice());
            });
            let (calls, sum) = &mut counted[group];
            *calls += 1;
            sum.add(&call);
        }

        let mut whole = Counts::default();
        counted.iter().for_each(|(_, sum)| whole.add(sum));
        let groups_of_rows = counted.into_iter().take(rows.len() - 1);
        for (row, (calls, sum)) in rows.iter_mut().zip(std::iter::once((calls, whole)).chain(groups_of_rows)) {
            // A pass that is shorter than the list of inputs may have none of a group.
            row.allocations = (calls > 0).then(|| sum.per_unit(calls as f64 * self.config.batch));
        }
    }
}

/// How many calls to make after `timed` calls in so many epochs: as many as an epoch, since a state that lasts for one may
/// allocate in few of its calls, and at least one for each input, but never more than were timed. All inputs come equally often
/// where there are calls enough.
fn calls(timed: u64, epochs: u64, inputs: u64) -> u64 {
    // Calls that never took any time have no epochs, and may be made as often as one likes.
    let (timed, per_epoch) = timed.checked_div(epochs).map_or((MAX_CALLS, 1), |per_epoch| (timed, per_epoch));
    let calls = per_epoch.max(inputs).min(timed).clamp(1, MAX_CALLS);
    if calls < inputs { calls } else { calls - calls % inputs }
}

#[cfg(test)]
mod tests {
    use super::calls;

    #[test]
    fn a_pass_is_as_long_as_an_epoch_and_has_all_inputs_equally_often() {
        assert_eq!(calls(11 * 400, 11, 1), 400);
        assert_eq!(calls(11 * 400, 11, 7), 399);
        assert_eq!(calls(11 * 400, 11, 1_000), 1_000);
    }

    #[test]
    fn a_pass_never_has_more_calls_than_were_timed_or_than_fit_into_a_moment() {
        assert_eq!(calls(11, 11, 100), 11);
        assert_eq!(calls(1, 1, 1), 1);
        assert_eq!(calls(11 * 1_000_000, 11, 1), 10_000);
        assert_eq!(calls(11 * 1_000_000, 11, 50_000), 10_000);
    }

    #[test]
    fn calls_that_took_no_time_are_counted_all_the_same() {
        assert_eq!(calls(0, 0, 1), 1);
        assert_eq!(calls(0, 0, 3), 3);
    }
}
