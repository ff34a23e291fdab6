//! In which order the targets of a comparison take their turns.
//!
//! A target finds the caches and the predictors as the one before has left them, and what is first in a round finds
//! them as reading the metronomes has. A Williams square gives every target every place in the round once, and every
//! other target as its predecessor once, so that neither adds to the cost of some targets more than to that of others.
//!
//! Source: E. J. Williams, "Experimental Designs Balanced for the Estimation of Residual Effects of Treatments",
//! Australian Journal of Scientific Research A 2, 1949.

/// The rounds of one block, each a permutation of the positions of so many entries: a square if their number is even,
/// and a square and its mirror image if it is odd, since then this square alone is not balanced.
pub(super) fn block(entries: usize) -> Vec<Vec<usize>> {
    // 0, 1, n - 1, 2, n - 2, ...: the steps from each to the next are all different.
    let first: Vec<usize> = (0..entries)
        .map(|place| if place % 2 == 1 { place.div_ceil(2) } else { (entries - place / 2) % entries })
        .collect();
    let shifted = |shift: usize| first.iter().map(move |entry| (entry + shift) % entries);
    let mut rounds: Vec<Vec<usize>> = (0..entries).map(|shift| shifted(shift).collect()).collect();
    if entries % 2 == 1 {
        rounds.extend((0..entries).map(|shift| shifted(shift).rev().collect()));
    }
    rounds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_has_every_place_and_every_predecessor_equally_often() {
        for entries in 2..=11 {
            let rounds = block(entries);
            let copies = if entries % 2 == 0 { 1 } else { 2 };
            assert_eq!(rounds.len(), copies * entries);
            let mut places = vec![vec![0; entries]; entries];
            let mut follows = vec![vec![0; entries]; entries];
            for round in &rounds {
                for (place, &entry) in round.iter().enumerate() {
                    places[place][entry] += 1;
                }
                for pair in round.windows(2) {
                    follows[pair[0]][pair[1]] += 1;
                }
            }
            assert!(places.iter().flatten().all(|&count| count == copies), "{entries} entries: {places:?}");
            for (before, counts) in follows.iter().enumerate() {
                for (after, &count) in counts.iter().enumerate() {
                    let expected = if before == after { 0 } else { copies };
                    assert_eq!(count, expected, "{after} after {before} of {entries}");
                }
            }
        }
    }

    #[test]
    fn every_entry_comes_before_every_other_in_half_of_the_rounds() {
        for entries in 2..=11 {
            let rounds = block(entries);
            for a in 0..entries {
                for b in (0..entries).filter(|&b| b != a) {
                    let place = |round: &[usize], entry| round.iter().position(|&other| other == entry);
                    let before = rounds.iter().filter(|round| place(round, a) < place(round, b)).count();
                    assert_eq!(2 * before, rounds.len(), "{a} before {b} of {entries}");
                }
            }
        }
    }

    #[test]
    fn two_entries_take_turns_as_abba() {
        assert_eq!(block(2), [[0, 1], [1, 0]]);
    }
}
