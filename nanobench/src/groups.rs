//! The inputs of a benchmark, sorted into groups: the rows of the result and the unknowns of the fit.

/// The most groups that get rows of their own. More would neither fit on a screen nor leave the fit small.
pub(crate) const MAX_GROUPS: usize = 32;

/// Inputs that share a row: equal values, or values with one label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// What follows the benchmark's name in the row, as in `copy/3`.
    pub(crate) label: String,
    /// Positions of the group's inputs. As many as the group is frequent.
    pub(crate) members: Vec<u32>,
}

/// How the inputs of one benchmark are divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Groups {
    /// A function without inputs.
    NoInputs,
    /// Inputs that are measured only as a mix, because there are too many distinct ones or just one.
    Mix {
        /// How many inputs there are, equal ones included.
        inputs: usize,
        /// Whether there would have been more than [`MAX_GROUPS`] groups.
        too_many: bool,
    },
    /// From two to [`MAX_GROUPS`] groups, each with a cost of its own.
    Each(Vec<Group>),
}

impl Groups {
    /// How many rows a table has for them: one for the mix, and one for each of several groups.
    pub(crate) fn rows(&self) -> u32 {
        match self {
            Self::NoInputs | Self::Mix { .. } => 1,
            Self::Each(groups) => 1 + groups.len() as u32,
        }
    }

    /// One group for each distinct value; `same` tells whether the inputs at two positions are equal.
    ///
    /// It gives up at the first value beyond [`MAX_GROUPS`] distinct ones, so that the work grows only linearly with the inputs.
    pub(crate) fn distinct(
        inputs: usize,
        same: &dyn Fn(usize, usize) -> bool,
        label: &dyn Fn(usize) -> String,
    ) -> Self {
        let mut groups: Vec<Vec<u32>> = Vec::new();
        for input in 0..inputs {
            match groups.iter().position(|members| same(members[0] as usize, input)) {
                Some(group) => groups[group].push(position(input)),
                None if groups.len() == MAX_GROUPS => return Self::Mix { inputs, too_many: true },
                None => groups.push(vec![position(input)]),
            }
        }
        let groups = groups.into_iter().map(|members| Group { label: label(members[0] as usize), members }).collect();
        Self::from_groups(inputs, groups)
    }

    /// One group for each label, in numerical order where all labels are numbers, else in order of appearance.
    pub(crate) fn labelled(inputs: usize, label: &dyn Fn(usize) -> String) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        for input in 0..inputs {
            let label = label(input);
            match groups.iter().position(|group| group.label == label) {
                Some(group) => groups[group].members.push(position(input)),
                None if groups.len() == MAX_GROUPS => return Self::Mix { inputs, too_many: true },
                None => groups.push(Group { label, members: vec![position(input)] }),
            }
        }
        let number = |group: &Group| group.label.parse().unwrap_or(f64::NAN);
        if groups.iter().all(|group| number(group).is_finite()) {
            groups.sort_by(|a, b| number(a).total_cmp(&number(b)));
        }
        Self::from_groups(inputs, groups)
    }

    fn from_groups(inputs: usize, groups: Vec<Group>) -> Self {
        if groups.len() > 1 { Self::Each(groups) } else { Self::Mix { inputs, too_many: false } }
    }
}

fn position(input: usize) -> u32 {
    u32::try_from(input).expect("a benchmark has at most 2^32 inputs")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distinct(values: &[u32]) -> Groups {
        Groups::distinct(values.len(), &|a, b| values[a] == values[b], &|i| values[i].to_string())
    }

    fn labelled(labels: &[&str]) -> Groups {
        Groups::labelled(labels.len(), &|i| labels[i].to_owned())
    }

    fn labels(groups: &Groups) -> Vec<&str> {
        match groups {
            Groups::Each(groups) => groups.iter().map(|group| group.label.as_str()).collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn equal_inputs_share_a_group_that_is_as_frequent_as_they_are() {
        let Groups::Each(groups) = distinct(&[3, 4, 3, 3]) else { panic!("two values make two groups") };
        assert_eq!(groups[0], Group { label: "3".into(), members: vec![0, 2, 3] });
        assert_eq!(groups[1], Group { label: "4".into(), members: vec![1] });
    }

    #[test]
    fn distinct_values_stay_in_the_order_of_their_first_appearance() {
        assert_eq!(labels(&distinct(&[9, 1, 5, 1])), ["9", "1", "5"]);
    }

    #[test]
    fn more_distinct_values_than_rows_become_one_mix() {
        let limit: Vec<u32> = (0..MAX_GROUPS as u32).collect();
        assert_eq!(labels(&distinct(&limit)).len(), MAX_GROUPS);
        let beyond: Vec<u32> = (0..=MAX_GROUPS as u32).collect();
        assert_eq!(distinct(&beyond), Groups::Mix { inputs: MAX_GROUPS + 1, too_many: true });
    }

    #[test]
    fn finding_too_many_values_takes_a_bounded_number_of_comparisons() {
        let comparisons = std::cell::Cell::new(0);
        let same = |a: usize, b: usize| {
            comparisons.set(comparisons.get() + 1);
            a == b
        };
        Groups::distinct(10_000, &same, &|i| i.to_string());
        assert!(comparisons.get() <= MAX_GROUPS * (MAX_GROUPS + 1));
    }

    #[test]
    fn a_single_group_is_a_mix() {
        assert_eq!(distinct(&[7, 7]), Groups::Mix { inputs: 2, too_many: false });
        assert_eq!(labelled(&["a", "a", "a"]), Groups::Mix { inputs: 3, too_many: false });
    }

    #[test]
    fn numeric_labels_are_sorted_as_numbers_and_others_left_as_they_come() {
        assert_eq!(labels(&labelled(&["10", "9", "1", "9"])), ["1", "9", "10"]);
        assert_eq!(labels(&labelled(&["miss", "hit", "miss"])), ["miss", "hit"]);
        assert_eq!(labels(&labelled(&["nan", "2", "1"])), ["nan", "2", "1"]);
    }
}
