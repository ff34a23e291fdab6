//! What does it cost to split a record of a CSV file, and what do quotes add?
//!
//! The parser is `csv-core`, with which the `csv` crate reads: a state machine that is fed byte after byte. A record has
//! eight fields: numbers of one to nine digits, or two words of one to nine letters. In records of the third kind one field
//! in three is quoted, since there is a comma between the words, in those of the fourth since there are quotes in it. Where
//! a field ends and whether the next one is quoted is random. A row `repeated` is one record over and over, of the median
//! length of its kind.
//!
//! There are 300 records of each kind. A processor learns even that many by heart, one by one, as far as it has room: with
//! 30 of each, which also fit into the first-level cache, the mean is 101 ns, and with 1,000 of each it is 200 to 250 ns,
//! or 182 ns after two seconds. So the mix still flatters the parser, but far less than a repeated record.
//!
//! ```text
//! |  ns/op |           95% CI |   cyc/op | benchmark
//! |-------:|-----------------:|---------:|:----------
//! | 161.60 | 160.71 .. 162.45 |   596.82 | `read_record`
//! | 109.12 | 107.60 .. 110.61 |   403.00 | `read_record/numbers`
//! |  45.90 |   45.84 .. 45.96 |   169.41 | `read_record/numbers` repeated
//! | 144.57 | 143.00 .. 146.12 |   533.95 | `read_record/words`
//! |  70.92 |   70.90 .. 70.95 |   262.00 | `read_record/words` repeated
//! | 184.20 | 182.49 .. 185.88 |   680.32 | `read_record/commas in quotes`
//! |  85.92 |   85.54 .. 86.30 |   317.32 | `read_record/commas in quotes` repeated
//! | 208.49 | 206.82 .. 210.11 |   770.01 | `read_record/quotes in quotes`
//! |  91.48 |   91.26 .. 91.70 |   337.91 | `read_record/quotes in quotes` repeated
//! ```
//!
//! One of sixteen runs on one processor of a virtual machine, in a quiet moment: up to 18 % of the samples of a row were
//! left out since the core was shared. The medians of the thirteen quiet runs are within 2 % of these figures.
//!
//! More than half of the time in the mix is not there with a repeated record, and quotes add 40 to 64 ns instead of 15 to
//! 21: who optimises for a repeated record works on the cost of a byte, and does not see what it costs that nobody foresees
//! where the fields end.

use std::cell::RefCell;

use csv_core::{ReadRecordResult, Reader};
use nanobench::nanobench;
use nanobench_examples::{below, integer, random_numbers, typical_first, word};

const RECORDS: usize = 300;
const FIELDS: usize = 8;

/// What is in the fields of a record, and the line.
type Record = (&'static str, String);

/// One field in three is quoted in a record that has quotes.
fn field(kind: &str, random: &mut impl Iterator<Item = u64>) -> String {
    if kind == "numbers" {
        return integer(random).to_string();
    }
    let (first, second) = (word(random, 9), word(random, 9));
    match (kind, below(random, 3)) {
        ("commas in quotes", 0) => format!("\"{first}, {second}\""),
        ("quotes in quotes", 0) => format!("\"{first} \"\"{second}\"\"\""),
        _ => format!("{first} {second}"),
    }
}

fn records() -> Vec<Record> {
    let mut random = random_numbers();
    let mut line = |kind| (0..FIELDS).map(|_| field(kind, &mut random)).collect::<Vec<_>>().join(",") + "\n";
    let group =
        |kind| typical_first((0..RECORDS).map(|_| (kind, line(kind))).collect(), |(_, line): &Record| line.len());
    ["numbers", "words", "commas in quotes", "quotes in quotes"].into_iter().flat_map(group).collect()
}

/// A reader and the buffers that it writes to, as a program has them that reads a file.
struct Parser {
    reader: Reader,
    text: Vec<u8>,
    ends: Vec<usize>,
}

thread_local! {
    static PARSER: RefCell<Parser> =
        RefCell::new(Parser { reader: Reader::new(), text: vec![0; 1024], ends: vec![0; 2 * FIELDS] });
}

#[nanobench(inputs = records(), by = |(kind, _)| *kind, repeated)]
fn read_record((_, line): &Record) -> usize {
    PARSER.with_borrow_mut(|Parser { reader, text, ends }| {
        let (result, _, _, fields) = reader.read_record(line.as_bytes(), text, ends);
        assert!(matches!(result, ReadRecordResult::Record), "{line}");
        fields
    })
}

nanobench::main!();
