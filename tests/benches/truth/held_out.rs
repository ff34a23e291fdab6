//! Functions whose cost depends on the input, for which no table gives the truth. What can be checked is whether the costs that
//! were solved for predict what they have not seen: multisets drawn and timed here, by other code than the engine's. The functions
//! are not inlined, so that both time the same instructions at the same address.

use std::collections::HashMap;
use std::sync::LazyLock;

use nanobench::{black_box, nanobench};
use nanobench_tests::statistics;
use nanobench_timer::{metronome, pair_cost, robust, start, step_ticks, stop};

/// How long a multiset should take, in cycles: so long that the step of the clock is a small part of it, and so short that
/// it is either wholly quiet or wholly disturbed.
const MULTISET_CYCLES: f64 = 20_000.0;

/// How many multisets are timed one after the other, with the metronomes in between. They count together or not at all: in one
/// quiet reading among many that are not, the neighbour has only paused.
const MULTISETS_PER_BLOCK: usize = 10;

/// How many blocks are wanted during which the core was ours alone, how many are timed at most to get them, and how few say
/// nothing.
const QUIET_BLOCKS: usize = 40;
const MOST_BLOCKS: usize = 800;
const LEAST_QUIET_BLOCKS: usize = 5;

/// The core is ours alone when it can make at least this share of the additions that are possible in a cycle.
const QUIET_SHARE: f64 = 0.93;

/// The blocks of additions between whose durations the difference is taken, and those of a reading of independent ones.
const SHORT_BLOCKS: u32 = 4;
const LONG_BLOCKS: u32 = 16;
const PULSE_BLOCKS: u32 = 20;

const COPIES: [usize; 8] = [3, 3, 4, 4, 7, 7, 8, 8];

/// Copies so many bytes.
#[nanobench(inputs = COPIES)]
#[inline(never)]
fn copy(length: usize) -> u8 {
    let from = black_box([1u8; 8]);
    let mut to = [0u8; 8];
    to[..length].copy_from_slice(&from[..length]);
    to[0]
}

/// Starting numbers that need between 8 and 115 steps.
const STARTS: [u64; 8] = [6, 11, 7, 9, 25, 39, 27, 73];

/// The number of steps by which Collatz' rule leads to one.
#[nanobench(inputs = STARTS)]
#[inline(never)]
fn collatz(mut number: u64) -> u64 {
    let mut steps = 0;
    while number > 1 {
        number = if number % 2 == 0 { number / 2 } else { 3 * number + 1 };
        steps += 1;
    }
    steps
}

/// Numbers of one to nineteen digits, so few that the first-level cache holds them all.
static NUMBERS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut random = Random(1);
    let mut number = || {
        let least = 10u64.pow(random.below(19) as u32);
        (least + random.next() % (9 * least)).to_string()
    };
    (0..200).map(|_| number()).collect()
});

#[nanobench(inputs = NUMBERS.iter().cloned(), by = String::len)]
#[inline(never)]
fn parse(digits: &str) -> Option<u64> {
    digits.parse().ok()
}

/// The names of the benchmarks.
pub(crate) const IDS: [&str; 3] = ["held_out::copy", "held_out::collatz", "held_out::parse"];

/// How well the costs of one benchmark predict what they have not seen.
pub(crate) struct Prediction {
    pub(crate) id: &'static str,
    /// How many blocks of multisets were timed while the core was not shared, and how many in all.
    pub(crate) quiet: usize,
    pub(crate) timed: usize,
    /// None if the core was hardly ever quiet.
    pub(crate) error: Option<Error>,
}

/// By how much predictions are too high, as a share of what was measured.
pub(crate) struct Error {
    /// The median of its size, in which the scatter of the single multisets is included.
    pub(crate) size: f64,
    /// The median with its sign, in which it is not.
    pub(crate) bias: f64,
}

