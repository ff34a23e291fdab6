//! The tests of what a person sees are in `tests/`, and the programs that they run in `fixtures/`. What is here serves the two
//! programs that check the figures themselves: the benchmark in `benches/truth` and the tool in `examples/spread.rs`.

pub mod markdown;
pub mod statistics;
