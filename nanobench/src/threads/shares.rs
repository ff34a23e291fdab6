//! Whether the threads fared equally well.

/// How the time of the samples was divided between the threads, which all make equally many calls.
///
/// A sample counts for as much as it has calls and not for as long as it takes, so that one in which a thread was interrupted does
/// not make that thread a slow one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shares {
    /// For each thread, the sum of its shares.
    threads: Vec<f64>,
}

impl Shares {
    /// Adds a sample of `calls` calls in each thread, and how long each took.
    pub(crate) fn add(&mut self, calls: u64, thread_ticks: &[u64]) {
        let total: f64 = thread_ticks.iter().map(|&ticks| ticks as f64).sum();
        if total > 0.0 {
            self.threads.resize(thread_ticks.len(), 0.0);
            for (share, &ticks) in self.threads.iter_mut().zip(thread_ticks) {
                *share += calls as f64 * ticks as f64 / total;
            }
        }
    }

    /// How many times as long as the fastest thread the slowest one took; none where there are not several.
    pub(crate) fn unfairness(&self) -> Option<f64> {
        let fastest = self.threads.iter().copied().fold(f64::INFINITY, f64::min);
        let slowest = self.threads.iter().copied().fold(0.0, f64::max);
        (self.threads.len() > 1 && fastest > 0.0).then(|| slowest / fastest)
    }
}
