//! What the bench targets beside this file share. The examples are those targets, in `benches/`.

/// Random numbers, the same ones in every run, so that two runs measure the same work.
///
/// The generator is Marsaglia's xorshift, <https://doi.org/10.18637/jss.v008.i14>.
///
/// ```
/// let numbers: Vec<u64> = nanobench_examples::random_numbers().take(3).collect();
/// assert!(numbers.iter().all(|&number| number > 1_000_000));
/// ```
pub fn random_numbers() -> impl Iterator<Item = u64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    })
}
