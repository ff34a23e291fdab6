//! A small template language, in which users say what a report of theirs looks like. `templates.md` is its reference.
//!
//! It is that of martinus/nanobench, and renders what was written for it. A template is read as a whole before anything is
//! rendered, and rendered as a whole before anything is written.

mod boxplot;
pub(crate) mod builtin;
mod error;
mod filter;
mod parse;

use std::borrow::Cow;
use std::collections::HashSet;
use std::io;
use std::time::Duration;

pub use error::{RenderError, TemplateError};

use self::boxplot::Axis;
use self::filter::Shown;
use self::parse::{End, Expression, Measure, Node, Statistic, Tag};
use crate::measurement::{Figure, Interval, Measurement};
use crate::report::outcome_names;
use crate::stats;

/// What a template can show of a benchmark.
#[derive(Clone, Debug)]
pub(crate) struct TemplateResult {
    /// The settings and other facts, by the names that templates have for them.
    pub(crate) tags: Vec<(&'static str, Value)>,
    /// What the user had to say about the circumstances.
    pub(crate) context: Vec<(String, String)>,
    /// For each measure its name and its value in each epoch: `elapsed` in seconds per call, `iterations` as the number of
    /// calls, everything else per call. One that was not measured is left out.
    pub(crate) measures: Vec<(&'static str, Vec<f64>)>,
}

/// The value of a tag.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Number(f64),
    Boolean(bool),
}

impl From<&Measurement> for TemplateResult {
    fn from(measurement: &Measurement) -> Self {
        let mut result = Self {
            tags: vec![("name", Value::Text(measurement.name().to_owned()))],
            context: Vec::new(),
            measures: crate::measurement::Measure::ALL
                .into_iter()
                .map(|measure| (measure.name(), measurement.values(measure).collect()))
                .collect(),
        };
        let Some(config) = measurement.config() else { return result };
        let count = |count: u64| Value::Number(count as f64);
        let seconds = |time: Duration| Value::Number(time.as_secs_f64());
        result.tags.extend([
            ("title", Value::Text(config.title.clone())),
            ("unit", Value::Text(config.unit.clone())),
            ("batch", Value::Number(config.batch)),
            ("epochs", count(config.epochs)),
            ("clockResolution", Value::Number(measurement.clock_resolution_seconds)),
            ("clockResolutionMultiple", count(config.clock_resolution_multiple)),
            ("maxEpochTime", seconds(config.max_epoch_time)),
            ("minEpochTime", seconds(config.min_epoch_time)),
            ("minEpochIterations", count(config.min_epoch_iterations)),
            ("epochIterations", count(config.epoch_iterations)),
            ("warmup", count(config.warmup)),
            ("relative", Value::Boolean(config.relative)),
        ]);
        result.tags.extend(config.complexity_n.map(|n| ("complexityN", Value::Number(n))));
        let (outcome, _cause) = outcome_names(measurement.outcome());
        result.tags.push(("outcome", Value::Text(outcome.to_owned())));
        if let Some(Figure { value, interval }) = measurement.nanoseconds() {
            result.tags.push(("nanoseconds", Value::Number(value)));
            if let Some(Interval { low, high }) = interval {
                result.tags.extend([("low", Value::Number(low)), ("high", Value::Number(high))]);
            }
        }
        result.tags.extend(measurement.cycles().map(|figure| ("cycles", Value::Number(figure.value))));
        result.context.clone_from(&config.context);
        result
    }
}

impl TemplateResult {
    fn tag(&self, name: &str) -> Option<&Value> {
        self.tags.iter().find(|(other, _)| *other == name).map(|(_, value)| value)
    }

    /// The value of a measure in each epoch; none if it was not measured.
    fn epochs(&self, name: &str) -> Option<&[f64]> {
        let (_, epochs) = self.measures.iter().find(|(other, _)| *other == name)?;
        (!epochs.is_empty()).then_some(epochs)
    }

    fn epoch_count(&self) -> usize {
        self.measures.iter().map(|(_, epochs)| epochs.len()).max().unwrap_or(0)
    }

    /// How many units of work a call does.
    fn batch(&self) -> f64 {
        match self.tag("batch") {
            Some(Value::Number(batch)) => *batch,
            _ => 1.0,
        }
    }

