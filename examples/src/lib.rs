//! What the programs beside this file share. The examples are those: the bench targets in `benches/`, and the programs in `examples/`.

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

/// A random number below the limit.
///
/// # Panics
///
/// If the limit is 0.
///
/// ```
/// let mut random = nanobench_examples::random_numbers();
/// assert!(nanobench_examples::below(&mut random, 10) < 10);
/// ```
pub fn below(random: &mut impl Iterator<Item = u64>, limit: usize) -> usize {
    (random.next().unwrap_or_default() % limit as u64) as usize
}

/// Between one and `most` random letters from a to z.
///
/// ```
/// let word = nanobench_examples::word(&mut nanobench_examples::random_numbers(), 9);
/// assert!((1..=9).contains(&word.len()));
/// ```
pub fn word(random: &mut impl Iterator<Item = u64>, most: usize) -> String {
    let length = 1 + below(random, most);
    (0..length).map(|_| char::from(b'a' + below(random, 26) as u8)).collect()
}

/// A random integer of one to nine digits, each length as likely as any other. It has no leading zero.
///
/// ```
/// let integer = nanobench_examples::integer(&mut nanobench_examples::random_numbers());
/// assert!((1..1_000_000_000).contains(&integer));
/// ```
pub fn integer(random: &mut impl Iterator<Item = u64>) -> usize {
    let least = 10usize.pow(below(random, 9) as u32);
    least + below(random, 9 * least)
}

/// The inputs of one group, one of the median size at first.
///
/// `repeated` measures the first input of each group. Only if that is a typical one can its cost be compared with that of the
/// group.
///
/// ```
/// assert_eq!(nanobench_examples::typical_first(vec!["one", "eleven", "two"], |word| word.len())[0].len(), 3);
/// assert_eq!(nanobench_examples::typical_first(vec![40, 10, 30, 50, 20], |&size| size)[0], 30);
/// ```
pub fn typical_first<T, S: Ord>(mut group: Vec<T>, size: impl Fn(&T) -> S) -> Vec<T> {
    group.sort_by_key(size);
    let middle = group.len() / 2;
    if middle > 0 {
        group.swap(0, middle);
    }
    group
}

/// The number of steps by which Collatz' rule leads to one. It is not inlined, so that all who measure it measure the same code.
///
/// ```
/// assert_eq!(nanobench_examples::collatz_steps(6), 8);
/// ```
#[inline(never)]
pub fn collatz_steps(mut number: u64) -> u64 {
    let mut steps = 0;
    while number > 1 {
        number = if number % 2 == 0 { number / 2 } else { 3 * number + 1 };
        steps += 1;
    }
    steps
}
