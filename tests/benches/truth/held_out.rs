//! Functions whose cost depends on the input, for which no table gives the truth. What can be checked is whether the costs that
//! were solved for predict what they have not seen: what a call costs on average where the inputs are as frequent as in another
//! multiset. Each of these is measured in a process of its own, by the same instructions at the same addresses within a page: a loop
//! somewhere else, of the same instructions, was 3 to 8 % off for the copy, since there its branches meet others in the predictor.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

use nanobench::{black_box, nanobench};
use nanobench_tests::statistics::median;

use crate::Row;
use crate::chains::THROUGHPUT;

/// How many multisets are measured for each process that measures the costs.
pub(crate) const MULTISETS: usize = 3;

/// How often each input comes in the list of those whose costs are solved for, and in a multiset, where it depends on the group. Groups
/// are about as much more or less frequent there as among some hundred calls drawn at random. Where they differ much more, the
/// predictor bets on the frequent ones, and calls cost something else.
const TYPICAL_REPETITIONS: usize = 16;
const REPETITIONS: std::ops::RangeInclusive<u64> = 14..=18;

/// Where this variable has a number, the inputs of the benchmarks are those of the multiset of that number.
pub(crate) const VARIABLE: &str = "TRUTH_MULTISET";

/// The names of the benchmarks.
pub(crate) const IDS: [&str; 4] = [COPY, COLLATZ, PARSE, DECODE];
const COPY: &str = "held_out::copy";
const COLLATZ: &str = "held_out::collatz";
const PARSE: &str = "held_out::parse";
const DECODE: &str = "held_out::decode";

const COPIES: [usize; 8] = [3, 3, 4, 4, 7, 7, 8, 8];

/// Copies so many bytes.
#[nanobench(inputs = drawn(COPY, COPIES, usize::to_string))]
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
#[nanobench(inputs = drawn(COLLATZ, STARTS, u64::to_string))]
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

#[nanobench(inputs = drawn(PARSE, NUMBERS.iter().map(String::as_str), digits), by = digits)]
#[inline(never)]
fn parse(number: &'static str) -> Option<u64> {
    number.parse().ok()
}

fn digits(number: &&str) -> String {
    number.len().to_string()
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

#[nanobench(inputs = drawn(DECODE, TEXTS.iter().map(|(_, text)| text.as_str()), script), by = script)]
#[inline(never)]
fn decode(text: &'static str) -> u32 {
    text.chars().fold(0, |sum, c| sum.wrapping_add(u32::from(c)))
}

/// What the list says that the text is.
fn script(text: &&str) -> String {
    TEXTS.iter().find(|(_, known)| known == text).map_or("unknown", |(script, _)| script).to_owned()
}

/// The inputs of the benchmark `id`: those given, or those of the multiset that the variable asks for.
fn drawn<T: Clone>(id: &str, inputs: impl IntoIterator<Item = T>, label: impl Fn(&T) -> String) -> Vec<T> {
    let multiset = std::env::var(VARIABLE).ok().and_then(|number| number.parse().ok());
    let times = |input: &T| multiset.map_or(TYPICAL_REPETITIONS, |multiset| repetitions(multiset, id, &label(input)));
    inputs.into_iter().flat_map(|input| std::iter::repeat_n(input.clone(), times(&input))).collect()
}

/// How often the inputs of a group come in a multiset.
fn repetitions(multiset: usize, id: &str, group: &str) -> usize {
    let mut hasher = DefaultHasher::new();
    (multiset, id, group).hash(&mut hasher);
    (REPETITIONS.start() + hasher.finish() % REPETITIONS.clone().count() as u64) as usize
}

/// The groups of the inputs of a benchmark, by as many labels as the list has of them.
fn groups(id: &str) -> Vec<String> {
    match id {
        COPY => COPIES.iter().map(usize::to_string).collect(),
        COLLATZ => STARTS.iter().map(u64::to_string).collect(),
        PARSE => NUMBERS.iter().map(|number| digits(&number.as_str())).collect(),
        _ => TEXTS.iter().map(|(_, text)| script(&text.as_str())).collect(),
    }
}

/// How well the costs of one benchmark predict what they have not seen.
pub(crate) struct Prediction {
    pub(crate) id: &'static str,
    /// By how much the predictions for each multiset were too high, as a share of what was measured. Those are missing of which either
    /// side calls itself unstable.
    pub(crate) errors: Vec<f64>,
}

impl Prediction {
    /// The median of the size of the errors, and that with their signs; none if all are missing.
    pub(crate) fn error(&self) -> Option<(f64, f64)> {
        let sizes: Vec<f64> = self.errors.iter().copied().map(f64::abs).collect();
        median(&sizes).zip(median(&self.errors))
    }
}

/// Holds the costs in `rows` against those of multisets, given by their numbers with the rows that were measured of them.
pub(crate) fn predictions(rows: &[Row], multisets: &[(usize, Vec<Row>)]) -> Vec<Prediction> {
    let predict = |id: &'static str| {
        let costs: HashMap<&str, f64> =
            stable(rows, id).filter_map(|row| row.group.as_deref().zip(cycles(row))).collect();
        let error = |(number, rows): &(usize, Vec<Row>)| {
            let measured = stable(rows, id).find(|row| row.group.is_none()).and_then(cycles)?;
            let (mut calls, mut total) = (0.0, 0.0);
            for group in groups(id) {
                let times = repetitions(*number, id, &group) as f64;
                calls += times;
                total += times * costs.get(&*group)?;
            }
            Some(total / calls / measured - 1.0)
        };
        let is_measured = rows.iter().any(|row| row.id == id);
        is_measured.then(|| Prediction { id, errors: multisets.iter().filter_map(error).collect() })
    };
    IDS.into_iter().filter_map(predict).collect()
}

fn stable<'a>(rows: &'a [Row], id: &'a str) -> impl Iterator<Item = &'a Row> {
    rows.iter().filter(move |row| row.id == id && row.mode == THROUGHPUT && !row.is_unstable())
}

fn cycles(row: &Row) -> Option<f64> {
    Some(row.estimate?.cycles)
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

    fn below(&mut self, limit: usize) -> usize {
        ((self.next() >> 11) as f64 / (1u64 << 53) as f64 * limit as f64) as usize
    }
}
