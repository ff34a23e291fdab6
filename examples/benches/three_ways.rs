//! Three estimators on the same functions: least squares, leave-one-out with fresh shuffles, and Highway's replay of one list.
//!
//! Each function has inputs between which its branches cannot choose beforehand. Under each name, the rows of the three ways follow each
//! other: the interval says how sure each of them is, `total` how long it timed.
//!
//! * *Least squares* uses every sample for every input, so its intervals are the narrowest for the time.
//! * *Leave-one-out* takes the difference of two long lists, of which the calls in question are a small part: the noise of both lists
//!   is in it. With lists that are shuffled afresh it finds what least squares find: mix and inputs of the copy agreed within their
//!   intervals in 19 of 20 runs.
//! * *Replay* times one shuffled list over and over. The branch predictor learns it, and the figures are those of branches that are
//!   foreseen, cheaper than what a program pays that meets new data; that the interval is narrow does not make them right, and the next
//!   list has others.
//!
//! On an EPYC of the fourth generation a copy cost 25.2 cycles by least squares, 25.3 by leave-one-out and 18.2 by replay, a varint 22.1,
//! 22.1 and 11.1, and a Collatz number 152, 153 and 119; the input 6 of the latter 49, 50 and 17. For the input 3 of the copy the
//! intervals of the first two were +-0.9 and +-2.2 %, in the same time. Twelve processes differed in the mix of a Collatz number by 0.02 %
//! (a standard deviation) by least squares, and by 2.5 % by replay.
//!
//! ```text
//! cargo bench --bench three_ways
//! ```

use nanobench::black_box;

// None of the functions is inlined, so that the three ways time the same machine code.
#[inline(never)]
fn copy_bytes(length: usize) -> u8 {
    let from = black_box([1u8; 8]);
    let mut to = [0u8; 8];
    to[..length].copy_from_slice(&from[..length]);
    to[0]
}

/// Numbers that take one to four bytes as varints, short ones more often than long ones.
const VARINTS: [u32; 8] = [5, 100, 17, 300, 3, 20_000, 90, 3_000_000];

/// Decodes the varint that a number becomes: seven bits a byte, the highest bit says that there are more.
#[inline(never)]
fn decode_varint(number: u32) -> u32 {
    let mut bytes = [0u8; 5];
    let mut rest = number;
    for byte in &mut bytes {
        *byte = (rest & 0x7f) as u8 | if rest > 0x7f { 0x80 } else { 0 };
        rest >>= 7;
        if rest == 0 {
            break;
        }
    }
    let (mut decoded, mut shift) = (0, 0);
    for byte in black_box(bytes) {
        decoded |= u32::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            break;
        }
    }
    decoded
}

const STARTS: [u64; 8] = [6, 11, 7, 9, 25, 39, 27, 73];

macro_rules! three_ways {
    ($name:ident, $inputs:expr, $input:ty => $result:ty, $function:path) => {
        mod $name {
            use nanobench::nanobench;

            #[nanobench(inputs = $inputs)]
            fn least_squares(input: $input) -> $result {
                $function(input)
            }

            #[nanobench(inputs = $inputs, estimator = "leave-one-out")]
            fn leave_one_out(input: $input) -> $result {
                $function(input)
            }

            #[nanobench(inputs = $inputs, estimator = "replay")]
            fn replay(input: $input) -> $result {
                $function(input)
            }
        }
    };
}

three_ways!(copy, [3, 3, 4, 4, 7, 7, 8, 8], usize => u8, crate::copy_bytes);
three_ways!(varint, crate::VARINTS, u32 => u32, crate::decode_varint);
three_ways!(collatz, crate::STARTS, u64 => u64, nanobench_examples::collatz_steps);

nanobench::main!();
