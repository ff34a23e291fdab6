//! What a comparison of several functions found out: pure data, which reports read.

/// The result of comparing two or more functions with each other.
///
/// They were measured together: in every round each of them was timed once, with the same number of calls, in an order
/// that gives each every place equally often. What happens to the machine meanwhile happens to all of them, so that it
/// cancels out of their ratio. That is what a comparison is about, and why it sees differences that two measurements,
/// one after the other, do not.
///
/// The intervals hold with 95 % confidence, all of them together. A difference is called significant with 99.5 %
/// confidence, all of them together and counting that the comparison may end early once a difference shows. It also
/// ends once it is as certain that a difference, if there is one, is below a quarter of the `precision` that was asked
/// for.
///
/// # Examples
///
/// ```text
/// println!("{}", comparison.verdict());
/// for (index, entry) in comparison.entries().iter().enumerate().skip(1) {
///     let remark = if comparison.is_significant(index) { "" } else { " (not resolved)" };
///     println!("{}: {:.2} times as fast{remark}", entry.name, entry.relative);
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    pub(crate) entries: Vec<ComparisonEntry>,
    pub(crate) rounds: u64,
    pub(crate) lead: Lead,
    /// What one unit of work is called.
    pub(crate) unit: String,
}

/// What one of the compared functions costs, by itself and in relation to the first.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ComparisonEntry {
    /// The name that it was given.
    pub name: String,
    /// Nanoseconds per unit of work: the median of its own samples, with the cost of the clock taken off.
    pub nanoseconds: f64,
    /// How far its samples lie apart: their median absolute percentage error, a share of 1. It says little about how
    /// sure [`relative`](Self::relative) is, since what disturbs all functions alike is in here.
    pub mdape: f64,
    /// How many times as fast as the first entry it is; 1 for the first.
    ///
    /// It is the middle of what the rounds say, each by itself, and not the ratio of two figures in nanoseconds.
    pub relative: f64,
    /// The lower end of the 95 % interval of [`relative`](Self::relative); 0 if there were too few rounds to tell.
    pub relative_low: f64,
    /// The upper end; infinite if there were too few rounds to tell.
    pub relative_high: f64,
    /// In how many rounds it and the first took the same time as far as the clock could tell. They count for the ratio,
    /// and not for whether there is a difference.
    pub tied_rounds: u64,
    /// How much time its timed calls took together, in seconds.
    pub total_seconds: f64,
    pub(crate) is_significant: bool,
}

/// The two fastest entries, and how far they are apart.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Lead {
    pub(crate) winner: usize,
    pub(crate) runner_up: usize,
    /// How many times as fast as the runner-up the winner is, and the 95 % interval; from 0 to infinity if nothing is
    /// known.
    pub(crate) ratio: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) is_significant: bool,
}

impl Comparison {
    /// The entries, in the order in which they were given.
    #[must_use]
    pub fn entries(&self) -> &[ComparisonEntry] {
        &self.entries
    }

    /// How many rounds the figures are from. Those during which somebody else used the core are not among them, unless
    /// nearly all were like that.
    #[must_use]
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Whether the entry at `index` and the first differ in speed, one way or the other. It is never so for the first
    /// itself.
    ///
    /// # Panics
    ///
    /// If there is no such entry.
    #[must_use]
    pub fn is_significant(&self, index: usize) -> bool {
        self.entries[index].is_significant
    }

    /// The fastest entry; none if it could not be told from the second fastest.
    #[must_use]
    pub fn fastest(&self) -> Option<&ComparisonEntry> {
        self.lead.is_significant.then(|| &self.entries[self.lead.winner])
    }
}
