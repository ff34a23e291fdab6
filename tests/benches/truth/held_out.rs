//! Functions whose cost depends on the input, for which no table gives the truth. What can be checked is whether the costs that
//! were solved for predict what they have not seen: multisets drawn and timed here, by other code than the engine's. The functions
//! are not inlined, so that both time the same instructions at the same address. The loops around them are the same instructions
//! too, and lie elsewhere, where branches share the predictor's tables with others: what that makes of a function of many branches, a
//! per cent or two and the same in every process of a build, is part of the error.

use std::collections::HashMap;
use std::convert::identity;
use std::sync::LazyLock;

use nanobench::{black_box, nanobench};
use nanobench_tests::statistics;
use nanobench_timer::{metronome, pair_cost, predictor, robust, start, step_ticks, stop};
use tinyjson::JsonValue;

use crate::rows;

/// How long a part of a multiset should take, in cycles: so long that the first calls, for which the predictor has just had
/// something else to do, are a small part of it. The engine's model has a constant that takes what they cost more.
const PART_CYCLES: f64 = 100_000.0;

/// How many parts a multiset is timed in, one after the other, with the metronomes in between: the luck of single branches is a
/// small part of their sum.
const PARTS: u32 = 2;

/// How many parts come before these and are not timed: the predictor is made to forget before each multiset, as it is before each
/// epoch of a benchmark, and learns again what there is to learn.
const LEARNING_PARTS: u32 = 2;

/// How many multisets are wanted during which the core was ours alone, how many are timed at most to get them, and how few say
/// nothing.
const QUIET_MULTISETS: usize = 60;
const MOST_MULTISETS: usize = 1_000;
const LEAST_QUIET_MULTISETS: usize = 10;

/// The core is ours alone when it can make at least this share of the additions that are possible in a cycle.
const QUIET_SHARE: f64 = 0.93;

/// The blocks of additions between whose durations the difference is taken, and those of a reading of independent ones.
const SHORT_BLOCKS: u32 = 4;
const LONG_BLOCKS: u32 = 16;
const PULSE_BLOCKS: u32 = 20;

/// How often both chains are timed before each part: a single reading is wrong by up to a step of the clock in forty.
const CHAIN_PAIRS: u32 = 16;

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

/// Texts of 64 characters, each character of one to four bytes in UTF-8 as likely as any other, or all of the same length.
static TEXTS: LazyLock<Vec<(&str, String)>> = LazyLock::new(|| {
    let mut random = Random(2);
    let mut text = |choice: &[char]| (0..64).map(|_| choice[random.below(choice.len())]).collect::<String>();
    let scripts = [("latin", 'e'), ("greek", 'ε'), ("kana", 'え'), ("emoji", '🦀')];
    let characters = scripts.map(|(_, character)| character);
    let mut texts = Vec::new();
    for _ in 0..10 {
        texts.extend(scripts.map(|(script, character)| (script, text(&[character]))));
        texts.push(("mixed", text(&characters)));
    }
    texts
});

#[nanobench(inputs = TEXTS.iter().map(|(_, text)| text.clone()), by = |text| script(text))]
#[inline(never)]
fn decode(text: &str) -> u32 {
    text.chars().fold(0, |sum, c| sum.wrapping_add(u32::from(c)))
}

/// What the list says that the text is.
fn script(text: &str) -> &'static str {
    TEXTS.iter().find(|(_, known)| known == text).map_or("unknown", |(script, _)| script)
}

/// The names of the benchmarks.
pub(crate) const IDS: [&str; 4] = ["held_out::copy", "held_out::collatz", "held_out::parse", "held_out::decode"];

/// Where this variable is set, the program times multisets after the benchmarks and writes each as JSON.
pub(crate) const VARIABLE: &str = "TRUTH_HELD_OUT";

/// How well the costs of one benchmark predict what they have not seen.
pub(crate) struct Prediction {
    pub(crate) id: &'static str,
    /// How many multisets were timed while the core was not shared, and how many in all.
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

/// A multiset that was timed.
pub(crate) struct Multiset {
    id: String,
    /// Whether the core was ours alone all the time.
    is_quiet: bool,
    cycles: f64,
    /// How many inputs of each group it had.
    counts: HashMap<String, f64>,
}

impl Multiset {
    /// None if the line is about something else.
    pub(crate) fn read(json: &JsonValue) -> Option<Self> {
        let counts = json.get::<HashMap<String, JsonValue>>()?.get("counts")?.get::<HashMap<String, JsonValue>>()?;
        Some(Self {
            id: rows::text(json, &["held_out"])?,
            is_quiet: rows::is_true(json, &["quiet"]),
            cycles: rows::number(json, &["cycles"])?,
            counts: counts.iter().filter_map(|(group, count)| Some((group.clone(), *count.get::<f64>()?))).collect(),
        })
    }

