//! What stands in the parentheses of `#[nanobench(..)]`: the list of options, their values, and what is wrong with them.

use proc_macro2::{Delimiter, Ident, Literal, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Error, Lit, LitStr, Result};

use crate::duration;
use crate::errors::Errors;
use crate::value::{self, at, is_punct};

/// What an option takes after its `=`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Inputs,
    Args,
    /// Values for the constant parameter, or types for the type parameter, in brackets.
    List,
    By,
    /// An expression that gives an async runtime.
    Runtime,
    /// A number, or a closure from an input to a number.
    Counter,
    /// A number of threads, or several.
    Threads,
    Name,
    Crate,
    /// Nothing; the option is on because it is there.
    Flag,
    /// A `u64`.
    Count,
    /// A `u64` that is not zero.
    Positive,
    /// A `Duration`, or its text.
    Time,
    /// An `f64` between zero and one.
    Share,
    /// Something that becomes a `String`.
    Text,
    /// Any number.
    Amount,
}

impl Kind {
    /// Whether such an option is a setting of the engine.
    fn is_setting(self) -> bool {
        matches!(
            self,
            Self::Counter | Self::Count | Self::Positive | Self::Time | Self::Share | Self::Text | Self::Amount
        )
    }
}

/// Every option, with an example of its value for error messages. The settings have the names of `Overrides`' fields.
const OPTIONS: [(&str, Kind, &str); 33] = [
    ("inputs", Kind::Inputs, "[1, 2, 3]"),
    ("args", Kind::Args, "[10, 1000]"),
    ("consts", Kind::List, "[8, 64]"),
    ("types", Kind::List, "[u8, String]"),
    ("by", Kind::By, "|input| input.len()"),
    ("complexity", Kind::Flag, ""),
    ("runtime", Kind::Runtime, "tokio::runtime::Runtime::new().unwrap()"),
    ("threads", Kind::Threads, "[1, 2, 4]"),
    ("bytes", Kind::Counter, "1024"),
    ("items", Kind::Counter, "|input| input.len()"),
    ("chars", Kind::Counter, "|text| text.chars().count()"),
    ("name", Kind::Name, "\"another name\""),
    ("ignore", Kind::Flag, ""),
    ("baseline", Kind::Flag, ""),
    ("throughput", Kind::Flag, ""),
    ("latency", Kind::Flag, ""),
    ("repeated", Kind::Flag, ""),
    ("cold", Kind::Flag, ""),
    ("epochs", Kind::Positive, "11"),
    ("clock_resolution_multiple", Kind::Positive, "1000"),
    ("min_epoch_time", Kind::Time, "\"100us\""),
    ("max_epoch_time", Kind::Time, "\"100ms\""),
    ("min_epoch_iterations", Kind::Count, "1"),
    ("epoch_iterations", Kind::Count, "100"),
    ("warmup", Kind::Count, "1000"),
    ("precision", Kind::Share, "0.01"),
    ("max_time", Kind::Time, "\"50ms\""),
    ("estimator", Kind::Text, "\"leave-one-out\""),
    ("overhead", Kind::Text, "\"subtract\""),
    ("unit", Kind::Text, "\"byte\""),
    ("batch", Kind::Amount, "1024"),
    ("time_unit", Kind::Text, "\"us\""),
    ("crate", Kind::Crate, "path::to::nanobench"),
];

/// What other frameworks, or a slip of the mind, call an option.
const ALIASES: [(&str, &str); 15] = [
    ("bytes_count", "bytes"),
    ("items_count", "items"),
    ("chars_count", "chars"),
    ("counter", "bytes"),
    ("values", "inputs"),
    ("label", "by"),
    ("group_by", "by"),
    ("skip", "ignore"),
    ("mode", "latency"),
    ("chain", "latency"),
    ("sample_count", "epochs"),
    ("sample_size", "epoch_iterations"),
    ("iterations", "epoch_iterations"),
    ("timeout", "max_time"),
    ("min_time", "min_epoch_time"),
];

