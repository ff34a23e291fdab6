//! What tables of Markdown are made of: text that cannot leave its cell, code, and numbers that can be read.

use crate::printable::printable;

/// Text as it may stand in a cell.
pub(crate) fn cell(text: &str) -> String {
    printable(text).replace('|', "\\|")
}

/// `text` as Markdown code in a table: between more backticks than there are in a row within it.
pub(crate) fn code(text: &str) -> String {
    let text = cell(text);
    let longest_run = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest_run + 1);
    // Markdown takes one space off each end, so that the fence and a backtick of the text can stand apart.
    let space = if longest_run > 0 { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// A number with so many decimal places and a comma before every third digit.
pub(crate) fn grouped(number: f64, decimals: usize) -> String {
    let plain = format!("{number:.decimals$}");
    let digits_begin = usize::from(plain.starts_with('-'));
    let digits_end = plain.find('.').unwrap_or(plain.len());
    if !number.is_finite() {
        return plain;
    }
    let mut grouped = plain[..digits_begin].to_owned();
    for (index, digit) in plain[digits_begin..digits_end].chars().enumerate() {
        if index > 0 && (digits_end - digits_begin - index) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + &plain[digits_end..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_by_three() {
        for (number, decimals, expected) in [
            (0.0, 2, "0.00"),
            (999.994, 2, "999.99"),
            (1_000.0, 2, "1,000.00"),
            (-1_234_567.0, 1, "-1,234,567.0"),
            (-123.0, 0, "-123"),
            (f64::INFINITY, 2, "inf"),
        ] {
            assert_eq!(grouped(number, decimals), expected);
        }
    }

    #[test]
    fn text_can_neither_end_its_cell_nor_its_code() {
        assert_eq!(cell("a|b\u{1b}[2J"), "a\\|b\\u{1b}[2J");
        assert_eq!(code("a|b"), "`a\\|b`");
        assert_eq!(code("a`b"), "`` a`b ``");
        assert_eq!(code("a``b`"), "``` a``b` ```");
    }
}
