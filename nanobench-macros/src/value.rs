//! Where the expression of an option ends, and what can be told of it without understanding it.
//!
//! Expressions are not parsed but passed on to the compiler, whose errors about them are the ones people know.

use proc_macro2::{Delimiter, Group, Spacing, Span, TokenStream, TokenTree};
use syn::Lit;

/// The parts of a list in brackets, none if it is something else. In a list of types every `<` opens a bracket.
pub(crate) fn list(value: &TokenStream, is_of_types: bool) -> Option<Vec<TokenStream>> {
    let mut tokens = value.clone().into_iter();
    let (Some(TokenTree::Group(group)), None) = (tokens.next(), tokens.next()) else { return None };
    if group.delimiter() != Delimiter::Bracket {
        return None;
    }
    let tokens = flattened(group.stream());
    let (mut parts, mut rest) = (Vec::new(), tokens.as_slice());
    while !rest.is_empty() {
        let length = if is_of_types { type_length(rest) } else { expression_length(rest) };
        parts.push(rest[..length].iter().cloned().collect());
        rest = rest.get(length + 1..).unwrap_or_default();
    }
    Some(parts)
}

/// How many of `tokens` belong to the type that they begin with.
fn type_length(tokens: &[TokenTree]) -> usize {
    let mut position = 0;
    while position < tokens.len() && !is_punct(tokens.get(position), ',') {
        position += if is_punct(tokens.get(position), '<') { angle_length(&tokens[position..]) } else { 1 };
    }
    position
}

/// Whether an expression is a closure that is written out.
pub(crate) fn is_closure(value: &TokenStream) -> bool {
    match value.clone().into_iter().next() {
        Some(TokenTree::Punct(punct)) => punct.as_char() == '|',
        Some(TokenTree::Ident(word)) => word == "move",
        _ => false,
    }
}

/// How many of `tokens` belong to the expression that they begin with.
///
/// It ends at the first comma that is neither within angle brackets nor between the bars of a closure. Brackets of the
/// other kinds are single tokens. Whether `<` opens a bracket or compares follows from what comes before it, as it does
/// for the compiler: it opens one after `::` and where an operand has to begin.
pub(crate) fn expression_length(tokens: &[TokenTree]) -> usize {
    let mut operand_expected = true;
    let mut position = 0;
    while let Some(token) = tokens.get(position) {
        match token {
            TokenTree::Punct(punct) => {
                let doubled = punct.spacing() == Spacing::Joint && is_punct(tokens.get(position + 1), punct.as_char());
                match punct.as_char() {
                    ',' => return position,
                    '<' if operand_expected => {
                        position += angle_length(&tokens[position..]);
                        operand_expected = false;
                        continue;
                    }
                    '|' if operand_expected => {
                        position += closure_head_length(&tokens[position..]);
                        continue;
                    }
                    '<' | '|' if doubled => position += 1,
                    _ => {}
                }
                operand_expected = punct.as_char() != '?';
            }
            TokenTree::Ident(ident) => operand_expected = begins_operand(&ident.to_string()),
            TokenTree::Group(_) | TokenTree::Literal(_) => operand_expected = false,
        }
        position += 1;
    }
    position
}

/// Whether an operand comes after this word.
fn begins_operand(word: &str) -> bool {
    matches!(word, "async" | "break" | "else" | "if" | "in" | "match" | "move" | "return" | "static" | "while")
}

/// How many tokens there are from `<` to the `>` that closes it.
pub(crate) fn angle_length(tokens: &[TokenTree]) -> usize {
    let mut depth = 0_usize;
    for (position, token) in tokens.iter().enumerate() {
        let TokenTree::Punct(punct) = token else { continue };
        match punct.as_char() {
            '<' => depth += 1,
            '>' if !ends_arrow(tokens, position) => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return position + 1;
                }
            }
            _ => {}
        }
    }
    tokens.len()
}

/// How many tokens there are in the parameters of a closure and, if it has one, its return type. A return type is always
/// followed by a block.
fn closure_head_length(tokens: &[TokenTree]) -> usize {
    let Some(closing) = tokens.iter().skip(1).position(|token| is_punct(Some(token), '|')) else {
        return tokens.len();
    };
    let parameters = closing + 2;
    if !(is_punct(tokens.get(parameters), '-') && is_punct(tokens.get(parameters + 1), '>')) {
        return parameters;
    }
    let result = tokens[parameters..].iter().position(is_block).unwrap_or(tokens.len() - parameters);
    parameters + result
}

fn is_block(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

/// Whether the token at `position` is the `>` of `->`.
fn ends_arrow(tokens: &[TokenTree], position: usize) -> bool {
    position > 0
        && matches!(&tokens[position - 1], TokenTree::Punct(before)
            if before.as_char() == '-' && before.spacing() == Spacing::Joint)
}

pub(crate) fn is_punct(token: Option<&TokenTree>, char: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == char)
}

/// The literal, with its sign, that a value consists of, even if it comes out of a `macro_rules!` fragment.
pub(crate) fn literal(value: &TokenStream) -> Option<Lit> {
    syn::parse2(bare(value)).ok()
}

/// Whether a value is `[]` or `vec![]`.
pub(crate) fn is_empty_list(value: &TokenStream) -> bool {
    let tokens: Vec<TokenTree> = bare(value).into_iter().collect();
    let list = match tokens.as_slice() {
        [list] => list,
        [TokenTree::Ident(vec), bang, list] if vec == "vec" && is_punct(Some(bang), '!') => list,
        _ => return false,
    };
    matches!(list, TokenTree::Group(list) if list.delimiter() == Delimiter::Bracket && list.stream().is_empty())
}

