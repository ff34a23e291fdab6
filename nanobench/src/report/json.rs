//! The strings of JSON.

use std::fmt::Write;

/// Appends a string in its quotes. Beside what JSON asks for, also what would end a script, or a line of one, that the string is put
/// into is written as an escape.
pub(crate) fn push_string(json: &mut String, text: &str) {
    json.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            c if c.is_control() || matches!(c, '<' | '\u{2028}' | '\u{2029}') => {
                // Writing to a string cannot fail.
                let _ = write!(json, "\\u{:04x}", u32::from(c));
            }
            c => json.push(c),
        }
    }
    json.push('"');
}