/// The value of an option, and the option's name as the person wrote it, to point at.
pub(crate) struct Given {
    pub(crate) key: Ident,
    pub(crate) value: TokenStream,
}

/// The options of one attribute.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) inputs: Option<Given>,
    pub(crate) args: Option<Given>,
    pub(crate) consts: Option<Given>,
    pub(crate) types: Option<Given>,
    pub(crate) by: Option<Given>,
    pub(crate) runtime: Option<Given>,
    /// What can be iterated over.
    pub(crate) threads: Option<Given>,
    /// What is counted by a closure of the input: the option's name, and the closure.
    pub(crate) counters: Vec<Given>,
    /// The option as the person wrote it, to point at.
    pub(crate) complexity: Option<Ident>,
    pub(crate) name: Option<LitStr>,
    pub(crate) crate_path: Option<TokenStream>,
    pub(crate) ignore: bool,
    pub(crate) baseline: bool,
    pub(crate) throughput: bool,
    /// The option as the person wrote it, to point at.
    pub(crate) latency: Option<Ident>,
    /// Fields of `Overrides` and expressions of their types.
    pub(crate) settings: Vec<Given>,
}

impl Options {
    /// # Errors
    ///
    /// All mistakes that can be seen without the function.
    pub(crate) fn read(tokens: TokenStream) -> Result<Self> {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut errors = Errors::default();
        let (options, seen) = Self::collect(&tokens, &mut errors);
        if let (None, Some(repeated)) = (&options.inputs, options.setting("compare_repeated")) {
            let message =
                "`repeated` repeats each input, and there are none; add `inputs = [..]` or leave out `repeated`";
            errors.push(Error::new(repeated.key.span(), message));
        }
        if let (Some(overhead), Some(_), false) = (options.setting("overhead"), &options.latency, options.throughput) {
            let message = "`overhead` is about throughput, and this is measured for `latency` alone, from which its link is taken off \
                           in any case; add `throughput` or leave out `overhead`";
            errors.push(Error::new(overhead.key.span(), message));
        }
        if let (None, Some(by)) = (&options.inputs, &options.by) {
            // An `inputs` that was given but is wrong has been reported already.
            if !seen.contains(&"inputs") {
                let message = "`by` groups inputs, and there are none; add `inputs = [..]` or leave out `by`";
                errors.push(Error::new(by.key.span(), message));
            }
        }
        if let (None, Some(complexity)) = (&options.args, &options.complexity) {
            let message =
                "`complexity` is about how the cost grows with the argument; add `args = [..]`, or leave it out";
            errors.push(Error::new(complexity.span(), message));
        }
        errors.or(options)
    }

    /// The options of a group, which are those that make sense for every benchmark in it.
    ///
    /// # Errors
    ///
    /// All mistakes that can be seen without the module.
    pub(crate) fn read_of_group(tokens: TokenStream) -> Result<Self> {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut errors = Errors::default();
        let mut rest = tokens.as_slice();
        while !rest.is_empty() {
            let (option, length) = split_option(rest);
            if let Ok((key, _)) = option {
                let is_setting = known(&key).is_ok_and(|(_, kind)| kind.is_setting());
                if !is_setting
                    && !["ignore", "repeated", "cold", "crate"].iter().any(|name| key == name)
                    && known(&key).is_ok()
                {
                    let message =
                        format!("`{key}` is about a single benchmark; write it in the #[nanobench(..)] of each");
                    errors.push(Error::new(key.span(), message));
                }
            }
            rest = rest.get(length + 1..).unwrap_or_default();
        }
        errors.or(())?;
        // That inputs are missing is no mistake here: `repeated` is for those that have some.
        let mut errors = Errors::default();
        let (options, _seen) = Self::collect(&tokens, &mut errors);
        errors.or(options)
    }