/// The span of a value's first token, or of what stands before it when there is none.
pub(crate) fn span(value: &TokenStream, before: Span) -> Span {
    bare(value).into_iter().next().map_or(before, |token| token.span())
}

/// A span that shows a mistake at `place`, while names still mean what they mean in this macro and lints see that the
/// person has not written this.
pub(crate) fn at(place: Span) -> Span {
    Span::mixed_site().located_at(place)
}

/// A value without the invisible brackets in which `macro_rules!` hands over its fragments.
fn bare(value: &TokenStream) -> TokenStream {
    let mut tokens = value.clone().into_iter();
    match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Group(group)), None) if group.delimiter() == Delimiter::None => bare(&group.stream()),
        _ => value.clone(),
    }
}

/// A value in which a `macro_rules!` fragment such as `1 + 2` stays one operand.
///
/// The compiler loses the invisible brackets around it on the way through an attribute and would read `$n * 3` as
/// `1 + 2 * 3`. Types and paths are left alone: they need no brackets, and some places allow none.
pub(crate) fn with_whole_fragments(value: TokenStream) -> TokenStream {
    if !has_fragments(&value) {
        return value;
    }
    let alone = value.clone().into_iter().nth(1).is_none();
    let whole = |token| match token {
        TokenTree::Group(group) => {
            let is_operand = group.delimiter() == Delimiter::None && !alone && has_operator(&group.stream());
            let delimiter = if is_operand { Delimiter::Parenthesis } else { group.delimiter() };
            let mut whole = Group::new(delimiter, with_whole_fragments(group.stream()));
            whole.set_span(group.span());
            TokenTree::Group(whole)
        }
        token => token,
    };
    value.into_iter().map(whole).collect()
}

fn has_fragments(value: &TokenStream) -> bool {
    value.clone().into_iter().any(|token| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::None || has_fragments(&group.stream()),
        _ => false,
    })
}

/// Whether something in the tokens binds less tightly than what may stand around them.
fn has_operator(tokens: &TokenStream) -> bool {
    tokens.clone().into_iter().enumerate().any(|(position, token)| match token {
        TokenTree::Punct(punct) => "+-*/%^=|".contains(punct.as_char()) || (position == 0 && punct.as_char() == '!'),
        TokenTree::Ident(word) => word == "as",
        _ => false,
    })
}

/// The tokens with the contents of invisible brackets in the place of the brackets. Good for signatures, where nothing
/// but the brackets' visible kin has a precedence.
pub(crate) fn flattened(tokens: TokenStream) -> Vec<TokenTree> {
    let mut flat = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::None => flat.extend(flattened(group.stream())),
            token => flat.push(token),
        }
    }
    flat
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_expression(source: &str) -> String {
        let tokens: Vec<TokenTree> = source.parse::<TokenStream>().unwrap().into_iter().collect();
        let length = expression_length(&tokens);
        tokens[..length].iter().cloned().collect::<TokenStream>().to_string()
    }

    #[test]
    fn an_expression_ends_at_the_comma_that_separates_options() {
        for expression in [
            "1",
            "[1, 2]",
            "a < b",
            "a < b && c > d",
            "a << 3",
            "1 << N < 4",
            "a || b",
            "a | b",
            "f::<A, B>()",
            "f::<A, Vec<B>>(x, y)",
            "f::<fn(A) -> B, C>()",
            "<A as B<C, D>>::f()",
            "-<A as B<C, D>>::X",
            "|x| x",
            "|x| x < y",
            "|x: &HashMap<K, V>| x.len()",
            "|x, y| x",
            "move |x: &HashMap<K, V>| x.len()",
            "|x| -> HashMap<K, V> { x }",
            "|| 3",
            "if a < b { c } else { d }",
            "match x { A => B, C => D }",
            "0..10",
            "(0..10).map(|x| (x, x))",
            "vec![1; 5]",
            "S { a, b }",
            "x?",
            "'a: loop { break 'a 3 }",
            "a as u64 + 5",
        ] {
            let expected = expression.parse::<TokenStream>().unwrap().to_string();
            assert_eq!(first_expression(&format!("{expression}, epochs = 5 > 3")), expected);
            assert_eq!(first_expression(expression), expected);
        }
    }

    #[test]
    fn an_unfinished_expression_has_an_end() {
        for source in ["", "f::<A", "|x", "|x| -> Y", "<", "a <", "|", "->"] {
            let tokens: Vec<TokenTree> = source.parse::<TokenStream>().unwrap().into_iter().collect();
            assert_eq!(expression_length(&tokens), tokens.len(), "{source}");
        }
    }

    #[test]
    fn a_fragment_with_operators_stays_one_operand() {
        let fragment = |source: &str| TokenTree::Group(Group::new(Delimiter::None, source.parse().unwrap()));
        let times_two = |source| {
            let mut tokens = TokenStream::from(fragment(source));
            tokens.extend("* 2".parse::<TokenStream>().unwrap());
            with_whole_fragments(tokens).to_string().split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(times_two("1 + 2"), "(1 + 2) * 2");
        assert_eq!(times_two("A::N"), "A :: N * 2");
        assert_eq!(with_whole_fragments(fragment("1 + 2").into()).to_string().trim(), "1 + 2");
    }

    #[test]
    fn an_empty_list_is_recognised() {
        for (source, empty) in [("[]", true), ("vec![]", true), ("[1]", false), ("()", false), ("set![]", false)] {
            assert_eq!(is_empty_list(&source.parse().unwrap()), empty, "{source}");
        }
    }
}
