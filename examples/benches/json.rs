//! JSON has come as bytes: should they be parsed as they are, or be checked to be UTF-8 before?
//!
//! `serde_json::from_slice` takes bytes and checks each string by itself when it has found its end. `from_str` need not
//! check, and `std::str::from_utf8` before it goes over the whole text once more, at many bytes a step. Which of the two
//! ways is cheaper depends on how much of the text are strings.
//!
//! The messages are arrays of eight integers, floating-point numbers or strings, of which in one kind a half needs an
//! escape, and objects of eight members with values of several types. The kinds are equally frequent and come in random
//! order. Lengths of numbers and strings are random too. A row `repeated` is one message over and over, of the median
//! length of its kind.
//!
//! ```text
//! |  ns/op |           95% CI |   cyc/op | benchmark
//! |-------:|-----------------:|---------:|:----------
//! | 576.01 | 573.08 .. 578.64 | 2,127.96 | `from_slice`
//! | 273.98 | 268.01 .. 279.81 | 1,012.17 | `from_slice/integers`
//! | 183.59 | 182.80 .. 184.32 |   678.13 | `from_slice/integers` repeated
//! | 358.82 | 352.43 .. 365.02 | 1,325.59 | `from_slice/floats`
//! | 239.40 | 238.64 .. 240.17 |   885.14 | `from_slice/floats` repeated
//! | 525.60 | 519.51 .. 531.43 | 1,941.76 | `from_slice/text`
//! | 354.64 | 352.87 .. 356.41 | 1,309.57 | `from_slice/text` repeated
//! | 730.98 | 724.96 .. 736.61 | 2,700.47 | `from_slice/escapes`
//! | 434.40 | 432.34 .. 436.46 | 1,605.77 | `from_slice/escapes` repeated
//! | 990.66 | 984.05 .. 996.76 | 3,659.83 | `from_slice/object`
//! | 644.24 | 641.03 .. 647.45 | 2,378.47 | `from_slice/object` repeated
//! | 486.04 | 483.25 .. 488.80 | 1,794.64 | `check_then_from_str`
//! | 281.33 | 275.94 .. 286.71 | 1,038.80 | `check_then_from_str/integers`
//! | 207.19 | 206.69 .. 207.69 |   765.54 | `check_then_from_str/integers` repeated
//! | 342.07 | 335.86 .. 348.26 | 1,263.04 | `check_then_from_str/floats`
//! | 253.84 | 252.66 .. 255.03 |   937.50 | `check_then_from_str/floats` repeated
//! | 378.09 | 372.08 .. 384.08 | 1,396.06 | `check_then_from_str/text`
//! | 267.20 | 266.06 .. 268.33 |   986.39 | `check_then_from_str/text` repeated
//! | 611.93 | 606.06 .. 617.77 | 2,259.49 | `check_then_from_str/escapes`
//! | 362.23 | 361.48 .. 362.69 | 1,337.20 | `check_then_from_str/escapes` repeated
//! | 816.76 | 810.93 .. 822.56 | 3,015.81 | `check_then_from_str/object`
//! | 598.14 | 595.20 .. 601.08 | 2,210.15 | `check_then_from_str/object` repeated
//! ```
//!
//! One of eight runs on one processor of a virtual machine, in a quiet moment: up to 34 % of the samples of a row were left
//! out since the core was shared. The medians of the runs whose figures were not called unstable are within 5 % of these.
//! The mixed rows of `from_slice` differ by 7 % between them, and by 17 % in one that had two thirds of its samples left
//! out, which is more than their intervals say.
//!
//! Repeated messages promise that checking first saves 9 %, averaged over the kinds, and the mix gives 15 %: the advantage
//! that `from_slice` seems to have with floating-point numbers is gone in it, and that of the check with strings is more
//! than half as large again.

use nanobench::nanobench;
use nanobench_examples::{below, integer, random_numbers, typical_first, word};
use serde_json::Value;

const MESSAGES: usize = 300;
const ITEMS: usize = 8;

/// What is in a message, and its text.
type Message = (&'static str, String);

/// An array of eight items, or an object of eight.
fn message(kind: &str, random: &mut impl Iterator<Item = u64>) -> String {
    let items = (0..ITEMS).map(|index| {
        let (first, second) = (word(random, 12), word(random, 12));
        match (kind, below(random, 4)) {
            ("integers", _) => integer(random).to_string(),
            ("floats", _) => format!("{}.{}", below(random, 1_000), integer(random)),
            ("escapes", 0) => format!(r#""{first}\n{second}""#),
            ("escapes", 1) => format!(r#""{first} \"{second}\"""#),
            ("object", 0) => format!(r#""{first}{index}":{}"#, below(random, 2) == 0),
            ("object", 1) => format!(r#""{first}{index}":{}"#, integer(random)),
            ("object", _) => format!(r#""{first}{index}":"{second}""#),
            _ => format!(r#""{first} {second}""#),
        }
    });
    let items = items.collect::<Vec<_>>().join(",");
    let text = if kind == "object" { format!("{{{items}}}") } else { format!("[{items}]") };
    assert!(serde_json::from_str::<Value>(&text).is_ok(), "{text}");
    text
}

fn messages() -> Vec<Message> {
    let mut random = random_numbers();
    let group = |kind| -> Vec<Message> {
        let group = (0..MESSAGES).map(|_| (kind, message(kind, &mut random))).collect();
        typical_first(group, |(_, text): &Message| text.len())
    };
    ["integers", "floats", "text", "escapes", "object"].into_iter().flat_map(group).collect()
}

#[nanobench(inputs = messages(), by = |(kind, _)| *kind, repeated)]
fn from_slice((_, text): &Message) -> Option<Value> {
    serde_json::from_slice(text.as_bytes()).ok()
}

#[nanobench(inputs = messages(), by = |(kind, _)| *kind, repeated)]
fn check_then_from_str((_, text): &Message) -> Option<Value> {
    serde_json::from_str(std::str::from_utf8(text.as_bytes()).ok()?).ok()
}

nanobench::main!();