    /// The options as they are written, and the names of those that are there.
    fn collect(tokens: &[TokenTree], errors: &mut Errors) -> (Self, Vec<&'static str>) {
        let mut options = Self::default();
        let mut seen: Vec<&str> = Vec::new();
        let mut rest = tokens;
        while !rest.is_empty() {
            let (option, length) = split_option(rest);
            let read = option.and_then(|(key, value)| {
                let (name, kind) = known(&key)?;
                if seen.contains(&name) {
                    return Err(Error::new(key.span(), format!("`{name}` is given twice; keep one of them")));
                }
                seen.push(name);
                options.set(name, kind, key, value)
            });
            errors.keep(read);
            rest = rest.get(length + 1..).unwrap_or_default();
        }
        (options, seen)
    }

    fn setting(&self, name: &str) -> Option<&Given> {
        self.settings.iter().find(|setting| setting.key == name)
    }

    fn set(&mut self, name: &str, kind: Kind, key: Ident, value: Option<TokenStream>) -> Result<()> {
        let example = example(name);
        let value = match (kind, value.filter(|value| !value.is_empty())) {
            (Kind::Flag, None) => {
                match name {
                    "throughput" => self.throughput = true,
                    "latency" => self.latency = Some(key),
                    "baseline" => self.baseline = true,
                    "complexity" => self.complexity = Some(key),
                    "repeated" => {
                        let setting = Ident::new("compare_repeated", key.span());
                        self.settings.push(Given { key: setting, value: quote!(true) });
                    }
                    "cold" => self.settings.push(Given { key, value: quote!(true) }),
                    _ => self.ignore = true,
                }
                return Ok(());
            }
            (Kind::Flag, Some(_)) => {
                let message = format!("`{name}` takes no value; write `{name}` alone, or leave it out");
                return Err(Error::new(key.span(), message));
            }
            (_, None) => {
                let message = format!("`{name}` needs a value; write for example `{name} = {example}`");
                return Err(Error::new(key.span(), message));
            }
            (_, Some(value)) => value::with_whole_fragments(value),
        };
        let span = value::span(&value, key.span());
        let literal = value::literal(&value);
        let wrong =
            |takes: &str| Error::new(span, format!("`{name}` takes {takes}; write for example `{name} = {example}`"));
        match (kind, literal) {
            (Kind::Inputs, _) if value::is_empty_list(&value) => {
                let message = "without any input there is nothing to measure; put at least one value into `inputs`";
                return Err(Error::new(span, message));
            }
            (Kind::Args, _) if value::is_empty_list(&value) => {
                let message = "without any argument there is nothing to measure; put at least one value into `args`";
                return Err(Error::new(span, message));
            }
            (Kind::Args, None) => self.args = Some(Given { key, value }),
            (Kind::Args, Some(_)) => return Err(wrong("a list or another expression to iterate over")),
            (Kind::List, _) => match value::list(&value, name == "types") {
                Some(parts) if parts.is_empty() => {
                    let message = format!("an empty `{name}` leaves nothing to measure; put at least one into it");
                    return Err(Error::new(span, message));
                }
                Some(_) if name == "consts" => self.consts = Some(Given { key, value }),
                Some(_) => self.types = Some(Given { key, value }),
                None => return Err(wrong("a list in brackets")),
            },
            (Kind::Threads, _) if value::is_empty_list(&value) => {
                return Err(wrong("at least one number of threads, where 0 is as many as there are processors"));
            }
            (Kind::Threads, None) => self.threads = Some(Given { key, value }),
            (Kind::Threads, Some(Lit::Int(count))) if !count.base10_digits().starts_with('-') => {
                self.threads = Some(Given { key, value: quote_spanned!(at(span)=> [#value]) });
            }
            (Kind::Threads, Some(_)) => return Err(wrong("a number of threads or a list of such numbers")),
            (Kind::Runtime, None) => self.runtime = Some(Given { key, value }),
            (Kind::Runtime, Some(_)) => return Err(wrong("something with a method `block_on`")),
            (Kind::Counter, None) if value::is_closure(&value) => self.counters.push(Given { key, value }),
            (Kind::Counter, None) => {
                let value = cast_to_float(&value, span);
                self.settings.push(Given { key, value });
            }
            (Kind::Inputs, None) => self.inputs = Some(Given { key, value }),
            (Kind::Inputs, Some(_)) => return Err(wrong("a list or another expression to iterate over")),
            (Kind::By, None) => self.by = Some(Given { key, value }),
            (Kind::By, Some(_)) => return Err(wrong("a closure from an input to its label")),
            (Kind::Name, Some(Lit::Str(text))) => {
                check_text(name, &text)?;
                self.name = Some(text);
            }
            (Kind::Name, _) => return Err(wrong("a string literal")),
            (Kind::Crate, _) if is_path(&value) => self.crate_path = Some(value),
            (Kind::Crate, _) => return Err(wrong("a path without quotes")),
            (_, Some(literal)) => {
                let value = literal_setting(name, kind, &literal, value, &wrong)?;
                self.settings.push(Given { key, value });
            }
            (_, None) => {
                let value = match kind {
                    Kind::Text => into_string(&value, span),
                    Kind::Amount => cast_to_float(&value, span),
                    _ => value,
                };
                self.settings.push(Given { key, value });
            }
        }
        Ok(())
    }
}

/// What a setting becomes whose value is a literal, which is checked now: the compiler would point at the mistake as well, but
/// could not say what to write.
fn literal_setting(
    name: &str,
    kind: Kind,
    literal: &Lit,
    value: TokenStream,
    wrong: &dyn Fn(&str) -> Error,
) -> Result<TokenStream> {
    match (kind, literal) {
        (Kind::Count | Kind::Positive, Lit::Int(number)) => match number.base10_digits() {
            "0" if kind == Kind::Positive => Err(wrong("a whole number from 1")),
            digits if digits.starts_with('-') => Err(wrong("a whole number that is not negative")),
            _ => Ok(value),
        },
        (Kind::Count | Kind::Positive, _) => Err(wrong("a whole number")),

        (Kind::Time, Lit::Str(text)) => match duration::nanoseconds(&text.value()) {
            Ok(nanoseconds) => Ok(quote_spanned! {at(text.span())=> ::core::time::Duration::from_nanos(#nanoseconds) }),
            Err(what) => {
                let (given, example) = (text.value(), example(name));
                let message = format!("\"{given}\" {what}; write for example `{name} = {example}`");
                Err(Error::new(text.span(), message))
            }
        },
        (Kind::Time, _) => Err(wrong("a string with a unit or a `Duration`")),

        (Kind::Share, Lit::Float(number))
            if number.base10_parse().is_ok_and(|share: f64| share > 0.0 && share < 1.0) =>
        {
            Ok(value)
        }
        (Kind::Share, _) => Err(wrong("a share between 0 and 1, where 1 % is 0.01")),

        (Kind::Text, Lit::Str(text)) => {
            check_text(name, text)?;
            Ok(into_string(&value, text.span()))
        }
        (Kind::Text, _) => Err(wrong("a string")),

        (Kind::Amount | Kind::Counter, Lit::Int(number)) => amount(number.base10_digits(), number.span(), wrong),
        (Kind::Amount | Kind::Counter, Lit::Float(number)) => amount(number.base10_digits(), number.span(), wrong),
        (Kind::Amount, _) => Err(wrong("a number")),
        (Kind::Counter, _) => Err(wrong("a number or a closure from an input to one")),

        (
            Kind::Inputs
            | Kind::Args
            | Kind::List
            | Kind::By
            | Kind::Runtime
            | Kind::Threads
            | Kind::Name
            | Kind::Crate
            | Kind::Flag,
            _,
        ) => Ok(value),
    }
}

/// Splits the first option off: its name, its value if it has one, and how many tokens they take.
fn split_option(tokens: &[TokenTree]) -> (Result<(Ident, Option<TokenStream>)>, usize) {
    let (key, after) = match tokens {
        [TokenTree::Ident(key), after @ ..] => (key.unraw(), after),
        [other, ..] => {
            let message = format!("an option has a name; write for example `inputs = [1, 2, 3]`. {}", all_options());
            return (Err(Error::new(other.span(), message)), value::expression_length(tokens));
        }
        [] => return (Err(Error::new(Span::call_site(), all_options())), 0),
    };
    match after {
        [] => (Ok((key, None)), 1),
        [comma, ..] if is_punct(Some(comma), ',') => (Ok((key, None)), 1),
        [equals, value @ ..] if is_punct(Some(equals), '=') => {
            let length = value::expression_length(value);
            (Ok((key, Some(value[..length].iter().cloned().collect()))), length + 2)
        }
        [other, ..] => {
            let message = match other {
                TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => {
                    let value = group.stream().to_string();
                    format!("the value of an option comes after `=`; write `{key} = {value}`")
                }
                _ => format!("there is a `=` or a comma missing after `{key}`"),
            };
            let message = known(&key).map_or_else(|unknown| unknown.to_string(), |_| message);
            (Err(Error::new(other.span(), message)), 1 + value::expression_length(after))
        }
    }
}

fn known(key: &Ident) -> Result<(&'static str, Kind)> {
    let written = key.to_string();
    if let Some(&(name, kind, _)) = OPTIONS.iter().find(|(name, ..)| *name == written) {
        return Ok((name, kind));
    }
    let advice = nearest(&written).map_or_else(|| ".".to_owned(), |name| format!("; did you mean `{name}`?"));
    Err(Error::new(key.span(), format!("there is no option `{written}`{advice} {}", all_options())))
}

fn all_options() -> String {
    format!("The options are {}", OPTIONS.map(|(name, ..)| name).join(", "))
}

fn example(name: &str) -> &'static str {
    OPTIONS.iter().find(|(option, ..)| *option == name).map_or("", |(.., example)| example)
}

/// The option that was probably meant: one that other frameworks call so, or one that differs in a third of its letters at
/// most.
fn nearest(written: &str) -> Option<&'static str> {
    if let Some((_, name)) = ALIASES.iter().find(|(alias, _)| *alias == written) {
        return Some(name);
    }
    OPTIONS
        .iter()
        .map(|(name, ..)| (edit_distance(written, name), *name))
        .min()
        .filter(|(distance, name)| *distance <= name.len().div_ceil(3))
        .map(|(_, name)| name)
}

/// Letters to insert, delete or replace to turn one word into the other (Wagner and Fischer, 1974).
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// Names and units are printed in tables and matched by filters, which what cannot be seen would break.
fn check_text(name: &str, text: &LitStr) -> Result<()> {
    let value = text.value();
    let what = if value.trim().is_empty() {
        "is empty; give it at least one letter or leave it out"
    } else if value.chars().any(char::is_control) {
        "has a line break or another control character; leave that out"
    } else {
        return Ok(());
    };
    Err(Error::new(text.span(), format!("this `{name}` {what}")))
}

/// Whether a value is made of names and `::` only. Anything else would give an error far from the place of the mistake.
fn is_path(value: &TokenStream) -> bool {
    value::flattened(value.clone()).iter().all(|token| match token {
        TokenTree::Ident(_) => true,
        token => is_punct(Some(token), ':'),
    })
}

/// A literal of type `f64`, whatever the literal in the source was. Without a suffix, an integer above two thousand millions
/// would have no type that it could be cast from.
fn amount(digits: &str, span: Span, wrong: &dyn Fn(&str) -> Error) -> Result<TokenStream> {
    let amount = digits.parse().unwrap_or(0.0);
    if !(amount > 0.0 && f64::is_finite(amount)) {
        return Err(wrong("a number above 0"));
    }
    let mut literal = Literal::f64_suffixed(amount);
    literal.set_span(at(span));
    Ok(quote!(#literal))
}

fn into_string(value: &TokenStream, span: Span) -> TokenStream {
    quote_spanned! {at(span)=> ::core::convert::Into::<::std::string::String>::into(#value) }
}

/// The variable is what lints about casts look at, and they leave alone what a macro has declared.
fn cast_to_float(value: &TokenStream, span: Span) -> TokenStream {
    let span = at(span);
    quote_spanned! {span=> { let amount = #value; amount as ::core::primitive::f64 } }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: &str) -> Result<Options> {
        Options::read(source.parse().unwrap())
    }

    fn messages(source: &str) -> Vec<String> {
        read(source).err().map(|errors| errors.into_iter().map(|error| error.to_string()).collect()).unwrap_or_default()
    }

    fn setting(source: &str) -> String {
        read(source).unwrap().settings[0].value.to_string()
    }

    #[test]
    fn the_nearest_option_is_suggested() {
        for (written, meant) in [
            ("input", "inputs"),
            ("epoch", "epochs"),
            ("nmae", "name"),
            ("min_epoch_iteration", "min_epoch_iterations"),
            ("warm_up", "warmup"),
            ("presicion", "precision"),
            ("arg", "args"),
            ("bytes_count", "bytes"),
            ("sample_count", "epochs"),
        ] {
            assert_eq!(nearest(written), Some(meant), "{written}");
        }
        assert_eq!(nearest("colour"), None);
        assert_eq!(nearest("x"), None);
    }

    #[test]
    fn distance_counts_single_letter_edits() {
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("same", "same"), 0);
    }

    #[test]
    fn every_alias_leads_to_an_option() {
        for (alias, name) in ALIASES {
            assert!(OPTIONS.iter().any(|(option, ..)| *option == name), "{alias}");
            assert!(!OPTIONS.iter().any(|(option, ..)| *option == alias), "{alias}");
        }
    }

    #[test]
    fn every_example_is_accepted() {
        for (name, kind, example) in OPTIONS {
            if kind != Kind::Flag {
                let inputs = if name == "by" { "inputs = [1], " } else { "" };
                let source = format!("{inputs}{name} = {example}");
                assert_eq!(messages(&source), [] as [&str; 0], "{source}");
            }
        }
    }

    #[test]
    fn options_may_end_with_a_comma_and_be_raw() {
        let options = read("crate = ::a::b, r#ignore, r#epochs = N,").unwrap();
        assert!(options.ignore && options.crate_path.is_some());
        assert_eq!(options.settings.len(), 1);
    }

    #[test]
    fn each_flag_is_on_when_it_is_there() {
        for (source, expected) in [
            ("", (false, false, false)),
            ("ignore", (true, false, false)),
            ("throughput", (false, true, false)),
            ("latency", (false, false, true)),
            ("latency, ignore, throughput", (true, true, true)),
        ] {
            let options = read(source).unwrap();
            assert_eq!((options.ignore, options.throughput, options.latency.is_some()), expected, "{source}");
        }
    }

    #[test]
    fn times_become_nanoseconds() {
        assert_eq!(setting("max_time = \"1.5 us\""), ":: core :: time :: Duration :: from_nanos (1500u64)");
        assert_eq!(setting("max_time = LONG"), "LONG");
    }

    #[test]
    fn amounts_become_floats() {
        assert_eq!(setting("batch = 5_000_000_000"), "5000000000f64");
        assert_eq!(setting("batch = 0x10"), "16f64");
        assert_eq!(setting("batch = 1.5f32"), "1.5f64");
        assert_eq!(setting("batch = A + B"), "{ let amount = A + B ; amount as :: core :: primitive :: f64 }");
    }

    #[test]
    fn all_mistakes_are_reported_at_once() {
        assert_eq!(messages("epochs = 0, epochs = 1, by = f, colour = 3, name = \"\"").len(), 5);
    }

    #[test]
    fn whatever_stands_there_is_no_reason_to_panic() {
        let pieces = ["epochs", "=", ",", "5", "\"5ms\"", "(1)", "<", "|", "inputs", "[]", "ignore", "-", "::", "'a"];
        for a in pieces {
            for b in pieces {
                for c in pieces {
                    for source in [format!("{a} {b} {c}"), format!("batch = {a} {b} {c}, {b}")] {
                        if let Ok(tokens) = source.parse() {
                            let _ = Options::read(tokens);
                        }
                    }
                }
            }
        }
    }
}
