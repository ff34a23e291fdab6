//! What does a call cost that changes what it works on?
//!
//! ```sh
//! cargo run --release -p nanobench-examples --example setup
//! ```
//!
//! Sorting a sorted vector is another question than sorting a shuffled one, and a map that grows with each call never costs the same
//! twice. `with_inputs` makes an input for each call while the clock stands still; `setup` makes a state for each epoch.

use std::collections::HashMap;

use nanobench::{Bench, Rng, black_box};

fn main() {
    let mut rng = Rng::new(1);
    let mut shuffled = || {
        let mut numbers: Vec<u32> = (0..100).collect();
        rng.shuffle(&mut numbers);
        numbers
    };

    let mut bench = Bench::new();
    bench.title("sorting 100 numbers").relative(true);
    let mut numbers = shuffled();
    bench.run("the same again, so sorted", || black_box(&mut numbers).sort_unstable());
    bench.with_inputs(&mut shuffled).run_refs("shuffled, lent", |numbers| numbers.sort_unstable());
    bench.with_inputs(&mut shuffled).run_values("shuffled, given and handed back", |mut numbers| {
        numbers.sort_unstable();
        numbers
    });

    bench.title("inserting into a map");
    let mut next = 0u64;
    bench.setup(HashMap::new).run("a new one for each epoch", |map: &mut HashMap<u64, u64>| {
        next += 1;
        map.insert(black_box(next), next)
    });
}