    /// A value of the measure, in the unit and for the work that it names.
    fn converted(&self, measure: Measure<'_>, value: f64) -> f64 {
        scaled(if measure.is_per_unit { value / self.batch() } else { value }, measure.power)
    }

    /// The measure in each epoch.
    fn measured(&self, measure: Measure<'_>) -> Option<Vec<f64>> {
        Some(self.epochs(measure.name)?.iter().map(|&value| self.converted(measure, value)).collect())
    }

    /// The same without the epochs that took no time that could be told; none if no epoch is left.
    fn timed(&self) -> Option<Self> {
        let is_time = |seconds: f64| seconds.is_finite() && seconds > 0.0;
        let is_timed: Vec<bool> = self
            .epochs("elapsed")?
            .iter()
            .map(|&elapsed| is_time(elapsed) && is_time(elapsed / self.batch()))
            .collect();
        let keep = |epochs: &[f64]| epochs.iter().zip(&is_timed).filter(|(_, keep)| **keep).map(|(x, _)| *x).collect();
        let measures = self.measures.iter().map(|(name, epochs)| (*name, keep(epochs))).collect();
        is_timed.contains(&true).then(|| Self { measures, ..self.clone() })
    }
}

/// Renders the template and writes what comes out.
///
/// # Errors
///
/// If the template is wrong or does not fit the results, in which case nothing is written; or if writing fails.
pub(crate) fn render(template: &str, results: &[TemplateResult], out: &mut dyn io::Write) -> Result<(), RenderError> {
    let nodes = parse::parse(template)?;
    let renderer = Renderer { template, results, labels: labels(results), axis: Axis::over(results) };
    let mut rendered = String::new();
    renderer.nodes(&nodes, Scope { subject: None, epoch: None, position: (0, 0) }, &mut rendered)?;
    out.write_all(rendered.as_bytes())?;
    Ok(())
}

/// What does not change while a template is rendered.
struct Renderer<'a> {
    template: &'a str,
    results: &'a [TemplateResult],
    /// Of each result.
    labels: Vec<String>,
    axis: Option<Axis>,
}

/// A result and its label.
#[derive(Clone, Copy)]
struct Subject<'s> {
    result: &'s TemplateResult,
    label: &'s str,
}

/// What the tags of a section are about.
#[derive(Clone, Copy)]
struct Scope<'s> {
    /// None outside of all lists.
    subject: Option<Subject<'s>>,
    epoch: Option<usize>,
    /// The index in the list of results or epochs, and the length of the list.
    position: (usize, usize),
}

