//! How measurements are shown. One file per format; all read [`Measurement`]s.

use std::io;

use crate::complexity::Complexity;
use crate::measurement::{CoreClock, Instability, MAX_SPREAD, Machine, Measurement, Outcome};
use crate::target::Mode;

pub(crate) mod comparison;
mod json;
pub(crate) mod json_lines;
mod markdown;
pub(crate) mod sweep;
pub(crate) mod table;
pub(crate) mod template;

/// A format. It writes what it can as soon as it is told, so that nothing is lost if the program ends early.
pub(crate) trait Report {
    /// Writes what there is to say before the first measurement.
    fn begin(&mut self, machine: &Machine) -> io::Result<()>;

    /// Writes the rows of a measurement.
    fn measurement(&mut self, measurement: &Measurement) -> io::Result<()>;

    /// Writes how the cost of benchmarks with this name in common grows with their argument.
    fn complexity(&mut self, series: &str, mode: Mode, complexity: &Complexity) -> io::Result<()>;

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
        Outcome::Unstable(Instability::Frequency(CoreClock { least, most, .. })) => format!(
            "the core clock went from {least:.2} to {most:.2} GHz, and the cost with it: compare the cycles, or fix the frequency"
        ),
        Outcome::Unstable(Instability::SharedCore { share }) => format!(
            "somebody else used the core during {:.0} % of the samples, so this is the cost in such company: try again later, \
             or raise `max_time`",
            share * 100.0
        ),
        Outcome::Unstable(Instability::Interrupts { share }) => format!(
            "{:.0} % of the samples were interrupted: stop other programs, or keep this one on a processor that serves none, \
             as `--cpu auto` does",
            share * 100.0
        ),
        Outcome::Unstable(Instability::Bimodal { low_nanoseconds, high_nanoseconds, share_of_high }) => format!(
            "two levels: ~{low_nanoseconds:.2} ns in {:.0} % of the samples, ~{high_nanoseconds:.2} ns in the others: \
             benchmark the two cases by themselves, or tell the inputs apart with `by`",
            (1.0 - share_of_high) * 100.0
        ),
        Outcome::Unstable(Instability::TooFewEpochs) => {
            "too slow for an interval within `max_time`: raise it to several calls' worth".to_owned()
        }
        Outcome::OptimizedAway => "iterations overflow. Maybe your code got optimized away?".to_owned(),
        Outcome::NotMeasured => "had no turn within `max_time`: raise it".to_owned(),
        Outcome::Panicked { message } => format!("panicked: {message}"),
    })
}

/// The name of the outcome, and of the cause where it is unstable.
pub(crate) fn outcome_names(outcome: &Outcome) -> (&'static str, Option<&'static str>) {
    match outcome {
        Outcome::Ok => ("ok", None),
        Outcome::BelowFloor => ("below_floor", None),
        Outcome::Unstable(instability) => {
            let cause = match instability {
                Instability::Spread { .. } => "spread",
                Instability::WideInterval => "wide_interval",
                Instability::Frequency(_) => "frequency",
                Instability::SharedCore { .. } => "shared_core",
                Instability::Interrupts { .. } => "interrupts",
                Instability::Bimodal { .. } => "bimodal",
                Instability::TooFewEpochs => "too_few_epochs",
            };
            ("unstable", Some(cause))
        }
        Outcome::OptimizedAway => ("optimized_away", None),
        Outcome::NotMeasured => ("not_measured", None),
        Outcome::Panicked { .. } => ("panicked", None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_a_sentence_of_its_own_that_says_what_to_do() {
        let core_clock = CoreClock { least: 2.1, median: 2.5, most: 3.4 };
        let bimodal = Instability::Bimodal { low_nanoseconds: 3.1, high_nanoseconds: 4.03, share_of_high: 0.3 };
        let sentences = [
            (Outcome::BelowFloor, "too cheap to tell from nothing"),
            (
                Outcome::Unstable(Instability::Spread { calls_per_epoch: 7.0 }),
                "Increase `min_epoch_iterations` to e.g. 70",
            ),
            (Outcome::Unstable(Instability::WideInterval), "raise `max_time`, or let the machine calm down"),
            (
                Outcome::Unstable(Instability::Frequency(core_clock)),
                "from 2.10 to 3.40 GHz, and the cost with it: compare",
            ),
            (Outcome::Unstable(Instability::SharedCore { share: 0.87 }), "during 87 % of the samples"),
            (Outcome::Unstable(Instability::Interrupts { share: 0.31 }), "31 % of the samples were interrupted: stop"),
            (Outcome::Unstable(bimodal), "~3.10 ns in 70 % of the samples, ~4.03 ns in the others: benchmark the two"),
            (Outcome::Unstable(Instability::TooFewEpochs), "raise it to several calls' worth"),
            (Outcome::OptimizedAway, "Maybe your code got optimized away?"),
            (Outcome::NotMeasured, "had no turn within `max_time`: raise it"),
            (Outcome::Panicked { message: "no luck".into() }, "panicked: no luck"),
        ];
        for (outcome, part) in sentences {
            let advice = advice(&outcome).unwrap();
            assert!(advice.contains(part), "{outcome:?}: {advice}");
        }
        assert_eq!(advice(&Outcome::Ok), None);
    }
}
