//! Text on its way to a terminal.

use std::io::{self, Write};

/// Says something on standard error. If nobody can hear it, nothing can be done about it.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "nanobench: {text}");
}

/// Text from user code, such as a name or a panic message, as it may be sent to a terminal: control characters are spelt
/// out, so that no escape sequence in it takes effect.
pub(crate) fn printable(text: &str) -> String {
    let mut printable = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || is_direction_change(c) {
            printable.extend(c.escape_unicode());
        } else {
            printable.push(c);
        }
    }
    printable
}

/// Whether `c` makes text around it appear in another order.
fn is_direction_change(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_spelt_out() {
        assert_eq!(printable("plain ünïcode 🦀"), "plain ünïcode 🦀");
        assert_eq!(printable("\u{1b}[31mred\n\u{9b}2J\u{202e}"), "\\u{1b}[31mred\\u{a}\\u{9b}2J\\u{202e}");
    }
}
