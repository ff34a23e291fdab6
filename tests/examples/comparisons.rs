//! Are equal functions called equal, and different ones different?
//!
//! ```sh
//! cargo run --release -p nanobench-tests --example comparisons            # 20 comparisons of each kind
//! cargo run --release -p nanobench-tests --example comparisons -- 100
//! ```
//!
//! The finaliser of splitmix64 is compared with itself, and a chain of four dependent multiplications with one of five, whose
//! results feed the next call: 12 cycles against 15.

use nanobench::{Bench, Case, Comparison, black_box};

fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Multiplies so often; the compiler does not know that one multiplication would do.
fn product<const FACTORS: usize>(mut x: u64) -> u64 {
    for _ in 0..FACTORS {
        x = black_box(x).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    x
}

fn main() {
    let times: usize = std::env::args().nth(1).and_then(|times| times.parse().ok()).unwrap_or(20);
    let repeat = |compare: &dyn Fn() -> Comparison| (0..times).map(|_| compare()).collect::<Vec<_>>();

    let same = repeat(&|| {
        let case = |name| Case::new(name, || mix(black_box(1)));
        Bench::new().no_output().compare([case("mix"), case("mix again")])
    });
    let told_apart = same.iter().filter(|comparison| comparison.is_significant(1)).count();
    println!("mix and itself: told apart {told_apart} times of {times}");

    let chains = repeat(&|| {
        let (mut four, mut five) = (black_box(3), black_box(3));
        Bench::new().no_output().compare([
            Case::new("five", || {
                five = product::<5>(five);
                five
            }),
            Case::new("four", || {
                four = product::<4>(four);
                four
            }),
        ])
    });
    let told_apart = chains.iter().filter(|comparison| comparison.is_significant(1)).count();
    let ratios: Vec<f64> = chains.iter().map(|comparison| 1.0 / comparison.entries()[1].relative).collect();
    let (least, most) = ratios.iter().fold((f64::INFINITY, 0.0f64), |(least, most), &r| (least.min(r), most.max(r)));
    println!(
        "chains of four and five: told apart {told_apart} times of {times}; ratio {least:.4} .. {most:.4}, in truth 0.8"
    );
}
