//! The function below the attribute: its name, the type of its parameter, and why it cannot be measured if it cannot.
//!
//! Only the signature is read, and only as tokens: the compiler has parsed the function by now, and the body concerns
//! nobody here.

mod check;

use proc_macro2::{Delimiter, Group, Ident, Spacing, Span, TokenStream, TokenTree};
use quote::quote;
use syn::{Error, Result};

use crate::errors::Errors;
use crate::options::Options;
use crate::value::{angle_length, flattened, is_punct};

/// A function that can be measured.
pub(crate) struct Function {
    pub(crate) name: Ident,
    pub(crate) generics: Generics,
    /// Whether the first parameter is a bencher.
    pub(crate) has_bencher: bool,
    /// The parameters but for the bencher, two at most: of two, the first is the argument and the second the input.
    pub(crate) inputs: Vec<Input>,
    pub(crate) is_async: bool,
    /// The `#[ignore]` on the function, if there is one.
    pub(crate) ignore: bool,
    /// The type of the result, with lifetimes as in that of the parameter. None for a function that returns nothing.
    pub(crate) result: Option<TokenStream>,
}

/// What makes a function generic, lifetimes aside.
#[derive(Default)]
pub(crate) struct Generics {
    /// The parameters with their bounds, in the order in which they are declared.
    pub(crate) parameters: Vec<Generic>,
    /// The predicates behind `where`.
    pub(crate) predicates: TokenStream,
}

/// A parameter for a type or for a constant.
pub(crate) struct Generic {
    pub(crate) name: Ident,
    pub(crate) is_const: bool,
    /// As it is declared, without bounds and default.
    pub(crate) declaration: TokenStream,
    /// The bounds of a type.
    pub(crate) bounds: TokenStream,
}

/// The parameter of a function, and so what it does with an input.
pub(crate) struct Input {
    /// The type of the parameter, for a reference what it refers to. Lifetimes of the function are `'static` in it, since
    /// inputs live as long as the program may.
    pub(crate) ty: TokenStream,
    /// Where the type stands.
    pub(crate) span: Span,
    pub(crate) passing: Passing,
}

/// How a function takes its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passing {
    Value,
    Reference,
    /// A reference to a type without a size, such as `str`. The inputs are of some other type that lends it.
    UnsizedReference,
}

impl Input {
    /// The type of the values that are given, where the parameter tells it.
    pub(crate) fn item(&self) -> TokenStream {
        if self.passing == Passing::UnsizedReference { quote!(_) } else { self.ty.clone() }
    }
}

impl Function {
    /// # Errors
    ///
    /// All reasons why the item cannot be measured.
    pub(crate) fn read(item: TokenStream) -> Result<Self> {
        let tokens = flattened(item);
        let mut errors = Errors::default();
        let mut rest = tokens.as_slice();

        let mut ignore = false;
        while let [hash, TokenTree::Group(attribute), after @ ..] = rest {
            if !is_punct(Some(hash), '#') {
                break;
            }
            errors.keep(check_attribute(attribute));
            ignore |= is_ignore(attribute);
            rest = after;
        }
        rest = after_visibility(rest);
        let item_span = rest.first().map_or_else(Span::call_site, TokenTree::span);
        let mut qualifiers = Vec::new();
        let (name, rest) = loop {
            match rest {
                [TokenTree::Ident(word), TokenTree::Ident(name), after @ ..] if word == "fn" => break (name, after),
                [TokenTree::Ident(word), after @ ..] if is_qualifier(word) => {
                    qualifiers.push(word);
                    rest = after;
                }
                // The name of an ABI, as in `extern "C"`.
                [TokenTree::Literal(_), after @ ..] if !qualifiers.is_empty() => rest = after,
                _ => {
                    let what =
                        "#[nanobench] measures functions, and this is not one; move it to the `fn` to be measured";
                    errors.push(Error::new(item_span, what));
                    return Err(errors.or(()).unwrap_err());
                }
            }
        };
        let is_async = qualifiers.iter().any(|word| *word == "async");
        for word in qualifiers {
            errors.keep(check_qualifier(word));
        }

        let (lifetimes, mut generics, rest) = match rest {
            [angle, ..] if is_punct(Some(angle), '<') => {
                let length = angle_length(rest);
                let within = rest.get(1..length - 1).unwrap_or_default();
                let (lifetimes, generics) = read_generics(within);
                (lifetimes, generics, &rest[length..])
            }
            _ => (Vec::new(), Generics::default(), rest),
        };
        generics.predicates = with_static_lifetimes(predicates(rest), &lifetimes);
        let (has_bencher, inputs) = match rest {
            [TokenTree::Group(parameters), ..] if parameters.delimiter() == Delimiter::Parenthesis => {
                errors.keep(read_parameters(parameters, &lifetimes)).unwrap_or_default()
            }
            _ => {
                errors.push(Error::new(name.span(), "the parameters of this function are missing"));
                (false, Vec::new())
            }
        };
        if !matches!(rest.last(), Some(TokenTree::Group(body)) if body.delimiter() == Delimiter::Brace) {
            let message = "this function has no body; call it from a function that has one, and measure that";
            errors.push(Error::new(name.span(), message));
        }
        let result = result(rest, &lifetimes);
        errors.or(Self { name: name.clone(), generics, has_bencher, inputs, is_async, ignore, result })
    }

