#![doc = include_str!("../README.md")]

mod allocations;
mod amounts;
mod bench;
mod bencher;
mod black_box;
mod cases;
mod chain;
mod cli;
mod clock;
mod closure;
mod comparison;
pub mod complexity;
mod config;
mod core_width;
mod cpus;
mod engine;
mod groups;
pub mod leave_one_out;
mod machine;
mod measurement;
mod printable;
mod registry;
mod report;
mod rng;
mod runner;
mod stability;
mod stats;
mod target;
mod threads;

#[doc = include_str!("estimator.md")]
pub mod estimator {}

pub mod templates {
    #![doc = include_str!("templates.md")]

    pub use crate::report::template::builtin::{csv, html, json, pyperf};
    pub use crate::report::template::{RenderError, TemplateError};
}

pub use allocations::{Allocations, Allocator};
pub use bench::{Bench, Case, Setup, WithInputs};
pub use bencher::{Bencher, BencherWithInputs};
pub use black_box::{black_box, do_not_optimize_away, unpredictable1};
pub use chain::Chain;
pub use comparison::{Comparison, ComparisonEntry};
pub use config::{Config, Estimator, Overhead, TimeUnit};
pub use leave_one_out::measure;
pub use measurement::{CoreClock, Epoch, Figure, Instability, Interval, Measure, Measurement, Outcome, UnknownMeasure};
pub use nanobench_macros::{group, nanobench};
pub use report::table::Column;
pub use rng::Rng;
pub use target::Mode;

/// Makes the `main` function of a bench target, which runs the functions under [`#[nanobench]`](macro@nanobench).
///
/// The target needs `harness = false` in `Cargo.toml`, so that the standard test harness does not bring a `main` of its own:
///
/// ```toml
/// [[bench]]
/// name = "copy"
/// harness = false
/// ```
///
/// What the program does is decided by its arguments; `cargo bench --bench copy -- --help` lists them.
///
/// # Examples
///
/// ```
/// use nanobench::nanobench;
///
/// #[nanobench]
/// fn nothing() {}
///
/// nanobench::main!();
/// ```
#[macro_export]
macro_rules! main {
    () => {
        fn main() -> ::std::process::ExitCode {
            $crate::__private::main()
        }
    };
}

// The linker sections in which inventory 0.3 keeps its constructors exist on these systems only. On others its registrations
// compile and are never run, so that no benchmark would be found.
#[cfg(not(any(
    windows,
    target_os = "android",
    target_os = "dragonfly",
    target_os = "freebsd",
    target_os = "haiku",
    target_os = "illumos",
    target_os = "ios",
    target_os = "linux",
    target_os = "macos",
    target_os = "netbsd",
    target_os = "none",
    target_os = "nto",
    target_os = "openbsd",
    target_os = "redox",
    target_os = "vxworks",
    target_family = "wasm",
)))]
compile_error!("nanobench cannot register benchmarks on this target: the `inventory` crate does not support it");

/// What the expansions of the macros name. Not part of the public interface: it changes without notice.
#[doc(hidden)]
pub mod __private {
    pub use crate::amounts::{Counted, Size};
    pub use crate::black_box::black_box;
    pub use crate::cases::{Cases, DefaultRuntime, amount, counted, joined, max_calls_of, plain, with_arg};
    pub use crate::chain::link_cycles;
    pub use crate::config::Overrides;
    pub use crate::registry::{Entry, Function, Group, thread_counts};
    pub use crate::runner::main;
    pub use crate::target::{Inputs, Mode, Sample, max_calls, max_calls_plain, sample, sample_chained, sample_plain};
    pub use inventory;
}
