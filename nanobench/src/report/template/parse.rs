//! From the text of a template to what it says. Everything that does not depend on the results is checked here.

use super::error::TemplateError;
use super::filter::Filter;

/// The settings and other facts of a result that a tag can name.
pub(super) const TAGS: [&str; 19] = [
    "title",
    "name",
    "unit",
    "batch",
    "complexityN",
    "epochs",
    "clockResolution",
    "clockResolutionMultiple",
    "maxEpochTime",
    "minEpochTime",
    "minEpochIterations",
    "epochIterations",
    "warmup",
    "relative",
    "outcome",
    "nanoseconds",
    "low",
    "high",
    "cycles",
];

/// How many sections may be open at once. Nobody needs more, and the stack has an end.
const MAX_DEPTH: usize = 100;

/// A piece of a template.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node<'t> {
    /// Copied as it is.
    Text(&'t str),
    /// A tag that stands for a value.
    Value { filter: Filter, expression: Expression<'t>, tag: Tag<'t> },
    /// For each result. Where only what was timed is of interest, without the epochs and results that were not.
    Results { is_timed: bool, body: Vec<Node<'t>> },
    /// For each epoch.
    Measurements { body: Vec<Node<'t>>, tag: Tag<'t> },
    /// Where the current result or epoch is, or is not, at this end of its list.
    Boundary { end: End, is_inverted: bool, body: Vec<Node<'t>> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    First,
    Last,
}

/// What a tag stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expression<'t> {
    /// One of [`TAGS`].
    Tag(&'t str),
    /// The name in one line and different from that of every other result.
    Label,
    /// What was measured in the current epoch.
    Measure(Measure<'t>),
    /// Over all epochs of the result.
    Statistic(Statistic, Measure<'t>),
    SumProduct(Measure<'t>, Measure<'t>),
    /// The value of this key.
    Context(&'t str),
    /// The box plot of the result.
    Boxplot,
    /// The axis of all box plots.
    BoxplotAxis,
}

/// What was measured, and in which unit it is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Measure<'t> {
    pub(super) name: &'t str,
    /// Whether it is for a unit of work rather than for a call.
    pub(super) is_per_unit: bool,
    /// The power of ten by which it is multiplied.
    pub(super) power: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Statistic {
    Median,
    Average,
    MedianAbsolutePercentError,
    Sum,
    Minimum,
    Maximum,
}

/// A tag as it stands in the template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag<'t> {
    /// What is between the braces, without white space around it.
    pub(super) text: &'t str,
    /// Where its first brace is, in bytes.
    pub(super) offset: usize,
}

/// In which section a tag is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layer {
    Top,
    Result,
    Measurement,
}

/// Reads a template.
pub(super) fn parse(template: &str) -> Result<Vec<Node<'_>>, TemplateError> {
    Parser { template, offset: 0, depth: 0 }.body(Layer::Top, None)
}

struct Parser<'t> {
    template: &'t str,
    /// How far it has been read, in bytes.
    offset: usize,
    /// How many sections are open.
    depth: usize,
}

impl<'t> Parser<'t> {
    /// Reads on to the tag that closes `section`, or to the end of the template.
    fn body(&mut self, layer: Layer, section: Option<Tag<'t>>) -> Result<Vec<Node<'t>>, TemplateError> {
        let mut nodes = Vec::new();
        while let Some(tag) = self.next_tag(&mut nodes)? {
            let mut rest = tag.text.chars();
            match rest.next() {
                Some('!') => {}
                Some('/') => {
                    self.check_closing(tag, rest.as_str().trim(), section)?;
                    return Ok(nodes);
                }
                Some('#' | '^') => nodes.push(self.section(tag, layer)?),
                _ => nodes.push(self.value(tag, layer)?),
            }
        }
        match section {
            Some(tag) => Err(self.error(tag, format!("section '{}' is not closed", section_name(tag)))),
            None => Ok(nodes),
        }
    }

    /// The next tag, after the text in front of it has been added to `nodes`.
    fn next_tag(&mut self, nodes: &mut Vec<Node<'t>>) -> Result<Option<Tag<'t>>, TemplateError> {
        let ahead = &self.template[self.offset..];
        let Some(first_brace) = ahead.find("{{") else {
            push_text(nodes, ahead);
            self.offset = self.template.len();
            return Ok(None);
        };
        // Of more braces than two in a row the last two are the tag's, so that an object of JSON can begin with a tag.
        let more_braces = ahead[first_brace + 2..].chars().take_while(|&c| c == '{').count();
        let begin = first_brace + more_braces;
        push_text(nodes, &ahead[..begin]);
        let offset = self.offset + begin;
        let inside = &ahead[begin + 2..];
        let text = inside.find("}}").map(|end| &inside[..end]).filter(|text| !text.contains("{{"));
        let Some(text) = text else {
            return Err(TemplateError::new(self.template, offset, "'{{' without '}}'"));
        };
        self.offset = offset + text.len() + 4;
        Ok(Some(Tag { text: text.trim(), offset }))
    }

    fn check_closing(&self, tag: Tag<'t>, name: &str, section: Option<Tag<'t>>) -> Result<(), TemplateError> {
        let Some(section) = section else {
            return Err(self.error(tag, format!("'{{{{/{name}}}}}' closes no section")));
        };
        let expected = section_name(section);
        // The templates that came with the original closed `-last` as `last`, and many were written after their example.
        if name == expected || expected.strip_prefix('-') == Some(name) {
            return Ok(());
        }
        let opened = self.error(section, String::new());
        Err(self.error(
            tag,
            format!(
                "'{{{{/{name}}}}}' does not close section '{expected}', which begins in line {}, column {}",
                opened.line(),
                opened.column()
            ),
        ))
    }

    fn section(&mut self, tag: Tag<'t>, layer: Layer) -> Result<Node<'t>, TemplateError> {
        let is_inverted = tag.text.starts_with('^');
        let name = section_name(tag);
        if layer != Layer::Top {
            let end = match name {
                "-first" => Some(End::First),
                "-last" => Some(End::Last),
                _ => None,
            };
            if let Some(end) = end {
                return Ok(Node::Boundary { end, is_inverted, body: self.inside(layer, tag)? });
            }
        }
        match (layer, is_inverted, name) {
            (Layer::Top, false, "result" | "timed") => {
                Ok(Node::Results { is_timed: name == "timed", body: self.inside(Layer::Result, tag)? })
            }
            (Layer::Top | Layer::Result, false, "measurement") => {
                Ok(Node::Measurements { body: self.inside(Layer::Measurement, tag)?, tag })
            }
            (Layer::Top, false, _) => Err(self.error(tag, format!("unknown section '{name}'"))),
            (Layer::Top, true, _) => Err(self.error(tag, format!("unknown list '{name}'"))),
            (Layer::Result, false, _) => Err(self.error(tag, "got a section inside result")),
            (Layer::Result, true, _) => Err(self.error(tag, "got a inverted section inside result")),
            (Layer::Measurement, false, _) => Err(self.error(tag, "got a section inside measurement")),
            (Layer::Measurement, true, _) => Err(self.error(tag, "got a inverted section inside measurement")),
        }
    }

    /// What is in the section that `tag` opens.
    fn inside(&mut self, layer: Layer, tag: Tag<'t>) -> Result<Vec<Node<'t>>, TemplateError> {
        if self.depth == MAX_DEPTH {
            return Err(self.error(tag, format!("more than {MAX_DEPTH} sections are open")));
        }
        self.depth += 1;
        let body = self.body(layer, Some(tag));
        self.depth -= 1;
        body
    }

    fn value(&self, tag: Tag<'t>, layer: Layer) -> Result<Node<'t>, TemplateError> {
        let filtered = tag.text.split_once(char::is_whitespace);
        let filtered = filtered.and_then(|(word, rest)| Some((Filter::named(word)?, rest.trim_start())));
        let (filter, text) = filtered.unwrap_or((Filter::Raw, tag.text));
        let expression = expression(text, layer).map_err(|message| self.error(tag, message))?;
        Ok(Node::Value { filter, expression, tag })
    }

    fn error(&self, tag: Tag<'t>, message: impl Into<String>) -> TemplateError {
        TemplateError::new(self.template, tag.offset, message)
    }
}

fn push_text<'t>(nodes: &mut Vec<Node<'t>>, text: &'t str) {
    if !text.is_empty() {
        nodes.push(Node::Text(text));
    }
}

/// The name of the section that this tag opens.
fn section_name(tag: Tag<'_>) -> &str {
    tag.text[1..].trim()
}

fn expression(text: &str, layer: Layer) -> Result<Expression<'_>, String> {
    if let Some((command, arguments)) = text.split_once('(') {
        return command_of(text, command.trim(), arguments);
    }
    Ok(match (text, layer) {
        ("label", _) => Expression::Label,
        ("boxplot", _) => Expression::Boxplot,
        ("boxplotAxis", _) => Expression::BoxplotAxis,
        _ if TAGS.contains(&text) => Expression::Tag(text),
        // Whatever looks like a measure is one, and one that does not exist is zero.
        (_, Layer::Measurement) if is_name(text) => Expression::Measure(measure(text)),
        (_, Layer::Top) => return Err(format!("unknown tag '{text}'")),
        (_, Layer::Result | Layer::Measurement) => return Err(format!("command '{text}' not understood")),
    })
}

/// The command in `text`, which has `arguments` behind its parenthesis.
fn command_of<'t>(text: &str, command: &str, arguments: &'t str) -> Result<Expression<'t>, String> {
    let not_understood = || format!("command '{text}' not understood");
    let arguments = arguments.strip_suffix(')').ok_or_else(not_understood)?.trim();
    if command == "context" {
        return Ok(Expression::Context(arguments));
    }
    let statistic = match command {
        "median" => Some(Statistic::Median),
        "average" => Some(Statistic::Average),
        "medianAbsolutePercentError" => Some(Statistic::MedianAbsolutePercentError),
        "sum" => Some(Statistic::Sum),
        "minimum" => Some(Statistic::Minimum),
        "maximum" => Some(Statistic::Maximum),
        "sumProduct" => None,
        _ => return Err(not_understood()),
    };
    let measures: Vec<&str> = arguments.split(',').map(str::trim).collect();
    match (statistic, &measures[..]) {
        _ if !measures.iter().all(|name| is_name(name)) => {
            Err(format!("{}: '{command}' takes the names of measures", not_understood()))
        }
        (Some(statistic), &[name]) => Ok(Expression::Statistic(statistic, measure(name))),
        (None, &[left, right]) => Ok(Expression::SumProduct(measure(left), measure(right))),
        (_, measures) => {
            let takes = if statistic.is_some() { "one measure" } else { "two measures" };
            Err(format!("{}: '{command}' takes {takes} and was given {}", not_understood(), measures.len()))
        }
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The measure of this name. Only that of time comes per unit of work, and in other units than seconds.
fn measure(name: &str) -> Measure<'_> {
    let plain = Measure { name, is_per_unit: false, power: 0 };
    let Some(suffix) = name.strip_prefix("elapsed") else {
        return plain;
    };
    let per_unit = suffix.strip_prefix("perunit");
    let power = match per_unit.unwrap_or(suffix) {
        "" => 0,
        "ms" => 3,
        "us" => 6,
        "ns" => 9,
        _ => return plain,
    };
    Measure { name: "elapsed", is_per_unit: per_unit.is_some(), power }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn fails(template: &str, expected: &str) {
        assert_eq!(parse(template).map_err(|error| error.to_string()), Err(expected.to_owned()), "{template}");
    }

    #[test]
    fn what_is_not_understood_is_named_with_its_place() {
        for (template, expected) in [
            ("{{nosuchthing}}", "line 1, column 1: unknown tag 'nosuchthing'"),
            ("a\n\n  é {{ x }}", "line 3, column 5: unknown tag 'x'"),
            ("{{}}", "line 1, column 1: unknown tag ''"),
            ("{{elapsed}}", "line 1, column 1: unknown tag 'elapsed'"),
            ("{{xml name}}", "line 1, column 1: unknown tag 'xml name'"),
            ("{{json}}", "line 1, column 1: unknown tag 'json'"),
            ("{{json json name}}", "line 1, column 1: unknown tag 'json name'"),
            ("{{#result}}{{whatever}}{{/result}}", "line 1, column 12: command 'whatever' not understood"),
            ("{{#result}}{{mean(elapsed)}}{{/result}}", "line 1, column 12: command 'mean(elapsed)' not understood"),
            (
                "{{#result}}\n {{product(elapsed, iterations)}}{{/result}}",
                "line 2, column 2: command 'product(elapsed, iterations)' not understood",
            ),
            ("{{#result}}{{median(elapsed}}{{/result}}", "line 1, column 12: command 'median(elapsed' not understood"),
            ("{{median(elapsed)s}}", "line 1, column 1: command 'median(elapsed)s' not understood"),
            (
                "{{#measurement}}{{elapsed + 1}}{{/measurement}}",
                "line 1, column 17: command 'elapsed + 1' not understood",
            ),
            ("{{#measurement}}{{}}{{/measurement}}", "line 1, column 17: command '' not understood"),
        ] {
            fails(template, expected);
        }
    }

    #[test]
    fn a_command_with_the_wrong_arguments_says_what_it_takes() {
        for (template, expected) in [
            (
                "{{median(elapsed, iterations)}}",
                "command 'median(elapsed, iterations)' not understood: 'median' takes one measure and was given 2",
            ),
            (
                "{{sumProduct(elapsed)}}",
                "command 'sumProduct(elapsed)' not understood: 'sumProduct' takes two measures and was given 1",
            ),
            ("{{median()}}", "command 'median()' not understood: 'median' takes the names of measures"),
            (
                "{{sum(elapsed iterations)}}",
                "command 'sum(elapsed iterations)' not understood: 'sum' takes the names of measures",
            ),
        ] {
            fails(template, &format!("line 1, column 1: {expected}"));
        }
    }

    #[test]
    fn a_section_in_the_wrong_place_is_an_error() {
        for (template, expected) in [
            ("{{#other}}x{{/other}}", "line 1, column 1: unknown section 'other'"),
            ("{{#-first}}x{{/-first}}", "line 1, column 1: unknown section '-first'"),
            ("{{^other}}x{{/other}}", "line 1, column 1: unknown list 'other'"),
            ("{{^result}}x{{/result}}", "line 1, column 1: unknown list 'result'"),
            ("{{#result}}{{#other}}x{{/other}}{{/result}}", "line 1, column 12: got a section inside result"),
            ("{{#result}}{{#result}}x{{/result}}{{/result}}", "line 1, column 12: got a section inside result"),
            ("{{#result}}{{^other}}x{{/other}}{{/result}}", "line 1, column 12: got a inverted section inside result"),
            ("{{#measurement}}{{#other}}{{/other}}", "line 1, column 17: got a section inside measurement"),
            ("{{#measurement}}{{^other}}{{/other}}", "line 1, column 17: got a inverted section inside measurement"),
            (
                "{{#result}}{{#measurement}}{{#-last}}\n{{#measurement}}",
                "line 2, column 1: got a section inside measurement",
            ),
        ] {
            fails(template, expected);
        }
    }

    #[test]
    fn what_is_open_has_to_be_closed_and_in_order() {
        for (template, expected) in [
            ("a {{name", "line 1, column 3: '{{' without '}}'"),
            ("{{name {{unit}}", "line 1, column 1: '{{' without '}}'"),
            ("\n{{#result}}{{name}}", "line 2, column 1: section 'result' is not closed"),
            ("{{#result}}{{^-last}}{{/result}}", {
                "line 1, column 22: '{{/result}}' does not close section '-last', which begins in line 1, column 12"
            }),
            ("a{{/result}}b", "line 1, column 2: '{{/result}}' closes no section"),
            ("{{#result}}{{/result}}{{/result}}", "line 1, column 23: '{{/result}}' closes no section"),
        ] {
            fails(template, expected);
        }
    }

    #[test]
    fn sections_without_end_are_refused_before_the_stack_is_full() {
        let template = "{{#result}}".to_owned() + &"{{#-first}}".repeat(1_000_000);
        fails(&template, "line 1, column 1101: more than 100 sections are open");
        let depth = MAX_DEPTH - 1;
        let deep = "{{#-first}}".repeat(depth) + &"{{/-first}}".repeat(depth);
        assert!(parse(&format!("{{{{#result}}}}{deep}{deep}{{{{/result}}}}")).is_ok());
    }

    #[test]
    fn the_name_of_an_end_may_be_closed_without_its_dash() {
        let dashed = parse("{{#measurement}}{{^-last}}, {{/-last}}{{/measurement}}").unwrap();
        let [Node::Measurements { body, .. }] = &dashed[..] else { panic!("{dashed:?}") };
        let expected = Node::Boundary { end: End::Last, is_inverted: true, body: vec![Node::Text(", ")] };
        assert_eq!(body[..], [expected]);
        let bare = parse("{{#measurement}}{{^-last}}, {{/last}}{{/measurement}}").unwrap();
        assert_eq!(bare, dashed);
    }

    #[test]
    fn white_space_around_the_words_of_a_tag_does_not_matter() {
        let expressions = |template| match &parse(template).unwrap()[..] {
            [Node::Value { filter, expression, .. }] => (*filter, *expression),
            nodes => panic!("{nodes:?}"),
        };
        assert_eq!(expressions("{{ json\n\tname }}"), (Filter::Json, Expression::Tag("name")));
        let (_, product) = expressions("{{ sumProduct ( iterations ,elapsedns ) }}");
        assert_eq!(product, Expression::SumProduct(measure("iterations"), measure("elapsedns")));
        assert_eq!(expressions("{{context( a, (b) )}}").1, Expression::Context("a, (b)"));
    }

    #[test]
    fn a_time_may_carry_its_unit() {
        let parts = |name| {
            let Measure { name, is_per_unit, power } = measure(name);
            (name, is_per_unit, power)
        };
        assert_eq!(parts("elapsed"), ("elapsed", false, 0));
        assert_eq!(parts("elapsedms"), ("elapsed", false, 3));
        assert_eq!(parts("elapsedus"), ("elapsed", false, 6));
        assert_eq!(parts("elapsedns"), ("elapsed", false, 9));
        assert_eq!(parts("elapsedperunit"), ("elapsed", true, 0));
        assert_eq!(parts("elapsedperunitns"), ("elapsed", true, 9));
        assert_eq!(parts("elapsedhours"), ("elapsedhours", false, 0));
        assert_eq!(parts("instructionsns"), ("instructionsns", false, 0));
    }

    #[test]
    fn the_last_two_of_several_braces_belong_to_the_tag() {
        let texts = |template| {
            let text = |node: Node<'static>| match node {
                Node::Text(text) => text,
                _ => "tag",
            };
            parse(template).unwrap().into_iter().map(text).collect::<Vec<_>>()
        };
        assert_eq!(texts("{{{name}}}"), ["{", "tag", "}"]);
        assert_eq!(texts("{{{{name}}"), ["{{", "tag"]);
        assert_eq!(texts("{{{!}}{"), ["{", "{"], "two braces that are no tag");
    }
}