    /// The parameter that gets the input; none if there are no inputs.
    pub(crate) fn input(&self, options: &Options) -> Option<&Input> {
        options.inputs.as_ref().and_then(|_| self.inputs.last())
    }

    /// The parameter that gets the argument; none if there are no arguments.
    pub(crate) fn arg(&self, options: &Options) -> Option<&Input> {
        options.args.as_ref().and_then(|_| self.inputs.first())
    }
}

/// The type behind the arrow in what follows the name of a function and its generic parameters.
fn result(after_name: &[TokenTree], lifetimes: &[String]) -> Option<TokenStream> {
    match after_name {
        [_parameters, dash, angle, ty @ .., _body] if is_punct(Some(dash), '-') && is_punct(Some(angle), '>') => {
            let is_where = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if word == "where");
            let ty = ty.iter().take_while(|token| !is_where(token)).cloned().collect();
            Some(with_static_lifetimes(ty, lifetimes))
        }
        _ => None,
    }
}

/// Two registrations of one function would be two benchmarks of one name.
fn check_attribute(attribute: &Group) -> Result<()> {
    let mut path_end = None;
    for token in flattened(attribute.stream()) {
        match token {
            TokenTree::Ident(ident) => path_end = Some(ident),
            TokenTree::Punct(punct) if punct.as_char() == ':' => {}
            _ => break,
        }
    }
    match path_end {
        Some(ident) if ident == "nanobench" => {
            let message = "#[nanobench] stands on this function twice; put all options into one of them";
            Err(Error::new(ident.span(), message))
        }
        Some(ident) if ident == "target_feature" => {
            let message = "a function with #[target_feature] cannot be called without a check; check for the feature and \
                           call it in a function without, and measure that";
            Err(Error::new(ident.span(), message))
        }
        _ => Ok(()),
    }
}

fn after_visibility(tokens: &[TokenTree]) -> &[TokenTree] {
    match tokens {
        [TokenTree::Ident(word), TokenTree::Group(scope), after @ ..]
            if word == "pub" && scope.delimiter() == Delimiter::Parenthesis =>
        {
            after
        }
        [TokenTree::Ident(word), after @ ..] if word == "pub" => after,
        _ => tokens,
    }
}

fn is_qualifier(word: &Ident) -> bool {
    ["const", "async", "gen", "unsafe", "safe", "extern"].iter().any(|qualifier| word == qualifier)
}

