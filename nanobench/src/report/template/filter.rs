//! How a value is written: as it is, or so that it cannot break the format around it.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::printable::printable;
use crate::report::json::push_string;

/// What a tag stands for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shown<'a> {
    Text(Cow<'a, str>),
    Number(f64),
    Boolean(bool),
    /// There is no such thing in the data.
    Missing,
}

/// The word before a tag's expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filter {
    /// None: text and numbers as they are.
    Raw,
    /// A value of JSON: text in quotes, what is no number is `null`. It may stand within `<script>`.
    Json,
    /// A field of a CSV file with any separator: text in quotes, what is no number is empty.
    Csv,
    /// Text of an HTML page, also within a quoted attribute. What is no number is a dash.
    Html,
}

impl Filter {
    /// The filter of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "json" => Self::Json,
            "csv" => Self::Csv,
            "html" => Self::Html,
            _ => return None,
        })
    }

    /// Appends `value`.
    pub(super) fn push(self, out: &mut String, value: &Shown<'_>) {
        // Writing to a string cannot fail. The format of floats has the fewest digits that find the number again, and is
        // that of JSON too.
        let _ = match (self, value) {
            // That truth is a number is inherited, as is zero for what is missing: templates are written for them.
            (Self::Raw, Shown::Boolean(value)) => write!(out, "{}", u8::from(*value)),
            (Self::Raw, Shown::Number(number)) => write!(out, "{number}"),
            (Self::Raw, Shown::Text(text)) => write!(out, "{text}"),
            (_, Shown::Boolean(value)) => write!(out, "{value}"),
            (_, Shown::Number(number)) if number.is_finite() => write!(out, "{number}"),
            (_, Shown::Number(_) | Shown::Missing) => write!(out, "{}", self.nothing()),
            (Self::Json, Shown::Text(text)) => {
                push_string(out, text);
                Ok(())
            }
            (Self::Csv, Shown::Text(text)) => push_csv(out, text),
            (Self::Html, Shown::Text(text)) => push_html(out, text),
        };
    }

    /// What stands for a number that does not exist.
    fn nothing(self) -> &'static str {
        match self {
            Self::Raw => "0",
            Self::Json => "null",
            Self::Csv => "",
            Self::Html => "-",
        }
    }
}

/// Appends a field of a CSV file in its quotes. Lines may break within them; other control characters are spelt out, because
/// the format cannot and a terminal would obey them.
///
/// Source: Y. Shafranovich, "Common Format and MIME Type for CSV Files", RFC 4180, 2005.
fn push_csv(out: &mut String, text: &str) -> std::fmt::Result {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\"\""),
            '\n' | '\r' | '\t' => out.push(c),
            c if c.is_control() => write!(out, "{}", c.escape_unicode())?,
            c => out.push(c),
        }
    }
    out.push('"');
    Ok(())
}

/// Appends text of an HTML page.
fn push_html(out: &mut String, text: &str) -> std::fmt::Result {
    for c in printable(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(filter: Filter, value: &Shown<'_>) -> String {
        let mut out = String::new();
        filter.push(&mut out, value);
        out
    }

    const ALL: [Filter; 4] = [Filter::Raw, Filter::Json, Filter::Csv, Filter::Html];

    #[test]
    fn text_is_escaped_as_the_format_asks_for() {
        let text = Shown::Text("a\"b';c,\n</script>&\u{1b}\u{202e}🦀".into());
        let expected = [
            "a\"b';c,\n</script>&\u{1b}\u{202e}🦀",
            "\"a\\\"b';c,\\u000a\\u003c/script>&\\u001b\u{202e}🦀\"",
            "\"a\"\"b';c,\n</script>&\\u{1b}\u{202e}🦀\"",
            "a&quot;b&#39;;c,\\u{a}&lt;/script&gt;&amp;\\u{1b}\\u{202e}🦀",
        ];
        assert_eq!(ALL.map(|filter| shown(filter, &text)), expected);
    }

    #[test]
    fn numbers_have_the_fewest_digits_that_find_them_again() {
        for number in [0.1 + 0.2, 1.0, -2.5e-9, 1e21, f64::MIN_POSITIVE] {
            for filter in ALL {
                assert_eq!(shown(filter, &Shown::Number(number)).parse(), Ok(number));
            }
        }
        assert_eq!(shown(Filter::Raw, &Shown::Number(11.0)), "11");
        assert_eq!(shown(Filter::Raw, &Shown::Number(2.5e-8)), "0.000000025");
    }

    #[test]
    fn what_is_no_number_is_nothing_in_the_words_of_the_format() {
        for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(ALL.map(|filter| shown(filter, &Shown::Number(number)))[1..], ["null", "", "-"]);
        }
        assert_eq!(ALL.map(|filter| shown(filter, &Shown::Missing)), ["0", "null", "", "-"]);
    }

    #[test]
    fn truth_is_a_number_only_without_a_filter() {
        assert_eq!(ALL.map(|filter| shown(filter, &Shown::Boolean(true))), ["1", "true", "true", "true"]);
        assert_eq!(ALL.map(|filter| shown(filter, &Shown::Boolean(false))), ["0", "false", "false", "false"]);
    }
}