    fn write(self) {
        let counts = self.counts.into_iter().map(|(group, count)| (group, count.into())).collect();
        let members = [
            ("held_out", JsonValue::from(self.id)),
            ("quiet", self.is_quiet.into()),
            ("cycles", self.cycles.into()),
            ("counts", JsonValue::Object(counts)),
        ];
        let object = JsonValue::Object(members.map(|(name, value)| (name.to_owned(), value)).into());
        println!("{}", object.stringify().unwrap_or_default());
    }

    /// By how much the prediction from `costs` is too high, as a share. None if the cost of an input is missing.
    fn error(&self, costs: &HashMap<(String, String), f64>) -> Option<f64> {
        let cost = |(group, count): (&String, &f64)| Some(count * costs.get(&(self.id.clone(), group.clone()))?);
        let predicted: f64 = self.counts.iter().map(cost).sum::<Option<f64>>()?;
        Some(predicted / self.cycles - 1.0)
    }
}

/// Holds the costs, cycles by the benchmark's name and the label of the input, against the multisets.
pub(crate) fn predictions(costs: &HashMap<(String, String), f64>, multisets: &[Multiset]) -> Vec<Prediction> {
    let predict = |id: &'static str| {
        let timed: Vec<&Multiset> = multisets.iter().filter(|multiset| multiset.id == id).collect();
        let quiet: Vec<&Multiset> = timed.iter().copied().filter(|multiset| multiset.is_quiet).collect();
        let errors: Vec<f64> = quiet.iter().map(|multiset| multiset.error(costs)).collect::<Option<_>>()?;
        let sizes: Vec<f64> = errors.iter().copied().map(f64::abs).collect();
        let error =
            statistics::median(&sizes).zip(statistics::median(&errors)).map(|(size, bias)| Error { size, bias });
        let error = error.filter(|_| quiet.len() >= LEAST_QUIET_MULTISETS);
        (!timed.is_empty()).then_some(Prediction { id, quiet: quiet.len(), timed: timed.len(), error })
    };
    IDS.into_iter().filter_map(predict).collect()
}

/// Times multisets of all functions and writes them to standard output.
pub(crate) fn time_all() {
    if !metronome::is_available() {
        return;
    }
    let numbers: Vec<(String, &str)> = NUMBERS.iter().map(|digits| (digits.len().to_string(), &**digits)).collect();
    let texts: Vec<(String, &str)> = TEXTS.iter().map(|(script, text)| ((*script).to_owned(), &**text)).collect();
    time_function(IDS[0], &COPIES.map(|length| (length.to_string(), length)), black_box, copy);
    time_function(IDS[1], &STARTS.map(|number| (number.to_string(), number)), black_box, collatz);
    time_function(IDS[2], &numbers, identity, parse);
    time_function(IDS[3], &texts, identity, decode);
}

/// Times multisets until enough of them were quiet. All are written at the end: the writing would leave the caches and the
/// predictor to the next one in another state than the engine does.
fn time_function<T: Copy, R>(id: &str, inputs: &[(String, T)], hide: impl Fn(T) -> T, function: impl Fn(T) -> R) {
    let function = |input| function(hide(input));
    let values: Vec<T> = inputs.iter().map(|&(_, value)| value).collect();
    let least_adds = QUIET_SHARE * metronome::known_adds_per_cycle().unwrap_or_else(possible_adds_per_cycle);
    let mut random = Random(start());
    let even = vec![1.0; values.len()];
    let cycles_of_one_each = Timed::new(&values, &even, &mut random, function).cycles() / f64::from(PARTS);
    let repetitions = PART_CYCLES / cycles_of_one_each.max(1.0);
    let (mut timed, mut quiet) = (Vec::new(), 0);
    while quiet < QUIET_MULTISETS && timed.len() < MOST_MULTISETS {
        // The mix differs from that of the benchmark, and branches stay about as hard to foresee: with a group twice as frequent
        // as another, the predictor would bet on it, and calls would cost something else.
        let mut shares: HashMap<&str, f64> = HashMap::new();
        let mut of_group = |group| *shares.entry(group).or_insert_with(|| 0.75 + 0.5 * random.share());
        let wanted: Vec<f64> = inputs.iter().map(|(group, _)| repetitions * of_group(group)).collect();
        let multiset = Timed::new(&values, &wanted, &mut random, function);
        quiet += usize::from(multiset.adds_per_cycle() >= least_adds);
        timed.push(multiset);
    }
    for multiset in timed {
        let mut counts: HashMap<String, f64> = HashMap::new();
        for ((group, _), count) in inputs.iter().zip(&multiset.counts) {
            *counts.entry(group.clone()).or_default() += *count as f64;
        }
        let (is_quiet, cycles) = (multiset.adds_per_cycle() >= least_adds, multiset.cycles());
        Multiset { id: id.to_owned(), is_quiet, cycles, counts }.write();
    }
}