fn check_qualifier(word: &Ident) -> Result<()> {
    let message = if word == "gen" {
        "calling a `gen fn` only makes an iterator; run it to its end in a function that is not `gen`"
    } else if word == "unsafe" {
        "an `unsafe fn` cannot be called without a promise; make the promise in a safe function with an `unsafe` block"
    } else if word == "extern" {
        "an `extern fn` is called in another way than Rust's functions; call it from one without `extern`, and measure that"
    } else {
        return Ok(());
    };
    Err(Error::new(word.span(), message))
}

/// The lifetimes among the generic parameters, and the others.
fn read_generics(generics: &[TokenTree]) -> (Vec<String>, Generics) {
    let mut lifetimes = Vec::new();
    let mut parameters = Vec::new();
    for generic in split_at_commas(generics) {
        let (name, is_const) = match generic {
            [quote, TokenTree::Ident(name), ..] if is_punct(Some(quote), '\'') => {
                lifetimes.push(name.to_string());
                continue;
            }
            [TokenTree::Ident(word), TokenTree::Ident(name), ..] if word == "const" => (name.clone(), true),
            [TokenTree::Ident(name), ..] => (name.clone(), false),
            _ => continue,
        };
        // Functions have no defaults, but the compiler says so later.
        let declared: Vec<TokenTree> =
            generic.iter().take_while(|token| !is_punct(Some(token), '=')).cloned().collect();
        let (declaration, bounds) = match colon(&declared) {
            Some(colon) if !is_const => (quote!(#name), declared[colon + 1..].iter().cloned().collect()),
            _ => (declared.into_iter().collect(), TokenStream::new()),
        };
        parameters.push(Generic { name, is_const, declaration, bounds });
    }
    for parameter in &mut parameters {
        parameter.bounds = with_static_lifetimes(std::mem::take(&mut parameter.bounds), &lifetimes);
    }
    (lifetimes, Generics { parameters, predicates: TokenStream::new() })
}

/// What stands between `where` and the body.
fn predicates(after_name: &[TokenTree]) -> TokenStream {
    let is_where = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if word == "where");
    match after_name.iter().position(is_where) {
        Some(position) => after_name[position + 1..after_name.len() - 1].iter().cloned().collect(),
        None => TokenStream::new(),
    }
}

/// Whether the first parameter is a bencher, and the others.
fn read_parameters(parameters: &Group, lifetimes: &[String]) -> Result<(bool, Vec<Input>)> {
    let tokens = flattened(parameters.stream());
    let mut parameters = split_at_commas(&tokens);
    if let Some(first) = parameters.first() {
        check_receiver(first)?;
    }
    let has_bencher = parameters.first().is_some_and(|first| is_bencher(first));
    if has_bencher {
        parameters.remove(0);
    }
    let mut errors = Errors::default();
    if let Some(third) = parameters.get(if has_bencher { 1 } else { 2 }) {
        let message = "a measured function has one parameter for `args` and one for `inputs` at most; put several into a tuple, \
                       `(a, b): (A, B)`, and the inputs too, `inputs = [(1, 2), (3, 4)]`";
        errors.push(Error::new(third[0].span(), message));
    }
    let inputs =
        parameters.into_iter().filter_map(|parameter| errors.keep(read_parameter(parameter, lifetimes))).collect();
    errors.or((has_bencher, inputs))
}

/// Whether the type of a parameter goes by the name of the bencher. Another type of that name could not be an input under this
/// attribute.
fn is_bencher(parameter: &[TokenTree]) -> bool {
    let Some(colon) = colon(parameter) else { return false };
    let path = parameter[colon + 1..].iter().take_while(|token| !is_punct(Some(token), '<'));
    matches!(path.last(), Some(TokenTree::Ident(last)) if last == "Bencher")
}

/// Whether an attribute is `#[ignore]`, with or without a reason.
pub(crate) fn is_ignore(attribute: &Group) -> bool {
    matches!(flattened(attribute.stream()).first(), Some(TokenTree::Ident(word)) if word == "ignore")
}

fn check_receiver(parameter: &[TokenTree]) -> Result<()> {
    let pattern = &parameter[..colon(parameter).unwrap_or(parameter.len())];
    let receiver = pattern.iter().find(|token| matches!(token, TokenTree::Ident(word) if word == "self"));
    match receiver {
        Some(receiver) => {
            let message =
                "a method cannot be measured; call it from a function outside of the `impl`, and measure that";
            Err(Error::new(receiver.span(), message))
        }
        None => Ok(()),
    }
}

fn read_parameter(parameter: &[TokenTree], lifetimes: &[String]) -> Result<Input> {
    let Some(colon) = colon(parameter).filter(|colon| !is_punct(parameter.get(colon + 1), '.')) else {
        let message = "a variadic function cannot be measured; call it from a function with a fixed signature";
        return Err(Error::new(parameter[0].span(), message));
    };
    let ty = &parameter[colon + 1..];
    let span = ty.first().unwrap_or(&parameter[0]).span();
    if let Some(impl_span) = find_word(ty, "impl") {
        let message = "`impl Trait` is generic and nothing gives it a value; write the concrete type of the inputs";
        return Err(Error::new(impl_span, message));
    }
    let (referent, passing) = match ty {
        [and, quote, TokenTree::Ident(lifetime), referent @ ..]
            if is_punct(Some(and), '&') && is_punct(Some(quote), '\'') =>
        {
            // What is borrowed for good is a value in itself: the inputs hold the reference.
            if lifetime == "static" { (ty, Passing::Value) } else { (referent, passing(referent)) }
        }
        [and, referent @ ..] if is_punct(Some(and), '&') => (referent, passing(referent)),
        _ => (ty, Passing::Value),
    };
    let referent_span = referent.first().map_or(span, TokenTree::span);
    if passing != Passing::Value && matches!(referent, [TokenTree::Ident(word), ..] if word == "mut") {
        let message = "an input that calls could change is not the same input in each of them; take the value, which is a \
                       fresh clone in each call";
        return Err(Error::new(span, message));
    }
    if is_trait_object(referent) {
        let message = "a trait object cannot be cloned, compared and printed as inputs are; take a concrete type, and make \
                       the trait object in the body";
        return Err(Error::new(referent_span, message));
    }
    let ty = with_static_lifetimes(referent.iter().cloned().collect(), lifetimes);
    Ok(Input { ty, span: referent_span, passing })
}

fn passing(referent: &[TokenTree]) -> Passing {
    if is_unsized(referent) { Passing::UnsizedReference } else { Passing::Reference }
}

/// Whether a type is a slice or goes by the name of one of the standard library's types without a size. Another type of
/// that name does no harm: only less is then known about the inputs before they are looked at.
fn is_unsized(ty: &[TokenTree]) -> bool {
    match ty {
        [TokenTree::Group(group)] if group.delimiter() == Delimiter::Bracket => {
            !group.stream().into_iter().any(|token| is_punct(Some(&token), ';'))
        }
        [path @ .., TokenTree::Ident(last)] => {
            ["str", "Path", "OsStr", "CStr"].iter().any(|name| last == name)
                && path.iter().all(|token| matches!(token, TokenTree::Ident(_)) || is_punct(Some(token), ':'))
        }
        _ => false,
    }
}

fn is_trait_object(ty: &[TokenTree]) -> bool {
    match ty {
        [TokenTree::Ident(word), ..] => word == "dyn",
        [TokenTree::Group(group)] if group.delimiter() == Delimiter::Parenthesis => {
            matches!(group.stream().into_iter().next(), Some(TokenTree::Ident(word)) if word == "dyn")
        }
        _ => false,
    }
}

/// The place of a word among the tokens, however deep it is nested.
fn find_word(tokens: &[TokenTree], word: &str) -> Option<Span> {
    tokens.iter().find_map(|token| match token {
        TokenTree::Ident(ident) if ident == word => Some(ident.span()),
        TokenTree::Group(group) => find_word(&flattened(group.stream()), word),
        _ => None,
    })
}

/// The lifetimes of a function have no meaning outside of it.
fn with_static_lifetimes(tokens: TokenStream, lifetimes: &[String]) -> TokenStream {
    if lifetimes.is_empty() {
        return tokens;
    }
    let mut after_quote = false;
    tokens
        .into_iter()
        .map(|token| {
            let named = std::mem::replace(&mut after_quote, is_punct(Some(&token), '\''));
            match token {
                TokenTree::Ident(ident) if named && lifetimes.contains(&ident.to_string()) => {
                    TokenTree::Ident(Ident::new("static", ident.span()))
                }
                TokenTree::Group(group) => {
                    let mut replaced = Group::new(group.delimiter(), with_static_lifetimes(group.stream(), lifetimes));
                    replaced.set_span(group.span());
                    TokenTree::Group(replaced)
                }
                token => token,
            }
        })
        .collect()
}

/// The parts of a list of parameters, without their attributes.
fn split_at_commas(tokens: &[TokenTree]) -> Vec<&[TokenTree]> {
    let mut parts = Vec::new();
    let (mut start, mut position) = (0, 0);
    while position < tokens.len() {
        if is_punct(tokens.get(position), '<') {
            position += angle_length(&tokens[position..]);
            continue;
        }
        if is_punct(tokens.get(position), ',') {
            parts.push(&tokens[start..position]);
            start = position + 1;
        }
        position += 1;
    }
    parts.push(&tokens[start..]);
    parts.into_iter().map(without_attributes).filter(|part| !part.is_empty()).collect()
}

fn without_attributes(mut tokens: &[TokenTree]) -> &[TokenTree] {
    while let [hash, TokenTree::Group(_), after @ ..] = tokens {
        if !is_punct(Some(hash), '#') {
            break;
        }
        tokens = after;
    }
    tokens
}

/// The position of the colon between pattern and type, which is not one of the two in a path.
fn colon(parameter: &[TokenTree]) -> Option<usize> {
    let mut in_path = false;
    parameter.iter().position(|token| match token {
        TokenTree::Punct(punct) if punct.as_char() == ':' => {
            let second = std::mem::replace(&mut in_path, punct.spacing() == Spacing::Joint);
            !second && !in_path
        }
        _ => {
            in_path = false;
            false
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: &str) -> Result<Function> {
        Function::read(source.parse().unwrap())
    }

    fn input(source: &str) -> (String, Passing) {
        let input = read(source).unwrap().inputs.remove(0);
        (input.ty.to_string().replace(' ', ""), input.passing)
    }

    fn error(source: &str) -> String {
        read(source).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn the_type_and_the_passing_of_a_parameter_are_read() {
        for (parameter, ty, passing) in [
            ("x: u64", "u64", Passing::Value),
            ("mut x: Vec<u8>", "Vec<u8>", Passing::Value),
            ("(a, b): (u8, u8)", "(u8,u8)", Passing::Value),
            ("m::S { a, .. }: m::S", "m::S", Passing::Value),
            ("x: HashMap<K, V>,", "HashMap<K,V>", Passing::Value),
            ("x: fn(A, B) -> C", "fn(A,B)->C", Passing::Value),
            ("x: &'static str", "&'staticstr", Passing::Value),
            ("#[a(b)] x: &u64", "u64", Passing::Reference),
            ("x: &[u8; 4]", "[u8;4]", Passing::Reference),
            ("x: &Vec<str>", "Vec<str>", Passing::Reference),
            ("x: &&str", "&str", Passing::Reference),
            ("x: &str", "str", Passing::UnsizedReference),
            ("x: &[u8]", "[u8]", Passing::UnsizedReference),
            ("x: &std::path::Path", "std::path::Path", Passing::UnsizedReference),
        ] {
            assert_eq!(input(&format!("fn f({parameter}) {{}}")), (ty.to_owned(), passing), "{parameter}");
        }
    }

    #[test]
    fn the_type_of_the_result_is_read() {
        for (source, ty) in [
            ("fn f() {}", None),
            ("fn f() where u8: Copy {}", None),
            ("fn f() -> u64 {}", Some("u64")),
            ("fn f(x: u8) -> a::B<{ 1 + 2 }, C> where u8: Copy {}", Some("a::B<{1+2},C>")),
            ("fn f<'a>(x: &'a str) -> &'a str {}", Some("&'staticstr")),
            ("fn f() -> fn(u8) -> u8 {}", Some("fn(u8)->u8")),
        ] {
            let read = read(source).unwrap().result.map(|ty| ty.to_string().replace(' ', ""));
            assert_eq!(read.as_deref(), ty, "{source}");
        }
    }

    #[test]
    fn lifetimes_of_the_function_become_static() {
        assert_eq!(input("fn f<'a>(x: &'a str) -> &'a str {}"), ("str".into(), Passing::UnsizedReference));
        assert_eq!(input("fn f<'a, 'b: 'a>(x: S<'a, (&'b u8,)>) {}").0, "S<'static,(&'staticu8,)>");
        assert_eq!(input("fn f<'a>(x: &S<'a, 'c>) {}").0, "S<'static,'c>");
    }

    #[test]
    fn whatever_comes_before_fn_is_skipped() {
        for before in ["", "pub", "pub(crate)", "#[doc = \"x\"] #[inline] pub(in a::b)", "const", "pub const"] {
            assert_eq!(read(&format!("{before} fn r#loop() {{}}")).unwrap().name, "r#loop", "{before}");
        }
    }

    #[test]
    fn what_cannot_be_measured_is_refused() {
        for (source, expected) in [
            ("struct S;", "measures functions"),
            ("const X: u8 = 1;", "measures functions"),
            ("unsafe impl T for S {}", "measures functions"),
            ("extern \"C\" {}", "measures functions"),
            ("", "measures functions"),
            ("unsafe fn f() {}", "without a promise"),
            ("fn f(self) {}", "a method"),
            ("fn f(&'a mut self) {}", "a method"),
            ("fn f(self: Box<Self>) {}", "a method"),
            ("fn f();", "no body"),
            ("fn f(x: &impl Debug) {}", "`impl Trait`"),
            ("fn f(x: Vec<impl Debug>) {}", "`impl Trait`"),
            ("fn f(x: &mut u8) {}", "take the value"),
            ("fn f(x: &'a mut u8) {}", "take the value"),
            ("fn f(x: &dyn Debug) {}", "trait object"),
            ("fn f(x: &(dyn Debug + Send)) {}", "trait object"),
            ("fn f(x: u8, y: u8, z: u8) {}", "tuple"),
            ("fn f(b: Bencher, x: u8, y: u8) {}", "tuple"),
            ("extern \"C\" fn f() {}", "in another way"),
            ("fn f(args: ...) {}", "variadic"),
            ("fn f(...) {}", "variadic"),
            ("#[nanobench] fn f() {}", "twice"),
            ("#[a::nanobench(x = 1)] fn f() {}", "twice"),
            ("#[target_feature(enable = \"avx2\")] fn f() {}", "check"),
        ] {
            assert!(error(source).contains(expected), "{source}: {}", error(source));
        }
        assert!(read("#[doc = \"nanobench\"] #[cfg(nanobench)] fn f() {}").is_ok());
    }

    #[test]
    fn whatever_stands_there_is_no_reason_to_panic() {
        let pieces = [
            "fn", "f", "<", ">", "(x: &)", "()", "{}", "'a", ",", "#", "[]", "pub", "extern", "\"C\"", "(: ...)", "(:)",
        ];
        for a in pieces {
            for b in pieces {
                for c in pieces {
                    for source in
                        [format!("{a} {b} {c}"), format!("fn f {a} {b} {c} {{}}"), format!("fn f({a} {b} {c}) {{}}")]
                    {
                        if let Ok(tokens) = source.parse() {
                            let _ = Function::read(tokens);
                        }
                    }
                }
            }
        }
    }
}
