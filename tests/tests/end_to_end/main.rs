//! What a person, cargo and nextest see of a bench target: standard output, standard error and the exit code of the programs
//! in `fixtures/`.

mod support;

mod allocations;
mod bench;
mod cases;
mod colors;
mod cpu;
mod errors;
mod filters;
mod groups;
mod help;
mod list;
mod measure;
mod modes;
mod names;
mod overhead;
mod panics;
mod run_once;
mod settings;
mod streams;
mod sweep;
mod threads;