impl Renderer<'_> {
    fn nodes(&self, nodes: &[Node<'_>], scope: Scope<'_>, out: &mut String) -> Result<(), TemplateError> {
        for node in nodes {
            match node {
                Node::Text(text) => out.push_str(text),
                Node::Value { filter, expression, tag } => filter.push(out, &self.value(*expression, *tag, scope)?),
                Node::Results { is_timed, body } => self.results(*is_timed, body, out)?,
                Node::Measurements { body, tag } => {
                    let subject = self.subject(scope).ok_or_else(|| {
                        let count = self.results.len();
                        self.error(*tag, format!("section 'measurement' needs a single result here, not {count}"))
                    })?;
                    let count = subject.result.epoch_count();
                    for epoch in 0..count {
                        let scope = Scope { subject: Some(subject), epoch: Some(epoch), position: (epoch, count) };
                        self.nodes(body, scope, out)?;
                    }
                }
                Node::Boundary { end, is_inverted, body } => {
                    let (index, count) = scope.position;
                    let is_at_end = match end {
                        End::First => index == 0,
                        End::Last => index + 1 == count,
                    };
                    if is_at_end != *is_inverted {
                        self.nodes(body, scope, out)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn results(&self, is_timed: bool, body: &[Node<'_>], out: &mut String) -> Result<(), TemplateError> {
        let shown =
            |result| if is_timed { TemplateResult::timed(result).map(Cow::Owned) } else { Some(Cow::Borrowed(result)) };
        let list: Vec<(Cow<'_, TemplateResult>, &String)> =
            self.results.iter().zip(&self.labels).filter_map(|(result, label)| Some((shown(result)?, label))).collect();
        for (index, (result, label)) in list.iter().enumerate() {
            let scope = Scope { subject: Some(Subject { result, label }), epoch: None, position: (index, list.len()) };
            self.nodes(body, scope, out)?;
        }
        Ok(())
    }

    /// The result that a tag is about: that of the section around it, or the only one.
    fn subject<'s>(&'s self, scope: Scope<'s>) -> Option<Subject<'s>> {
        match (self.results, &self.labels[..]) {
            ([result], [label]) => Some(scope.subject.unwrap_or(Subject { result, label })),
            _ => scope.subject,
        }
    }

    fn value<'s>(
        &'s self,
        expression: Expression<'_>,
        tag: Tag<'_>,
        scope: Scope<'s>,
    ) -> Result<Shown<'s>, TemplateError> {
        let subject = || {
            let count = self.results.len();
            let message = || format!("unknown tag '{}': it needs a single result here, not {count}", tag.text);
            self.subject(scope).ok_or_else(|| self.error(tag, message()))
        };
        Ok(match expression {
            Expression::Tag(name) => {
                let result = scope.subject.map(|subject| subject.result).or(self.results.last());
                let message = || format!("unknown tag '{name}': there are no results");
                match result.ok_or_else(|| self.error(tag, message()))?.tag(name) {
                    Some(Value::Text(text)) => Shown::Text(text.into()),
                    Some(Value::Number(number)) => Shown::Number(*number),
                    Some(Value::Boolean(value)) => Shown::Boolean(*value),
                    None => Shown::Missing,
                }
            }
            Expression::Label => Shown::Text(subject()?.label.into()),
            Expression::Context(key) => {
                let Subject { result, label } = subject()?;
                let value = result.context.iter().find(|(other, _)| other == key).map(|(_, value)| value);
                let message = || format!("context '{key}' is not set for '{label}'");
                Shown::Text(value.ok_or_else(|| self.error(tag, message()))?.into())
            }
            Expression::Measure(measure) => {
                let Subject { result, .. } = subject()?;
                let value = result.epochs(measure.name).and_then(|epochs| epochs.get(scope.epoch?));
                value.map_or(Shown::Missing, |&value| Shown::Number(result.converted(measure, value)))
            }
            Expression::Statistic(statistic, measure) => {
                let epochs = subject()?.result.measured(measure);
                epochs.map_or(Shown::Missing, |epochs| Shown::Number(of_epochs(statistic, epochs)))
            }
            Expression::SumProduct(left, right) => {
                let Subject { result, .. } = subject()?;
                match (result.measured(left), result.measured(right)) {
                    (Some(lefts), Some(rights)) => {
                        Shown::Number(lefts.iter().zip(&rights).map(|(left, right)| left * right).sum())
                    }
                    _ => Shown::Missing,
                }
            }
            Expression::Boxplot => Shown::Text(boxplot::row(subject()?.result, self.axis.as_ref()).into()),
            Expression::BoxplotAxis => Shown::Text(boxplot::axis(self.axis.as_ref()).into()),
        })
    }

    fn error(&self, tag: Tag<'_>, message: String) -> TemplateError {
        TemplateError::new(self.template, tag.offset, message)
    }
}

/// The statistic of at least one epoch.
fn of_epochs(statistic: Statistic, mut epochs: Vec<f64>) -> f64 {
    match statistic {
        Statistic::Median => stats::median(&mut epochs),
        Statistic::Average => epochs.iter().sum::<f64>() / epochs.len() as f64,
        Statistic::MedianAbsolutePercentError => stats::mdape(&epochs),
        Statistic::Sum => epochs.iter().sum(),
        Statistic::Minimum => epochs.into_iter().fold(f64::NAN, f64::min),
        Statistic::Maximum => epochs.into_iter().fold(f64::NAN, f64::max),
    }
}

/// `value` times ten to the `power`. The digits stay what they are, where a product would end in some that were not there.
fn scaled(value: f64, power: i32) -> f64 {
    if power == 0 {
        return value;
    }
    let text = format!("{value:e}");
    let shifted = text.split_once('e').and_then(|(digits, exponent)| {
        let exponent: i32 = exponent.parse().ok()?;
        format!("{digits}e{}", exponent + power).parse().ok()
    });
    // What is infinite or no number has no exponent.
    shifted.unwrap_or(value)
}

/// The names of the results, each in one line, with something in it, and different from all others.
fn labels(results: &[TemplateResult]) -> Vec<String> {
    let plain: Vec<String> = results.iter().map(one_line_name).collect();
    let mut taken: HashSet<String> = plain.iter().cloned().collect();
    let mut seen = HashSet::new();
    let mut labels = Vec::with_capacity(plain.len());
    for name in plain {
        let mut label = name.clone();
        let mut number = 1;
        let is_first = seen.insert(name.clone());
        while !is_first && !taken.insert(label.clone()) {
            number += 1;
            label = format!("{name} #{number}");
        }
        labels.push(label);
    }
    labels
}

fn one_line_name(result: &TemplateResult) -> String {
    let name = match result.tag("name") {
        Some(Value::Text(name)) => name.as_str(),
        _ => "",
    };
    let is_gap = |c: char| c.is_whitespace() || c.is_control();
    let words: Vec<&str> = name.split(is_gap).filter(|word| !word.is_empty()).collect();
    if words.is_empty() { "-".to_owned() } else { words.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// A result with these values of `elapsed` in nanoseconds, and ten calls in each epoch.
    fn result(name: &str, nanoseconds: &[f64]) -> TemplateResult {
        TemplateResult {
            tags: vec![
                ("title", Value::Text("the title".into())),
                ("name", Value::Text(name.into())),
                ("unit", Value::Text("byte".into())),
                ("batch", Value::Number(2.0)),
                ("complexityN", Value::Number(128.0)),
                ("epochs", Value::Number(3.0)),
                ("clockResolution", Value::Number(1e-8)),
                ("clockResolutionMultiple", Value::Number(1000.0)),
                ("maxEpochTime", Value::Number(0.1)),
                ("minEpochTime", Value::Number(0.0001)),
                ("minEpochIterations", Value::Number(1.0)),
                ("epochIterations", Value::Number(0.0)),
                ("warmup", Value::Number(7.0)),
                ("relative", Value::Boolean(true)),
                ("outcome", Value::Text("ok".into())),
                ("nanoseconds", Value::Number(25.5)),
                ("low", Value::Number(24.5)),
                ("high", Value::Number(26.5)),
                ("cycles", Value::Number(80.0)),
            ],
            context: vec![("threads".into(), "8".into()), ("a, b".into(), "<c>".into())],
            measures: vec![
                ("elapsed", nanoseconds.iter().map(|&nanoseconds| scaled(nanoseconds, -9)).collect()),
                ("iterations", vec![10.0; nanoseconds.len()]),
            ],
        }
    }

    fn rendered(template: &str, results: &[TemplateResult]) -> String {
        let mut out = Vec::new();
        render(template, results, &mut out).unwrap_or_else(|error| panic!("{error} in {template}"));
        String::from_utf8(out).unwrap()
    }

    /// What is rendered of one result with epochs of 10, 20, 30 and 40 nanoseconds.
    fn of_one(template: &str) -> String {
        rendered(template, &[result("only", &[10.0, 20.0, 30.0, 40.0])])
    }

    #[track_caller]
    fn fails(template: &str, results: &[TemplateResult], expected: &str) {
        let mut out = Vec::new();
        match render(template, results, &mut out) {
            Err(RenderError::Template(error)) => assert_eq!(error.to_string(), expected),
            other => panic!("{other:?} from {template}"),
        }
        assert_eq!(out, b"", "something was written");
    }

    #[test]
    fn every_config_tag_is_rendered() {
        for (tag, expected) in [
            ("title", "the title"),
            ("name", "only"),
            ("unit", "byte"),
            ("batch", "2"),
            ("complexityN", "128"),
            ("epochs", "3"),
            ("clockResolution", "0.00000001"),
            ("clockResolutionMultiple", "1000"),
            ("maxEpochTime", "0.1"),
            ("minEpochTime", "0.0001"),
            ("minEpochIterations", "1"),
            ("epochIterations", "0"),
            ("warmup", "7"),
            ("relative", "1"),
            ("outcome", "ok"),
            ("nanoseconds", "25.5"),
            ("low", "24.5"),
            ("high", "26.5"),
            ("cycles", "80"),
        ] {
            assert_eq!(of_one(&format!("{{{{{tag}}}}}")), expected);
            assert_eq!(of_one(&format!("{{{{#result}}}}{{{{{tag}}}}}{{{{/result}}}}")), expected);
            assert_eq!(of_one(&format!("{{{{#measurement}}}}{{{{{tag}}}}}{{{{/measurement}}}}")), expected.repeat(4));
        }
        let all: Vec<&str> = result("", &[]).tags.iter().map(|(name, _)| *name).collect();
        assert_eq!(all, parse::TAGS);
    }

    #[test]
    fn every_command_is_computed() {
        for (command, expected) in [
            ("median(elapsed)", 25e-9),
            ("average(elapsed)", 25e-9),
            ("sum(elapsed)", 100e-9),
            ("minimum(elapsed)", 10e-9),
            ("maximum(elapsed)", 40e-9),
            ("sumProduct(iterations, elapsed)", 1e-6),
            ("sum(iterations)", 40.0),
            // The median of 15 / 10, 5 / 20, 5 / 30 and 15 / 40.
            ("medianAbsolutePercentError(elapsed)", 0.3125),
        ] {
            for template in [format!("{{{{{command}}}}}"), format!("{{{{#result}}}}{{{{{command}}}}}{{{{/result}}}}")] {
                let value: f64 = of_one(&template).parse().unwrap();
                assert!((value / expected - 1.0).abs() < 1e-12, "{template}: {value} instead of {expected}");
            }
        }
        let skewed = [result("", &[10.0, 10.0, 10.0, 10.0, 1000.0])];
        assert_eq!(rendered("{{median(elapsedns)}} {{average(elapsedns)}}", &skewed), "10 208");
    }

    #[test]
    fn times_come_in_the_unit_and_for_the_work_that_the_measure_names() {
        assert_eq!(of_one("{{median(elapsedms)}} {{median(elapsedus)}} {{median(elapsedns)}}"), "0.000025 0.025 25");
        assert_eq!(of_one("{{sumProduct(iterations, elapsedus)}}"), "1");
        assert_eq!(of_one("{{median(elapsedperunitns)}} {{maximum(elapsedperunit)}}"), "12.5 0.00000002");
        assert_eq!(of_one("{{medianAbsolutePercentError(elapsedns)}}"), "0.3125", "a share has no unit");
        assert_eq!(of_one("{{#measurement}}{{elapsedns}};{{/measurement}}"), "10;20;30;40;");
        assert_eq!(of_one("{{#measurement}}{{elapsedperunitns}};{{/measurement}}"), "5;10;15;20;");
    }

    #[test]
    fn scaling_adds_no_digits() {
        assert_eq!(scaled(3e-8, 9), 30.0);
        assert_ne!(3e-8 * 1e9, 30.0);
        assert_eq!(scaled(-1.25, -3), -0.00125);
        assert_eq!(scaled(0.0, 9), 0.0);
        assert_eq!(scaled(f64::INFINITY, 9), f64::INFINITY);
        assert!(scaled(f64::NAN, 9).is_nan());
    }

    #[test]
    fn an_unknown_measure_is_zero_or_nothing_under_a_filter() {
        for tag in ["median(nonsense)", "sumProduct(elapsed, nonsense)", "sumProduct(nonsense, elapsed)"] {
            assert_eq!(of_one(&format!("{{{{{tag}}}}}")), "0");
        }
        for measure in ["elapsedhours", "elapsedm", "instructions"] {
            assert_eq!(of_one(&format!("{{{{maximum({measure})}}}}")), "0");
        }
        assert_eq!(of_one("{{#measurement}}{{nonsense}}{{/measurement}}"), "0000");
        assert_eq!(of_one("{{json median(instructions)}} [{{csv median(instructions)}}]"), "null []");
        let nothing = [result("", &[])];
        assert_eq!(
            rendered("{{median(elapsed)}} {{json sum(elapsed)}}{{#measurement}}x{{/measurement}}", &nothing),
            "0 null"
        );
    }

    #[test]
    fn a_tag_without_a_value_is_missing() {
        let bare = [TemplateResult { tags: Vec::new(), ..result("", &[10.0]) }];
        assert_eq!(rendered("{{complexityN}} {{json complexityN}} {{label}}", &bare), "0 null -");
        assert_eq!(rendered("{{median(elapsedperunitns)}}", &bare), "10", "a call does one unit of work");
    }

    #[test]
    fn the_context_of_a_result_is_found_by_its_key() {
        assert_eq!(of_one("{{context(threads)}} {{html context(a, b)}}"), "8 &lt;c&gt;");
        assert_eq!(of_one("{{#result}}{{#measurement}}{{context(threads)}}{{/measurement}}{{/result}}"), "8888");
        let one = [result("a\u{1b}", &[10.0])];
        fails("x\n {{context(cpu)}}", &one, "line 2, column 2: context 'cpu' is not set for 'a'");
    }

    #[test]
    fn lists_repeat_their_bodies() {
        let two = [result("first", &[10.0]), result("second", &[20.0, 30.0])];
        assert_eq!(rendered("{{#result}}[{{name}}]{{/result}}", &two), "[first][second]");
        let nested = "{{#result}}{{name}}:{{#measurement}}{{elapsedns}},{{/measurement}}{{/result}}";
        assert_eq!(rendered(nested, &two), "first:10,second:20,30,");
        assert_eq!(rendered("a{{#result}}{{name}}{{/result}}b", &[]), "ab");
        assert_eq!(rendered("", &two), "");
        assert_eq!(rendered("no tags } at { all }}", &two), "no tags } at { all }}");
    }

    #[test]
    fn the_ends_of_a_list_are_told_from_its_middle() {
        let three = ["a", "b", "c"].map(|name| result(name, &[10.0, 20.0]));
        let of_three = |body: &str| rendered(&format!("{{{{#result}}}}{body}{{{{/result}}}}"), &three);
        assert_eq!(of_three("{{#-first}}F{{/-first}}{{name}}"), "Fabc");
        assert_eq!(of_three("{{name}}{{#-last}}L{{/-last}}"), "abcL");
        assert_eq!(of_three("{{^-first}}, {{/-first}}{{name}}"), "a, b, c");
        assert_eq!(of_three("{{name}}{{^-last}}, {{/-last}}"), "a, b, c");
        assert_eq!(of_three("{{^-first}}{{^-last}}{{name}}{{/-last}}{{/-first}}"), "b");
        assert_eq!(rendered("{{#result}}{{#-first}}F{{/-first}}{{#-last}}L{{/-last}}{{/result}}", &three[..1]), "FL");
    }

    #[test]
    fn everything_is_rendered_at_the_ends_of_a_list() {
        let two = ["a", "b"].map(|name| result(name, &[10.0, 20.0]));
        let template = "{{#result}}{{#-last}}<{{name}}{{median(elapsedns)}}{{#measurement}}{{^-first}}/{{elapsedns}}\
                        {{iterations}}{{/-first}}{{/measurement}}>{{/-last}}{{/result}}";
        assert_eq!(rendered(template, &two), "<b15/2010>");
    }

    #[test]
    fn outside_of_all_lists_a_tag_is_about_the_last_result_and_a_command_about_the_only_one() {
        let two = [result("first", &[10.0]), result("second", &[20.0])];
        assert_eq!(rendered("{{name}}", &two), "second");
        assert_eq!(of_one("{{#measurement}}{{elapsedns}}{{^-last}};{{/-last}}{{/measurement}}"), "10;20;30;40");
        fails(
            "a\n{{sum(iterations)}}",
            &two,
            "line 2, column 1: unknown tag 'sum(iterations)': it needs a single result here, not 2",
        );
        fails(
            "{{context(threads)}}",
            &two,
            "line 1, column 1: unknown tag 'context(threads)': it needs a single result here, not 2",
        );
        fails(
            "{{#measurement}}{{/measurement}}",
            &two,
            "line 1, column 1: section 'measurement' needs a single result here, not 2",
        );
    }

    #[test]
    fn outside_of_all_lists_a_tag_without_results_is_an_error() {
        fails("{{title}}", &[], "line 1, column 1: unknown tag 'title': there are no results");
        fails(
            "{{sum(iterations)}}",
            &[],
            "line 1, column 1: unknown tag 'sum(iterations)': it needs a single result here, not 0",
        );
        fails(
            "{{#measurement}}{{/measurement}}",
            &[],
            "line 1, column 1: section 'measurement' needs a single result here, not 0",
        );
    }

    #[test]
    fn an_error_at_the_end_leaves_nothing_written() {
        let one = [result("", &[10.0])];
        fails("{{#result}}text{{name}}{{/result}}{{nope}}", &one, "line 1, column 35: unknown tag 'nope'");
        fails("text {{context(x)}}", &one, "line 1, column 6: context 'x' is not set for '-'");
        fails("text {{/x}}", &[], "line 1, column 6: '{{/x}}' closes no section");
    }

    #[test]
    fn a_writer_that_fails_is_an_error() {
        let mut full: &mut [u8] = &mut [0; 3];
        assert!(matches!(render("text", &[], &mut full), Err(RenderError::Io(_))));
    }

    #[test]
    fn numbers_that_are_none_stay_out_of_filtered_output() {
        let mut broken = result("", &[10.0, f64::NAN, f64::INFINITY]);
        broken.tags.retain(|(name, _)| *name != "batch");
        broken.tags.push(("batch", Value::Number(0.0)));
        let json = "{{#measurement}}{{json elapsedns}},{{json elapsedperunit}};{{/measurement}}{{json sum(elapsed)}}";
        assert_eq!(rendered(json, &[broken]), "10,null;null,null;null,null;null");
    }

    #[test]
    fn what_was_timed_is_a_list_without_epochs_and_results_that_were_not() {
        let results = [
            result("zero", &[0.0, 0.0]),
            result("some", &[10.0, 0.0, -1.0, f64::NAN, 20.0]),
            result("empty", &[]),
            result("all", &[30.0]),
        ];
        let template = "{{#timed}}{{name}}{{#measurement}} {{elapsedns}}x{{iterations}}{{/measurement}}\
                        {{^-last}}, {{/-last}}{{/timed}}";
        assert_eq!(rendered(template, &results), "some 10x10 20x10, all 30x10");
        assert_eq!(rendered("{{#timed}}{{sum(iterations)}};{{/timed}}", &results), "20;10;");
    }

    #[test]
    fn labels_are_in_one_line_and_different() {
        let names = ["a", "a", " \n", "b\r\n\tc", "a #2", "a", "", "b c"];
        let results = names.map(|name| result(name, &[10.0]));
        let expected = ["a", "a #3", "-", "b c", "a #2", "a #4", "- #2", "b c #2"];
        assert_eq!(labels(&results), expected);
        let distinct: HashSet<String> = labels(&results).into_iter().collect();
        assert_eq!(distinct.len(), names.len());
        assert_eq!(rendered("{{#result}}{{label}}|{{/result}}", &results), expected.join("|") + "|");
    }

    /// Templates of random pieces, most of which are wrong, and some are not.
    #[test]
    fn no_template_makes_it_panic() {
        const PIECES: [&str; 32] = [
            "{{",
            "}}",
            "{",
            "}",
            "#",
            "^",
            "/",
            "!",
            "(",
            ")",
            ",",
            " ",
            "\n",
            "é",
            "🦀",
            "x",
            "json ",
            "{{name}}",
            "{{#result}}",
            "{{/result}}",
            "{{#measurement}}",
            "{{/measurement}}",
            "{{^-last}}",
            "{{/-last}}",
            "{{#-first}}",
            "{{/-first}}",
            "{{elapsed}}",
            "{{csv median(elapsed)}}",
            "{{#timed}}",
            "{{/timed}}",
            "{{boxplot}}",
            "{{html context(threads)}}",
        ];
        let mut rng = Rng::new(1);
        let results = [result("a", &[10.0, 20.0]), result("b", &[])];
        let mut rendered = 0;
        for _ in 0..200_000 {
            let pieces = 1 + rng.bounded(8);
            let template: String = (0..pieces).map(|_| PIECES[rng.bounded(32) as usize]).collect();
            let mut out = Vec::new();
            match render(&template, &results[..rng.bounded(3) as usize], &mut out) {
                Ok(()) => rendered += 1,
                Err(RenderError::Template(_)) => assert_eq!(out, b""),
                Err(RenderError::Io(error)) => panic!("{error}"),
            }
        }
        assert!((20_000..180_000).contains(&rendered), "{rendered} were right");
    }
}