/// Checks all functions whose costs are among `costs`: cycles by the benchmark's name and the label of the input.
pub(crate) fn predictions(costs: &HashMap<(String, String), f64>) -> Vec<Prediction> {
    if !metronome::is_available() {
        return Vec::new();
    }
    let numbers: Vec<&str> = NUMBERS.iter().map(String::as_str).collect();
    let cost = |id: &str, label: String| costs.get(&(id.to_owned(), label)).copied();
    [
        predict(IDS[0], &COPIES, |id, length| cost(id, length.to_string()), copy),
        predict(IDS[1], &STARTS, |id, number| cost(id, number.to_string()), collatz),
        predict(IDS[2], &numbers, |id, digits| cost(id, digits.len().to_string()), parse),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// None if the cost of an input is missing.
fn predict<T: Copy, R>(
    id: &'static str,
    inputs: &[T],
    cost: impl Fn(&str, T) -> Option<f64>,
    function: impl Fn(T) -> R,
) -> Option<Prediction> {
    let costs: Vec<f64> = inputs.iter().map(|&input| cost(id, input)).collect::<Option<_>>()?;
    let least_adds = QUIET_SHARE * metronome::known_adds_per_cycle().unwrap_or_else(possible_adds_per_cycle);
    let mut random = Random(start());
    let mut quiet = Vec::new();
    let mut timed = 0;
    while quiet.len() < QUIET_BLOCKS && timed < MOST_BLOCKS {
        let block = Block::time(inputs, &costs, &mut random, &function);
        quiet.extend((block.adds_per_cycle() >= least_adds).then_some(block));
        timed += 1;
    }
    let errors: Vec<f64> = quiet.iter().flat_map(Block::errors).collect();
    let sizes: Vec<f64> = errors.iter().copied().map(f64::abs).collect();
    let error = statistics::median(&sizes).zip(statistics::median(&errors)).map(|(size, bias)| Error { size, bias });
    Some(Prediction { id, quiet: quiet.len(), timed, error: error.filter(|_| quiet.len() >= LEAST_QUIET_BLOCKS) })
}

/// How many additions the core has made in a cycle in the best of many tries.
fn possible_adds_per_cycle() -> f64 {
    let empty: fn(u64) = |_| ();
    let mut random = Random(0);
    (0..QUIET_BLOCKS).map(|_| Block::time(&[0], &[1.0], &mut random, empty).adds_per_cycle()).fold(0.0, f64::max)
}

/// Some multisets, timed one after the other at one frequency of the core.
struct Block {
    ticks_per_cycle: f64,
    /// For each multiset the cycles predicted and the ticks measured.
    multisets: Vec<(f64, f64)>,
    /// What independent additions took before the first multiset and after each.
    pulses: Vec<f64>,
}

impl Block {
    fn time<T: Copy, R>(inputs: &[T], costs: &[f64], random: &mut Random, function: impl Fn(T) -> R) -> Self {
        let mut block = Self { ticks_per_cycle: 0.0, multisets: Vec::new(), pulses: vec![pulse()] };
        let (mut short, mut long) = (Vec::new(), Vec::new());
        for _ in 0..MULTISETS_PER_BLOCK {
            let (mut multiset, cycles) = multiset(inputs, costs, random);
            short.push(metronome::dependent_ticks(SHORT_BLOCKS) as f64);
            let ticks = time(&mut multiset, &function);
            block.pulses.push(pulse());
            long.push(metronome::dependent_ticks(LONG_BLOCKS) as f64);
            block.multisets.push((cycles, ticks));
        }
        let step = step_ticks() as f64;
        let difference = robust::dominant_mean(&mut long, step) - robust::dominant_mean(&mut short, step);
        block.ticks_per_cycle = difference / f64::from((LONG_BLOCKS - SHORT_BLOCKS) * metronome::DEPENDENT_ADDS);
        block
    }

    /// The additions that were possible in a cycle when they were the fewest.
    fn adds_per_cycle(&self) -> f64 {
        let longest = self.pulses.iter().copied().fold(1.0, f64::max);
        f64::from(PULSE_BLOCKS * metronome::INDEPENDENT_ADDS) * self.ticks_per_cycle / longest
    }

    /// By how much the prediction for each multiset is too high, as a share.
    fn errors(&self) -> impl Iterator<Item = f64> + '_ {
        self.multisets.iter().map(|&(cycles, ticks)| cycles * self.ticks_per_cycle / ticks - 1.0)
    }
}

/// What the independent additions take, without the cost of the clock.
fn pulse() -> f64 {
    metronome::independent_ticks(PULSE_BLOCKS) as f64 - pair_cost().mean_ticks
}

/// Inputs in random order, and the cycles predicted for them. What costs the same, and so is of one group, comes between half
/// and one and a half times as often as in the benchmark: the mix differs, and branches stay as hard to foresee.
fn multiset<T: Copy>(inputs: &[T], costs: &[f64], random: &mut Random) -> (Vec<T>, f64) {
    let repetitions = MULTISET_CYCLES / costs.iter().sum::<f64>().max(1.0);
    let mut shares = HashMap::new();
    let mut multiset = Vec::new();
    let mut cycles = 0.0;
    for (&input, cost) in inputs.iter().zip(costs) {
        let share = *shares.entry(cost.to_bits()).or_insert_with(|| 0.5 + random.share());
        // The fraction becomes one more call, as often as it says.
        let count = (repetitions * share + random.share()) as usize;
        multiset.extend(std::iter::repeat_n(input, count));
        cycles += count as f64 * cost;
    }
    random.shuffle(&mut multiset);
    (multiset, cycles)
}

/// Calls `function` for each input, and returns the ticks without the cost of the clock. The loop has the form of the engine's,
/// because what it costs is part of the figure.
#[inline(never)]
fn time<T: Copy, R>(multiset: &mut Vec<T>, function: impl Fn(T) -> R) -> f64 {
    let mut inputs = black_box(multiset).drain(..);
    let begin = start();
    for input in inputs.by_ref() {
        black_box(function(black_box(input)));
    }
    let end = stop();
    end.wrapping_sub(begin) as f64 - pair_cost().mean_ticks
}

/// The generator splitmix64 by Sebastiano Vigna: 64 bits of state are enough to draw and to shuffle.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to 1, which it does not reach.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.share() * limit as f64) as usize
    }

    /// The shuffle by Fisher and Yates.
    fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.below(last + 1));
        }
    }
}