/// How many additions the core has made in a cycle in the best of many tries.
fn possible_adds_per_cycle() -> f64 {
    let empty: fn(u64) = |_| ();
    let mut random = Random(0);
    (0..QUIET_MULTISETS).map(|_| Timed::new(&[0], &[1.0], &mut random, empty).adds_per_cycle()).fold(0.0, f64::max)
}

/// A multiset while it is timed. Its parts count together or not at all: in one quiet reading among many that are not, the
/// neighbour has only paused.
struct Timed {
    ticks_per_cycle: f64,
    ticks: f64,
    /// How often each input came.
    counts: Vec<usize>,
    /// What independent additions took before and after each part.
    pulses: Vec<f64>,
}

impl Timed {
    /// Times each of `inputs` as often in each part as `wanted` says on average.
    fn new<T: Copy, R>(inputs: &[T], wanted: &[f64], random: &mut Random, function: impl Fn(T) -> R) -> Self {
        let mut timed = Self { ticks_per_cycle: 0.0, ticks: 0.0, counts: vec![0; inputs.len()], pulses: Vec::new() };
        let (mut short, mut long) = (Vec::new(), Vec::new());
        let mut part = Vec::new();
        predictor::forget(&mut || random.next());
        for number in 0..LEARNING_PARTS + PARTS {
            let is_timed = number >= LEARNING_PARTS;
            for ((&input, &wanted), total) in inputs.iter().zip(wanted).zip(&mut timed.counts) {
                // The fraction becomes one more call, as often as it says.
                let count = (wanted + random.share()) as usize;
                part.extend(std::iter::repeat_n(input, count));
                *total += if is_timed { count } else { 0 };
            }
            random.shuffle(&mut part);
            if !is_timed {
                time(&mut part, &function);
                continue;
            }
            for _ in 0..CHAIN_PAIRS {
                short.push(metronome::dependent_ticks(SHORT_BLOCKS) as f64);
                long.push(metronome::dependent_ticks(LONG_BLOCKS) as f64);
            }
            timed.pulses.push(pulse());
            timed.ticks += time(&mut part, &function);
            timed.pulses.push(pulse());
        }
        let step = step_ticks() as f64;
        let difference = robust::dominant_mean(&mut long, step) - robust::dominant_mean(&mut short, step);
        timed.ticks_per_cycle = difference / f64::from((LONG_BLOCKS - SHORT_BLOCKS) * metronome::DEPENDENT_ADDS);
        timed
    }

    fn cycles(&self) -> f64 {
        self.ticks / self.ticks_per_cycle
    }

    /// The additions that were possible in a cycle when they were the fewest.
    fn adds_per_cycle(&self) -> f64 {
        let longest = self.pulses.iter().copied().fold(1.0, f64::max);
        f64::from(PULSE_BLOCKS * metronome::INDEPENDENT_ADDS) * self.ticks_per_cycle / longest
    }
}

/// What the independent additions take, without the cost of the clock.
fn pulse() -> f64 {
    metronome::independent_ticks(PULSE_BLOCKS) as f64 - pair_cost().mean_ticks
}

/// Calls `function` for each input, and returns the ticks without the cost of the clock. The loop has the form of the engine's,
/// because what it costs is part of the figure: inputs that fit a register are hidden in one, by the function, and others come out
/// of memory that the optimiser cannot see into.
#[inline(never)]
fn time<T: Copy, R>(multiset: &mut Vec<T>, function: impl Fn(T) -> R) -> f64 {
    let mut inputs = black_box(multiset).drain(..);
    let begin = start();
    for input in inputs.by_ref() {
        black_box(function(input));
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
