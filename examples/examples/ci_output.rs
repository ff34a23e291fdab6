//! Benchmarks in continuous integration: the table for people on standard error, a document for the next step on standard output.
//!
//! ```sh
//! cargo run --release -p nanobench-examples --example ci_output > benchmarks.json
//! ```
//!
//! The document is a list of names, units and values, with the interval as the range, as services that draw such figures over
//! time read it. A template says so in three lines. The program fails if a figure is not to be relied on, rather than to
//! record it.

use std::error::Error;
use std::io;
use std::process::ExitCode;

use nanobench::{Bench, Measurement, Outcome, black_box};

const TEMPLATE: &str = "[{{#result}}
  {\"name\": {{json name}}, \"unit\": \"ns/iter\", \"value\": {{json nanoseconds}}, \"range\": \"{{low}} .. {{high}}\"}\
{{^-last}},{{/-last}}{{/result}}
]
";

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut bench = Bench::new();
    bench.title("parsing addresses").output(io::stderr());
    for text in ["127.0.0.1", "255.255.255.255", "::1", "2001:db8:85a3::8a2e:370:7334"] {
        bench.run(text, || black_box(text).parse::<std::net::IpAddr>());
    }
    bench.render(TEMPLATE, io::stdout().lock())?;
    let is_ok = |result: &Measurement| *result.outcome() == Outcome::Ok;
    if !bench.results().iter().all(is_ok) {
        eprintln!("some figures are not to be relied on, so none should be recorded");
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}
