//! How measurements are shown. One file per format; all read [`Measurement`]s.

use std::io;

use crate::measurement::{Instability, MAX_SPREAD, Machine, Measurement, Outcome};

pub(crate) mod json_lines;
mod markdown;
pub(crate) mod sweep;
pub(crate) mod table;

/// A format. It writes what it can as soon as it is told, so that nothing is lost if the program ends early.
pub(crate) trait Report {
    /// Writes what there is to say before the first measurement.
    fn begin(&mut self, machine: &Machine) -> io::Result<()>;

    /// Writes the rows of a measurement.
    fn measurement(&mut self, measurement: &Measurement) -> io::Result<()>;

    /// Writes what there is to say after the last measurement.
    fn finish(&mut self) -> io::Result<()>;
}

/// What is wrong with a row and what to do about it, in a sentence; none if nothing is.
pub(crate) fn advice(outcome: &Outcome) -> Option<String> {
    let percent = MAX_SPREAD * 100.0;
    Some(match outcome {
        Outcome::Ok => return None,
        Outcome::BelowFloor => "too cheap to tell from nothing beside the rest".to_owned(),
        Outcome::Unstable(Instability::Spread { calls_per_epoch }) => format!(
            "Unstable with ~{calls_per_epoch:.1} iters. Increase `min_epoch_iterations` to e.g. {:.0}",
            calls_per_epoch * 10.0
        ),
        Outcome::Unstable(Instability::WideInterval) => format!(
            "the interval is wider than {percent:.0} % to either side: raise `max_time`, or let the machine calm down"
        ),
        Outcome::Unstable(Instability::SharedCore) => {
            "somebody else used the core nearly all the time, so this is the cost \
             in such company: try again later, or raise `max_time`"
                .to_owned()
        }
        Outcome::Unstable(Instability::TooFewEpochs) => {
            "too slow for an interval within `max_time`: raise it to several calls' worth".to_owned()
        }
        Outcome::OptimizedAway => "iterations overflow. Maybe your code got optimized away?".to_owned(),
        Outcome::NotMeasured => "had no turn within `max_time`: raise it".to_owned(),
        Outcome::Panicked { message } => format!("panicked: {message}"),
    })
}
