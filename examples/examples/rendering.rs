//! Results as CSV, as JSON, as a page with box plots, for pyperf, and as whatever a template says.
//!
//! ```sh
//! cargo run --release -p nanobench-examples --example rendering -- DIRECTORY
//! ```
//!
//! The files go into the directory, which is the current one if none is given.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::fs::{self, File};
use std::path::PathBuf;

use nanobench::{Bench, black_box, templates};

const WORDS: [&str; 12] = ["the", "quick", "brown", "fox", "jumps", "over", "the", "lazy", "dog", "and", "the", "fox"];

/// One line for each result.
const LINES: &str = "{{#result}}{{name}}: {{median(elapsedns)}} ns, in {{context(words)}} words\n{{/result}}";

fn main() -> Result<(), Box<dyn Error>> {
    let directory = PathBuf::from(std::env::args_os().nth(1).unwrap_or_else(|| ".".into()));
    fs::create_dir_all(&directory)?;

    let mut bench = Bench::new();
    bench.title("counting words").context("words", WORDS.len().to_string());
    bench.run("HashMap", || {
        let mut counts = HashMap::new();
        black_box(WORDS).iter().for_each(|word| *counts.entry(*word).or_insert(0) += 1);
        counts
    });
    bench.run("BTreeMap", || {
        let mut counts = BTreeMap::new();
        black_box(WORDS).iter().for_each(|word| *counts.entry(*word).or_insert(0) += 1);
        counts
    });
    bench.run("sorted \"by hand\"", || {
        let mut words = black_box(WORDS);
        words.sort_unstable();
        words.chunk_by(|a, b| a == b).map(|group| (group[0], group.len())).collect::<Vec<_>>()
    });

    let files = [
        ("words.csv", templates::csv()),
        ("words.json", templates::json()),
        ("words.html", templates::html()),
        ("words.pyperf.json", templates::pyperf()),
        ("words.txt", LINES),
    ];
    for (name, template) in files {
        let path = directory.join(name);
        bench.render(template, File::create(&path)?)?;
        println!("wrote {}", path.display());
    }
    Ok(())
}
