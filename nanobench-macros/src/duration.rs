//! Durations as people write them, `"5ms"` or `"1.5 s"`, read while the program is compiled.

/// The units and their nanoseconds. The micro sign and the Greek letter look the same and are both typed.
const UNITS: [(&str, u64); 7] = [
    ("ns", 1),
    ("us", 1_000),
    ("\u{b5}s", 1_000),
    ("\u{3bc}s", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
];

const UNIT_NAMES: &str = "ns, us, \u{b5}s, ms, s and min";

/// The most decimal places with which a minute, the longest unit, can still be a whole number of nanoseconds.
const MOST_PLACES: u32 = 11;

/// Nanoseconds of a number and a unit, with or without a space between them.
///
/// The arithmetic is on integers, so the result is exactly what was written.
///
/// # Errors
///
/// A clause that says what is wrong, to follow "`text`".
pub(crate) fn nanoseconds(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let number_length = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(number_length);
    let unit = unit.trim_start();
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || fraction.contains('.') || (fraction.is_empty() && number.contains('.')) {
        return Err("does not begin with a number such as 5 or 1.5".to_owned());
    }
    if unit.is_empty() {
        return Err(format!("has no unit; there are {UNIT_NAMES}"));
    }
    let Some(&(_, scale)) = UNITS.iter().find(|&&(name, _)| name == unit) else {
        return Err(format!("has the unknown unit `{unit}`; there are {UNIT_NAMES}"));
    };

    // Multiplied out before it is divided, so that only what is truly finer than a nanosecond has a remainder.
    let digits = fraction.trim_end_matches('0');
    let too_fine = || "is finer than a nanosecond".to_owned();
    let places = u32::try_from(digits.len()).ok().filter(|&places| places <= MOST_PLACES).ok_or_else(too_fine)?;
    let divisor = 10_u128.pow(places);
    let part = digits.parse::<u128>().unwrap_or(0) * u128::from(scale);
    if part % divisor != 0 {
        return Err(too_fine());
    }

    let whole = whole.parse::<u128>().ok().and_then(|whole| whole.checked_mul(u128::from(scale)));
    let sum = whole.and_then(|whole| whole.checked_add(part / divisor));
    match sum.and_then(|sum| u64::try_from(sum).ok()) {
        Some(0) => Err("is no time at all".to_owned()),
        Some(nanoseconds) => Ok(nanoseconds),
        None => Err("is longer than 584 years".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::nanoseconds;

    #[test]
    fn every_unit_has_its_length() {
        let lengths = ["1ns", "1us", "1\u{b5}s", "1\u{3bc}s", "1ms", "1s", "1min"].map(nanoseconds);
        let expected = [1, 1_000, 1_000, 1_000, 1_000_000, 1_000_000_000, 60_000_000_000];
        assert_eq!(lengths, expected.map(Ok));
    }

    #[test]
    fn spaces_and_fractions_are_read() {
        assert_eq!(nanoseconds("1.5 s"), Ok(1_500_000_000));
        assert_eq!(nanoseconds(" 250  us "), Ok(250_000));
        assert_eq!(nanoseconds("0.000000001s"), Ok(1));
        assert_eq!(nanoseconds("0.5000000000000000000000 ms"), Ok(500_000));
        assert_eq!(nanoseconds("0.00000000005min"), Ok(3));
    }

    #[test]
    fn a_fraction_is_exact_even_where_a_float_would_round() {
        assert_eq!(nanoseconds("9007199254.740993 s"), Ok(9_007_199_254_740_993_000));
    }

    #[test]
    fn what_is_finer_than_a_nanosecond_is_refused() {
        for text in ["1.5ns", "0.0001us", "0.00000000000000000000000000000000000000000000000001 min"] {
            assert_eq!(nanoseconds(text), Err("is finer than a nanosecond".to_owned()), "{text}");
        }
    }

    #[test]
    fn no_time_at_all_is_refused() {
        for text in ["0ns", "0.0 s", "00min"] {
            assert_eq!(nanoseconds(text), Err("is no time at all".to_owned()), "{text}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert_eq!(nanoseconds("18446744073709551615ns"), Ok(u64::MAX));
        for text in ["18446744073709551616ns", "400000000min", "99999999999999999999999999999999999999999999 s"] {
            assert_eq!(nanoseconds(text), Err("is longer than 584 years".to_owned()), "{text}");
        }
    }

    #[test]
    fn a_missing_number_is_named() {
        for text in ["", "ms", ".5s", "5.s", "1.2.3s", "-1s", "\u{663}s"] {
            assert!(nanoseconds(text).unwrap_err().starts_with("does not begin with a number"), "{text}");
        }
    }

    #[test]
    fn a_missing_or_unknown_unit_is_named() {
        assert_eq!(nanoseconds("5"), Err("has no unit; there are ns, us, \u{b5}s, ms, s and min".to_owned()));
        for text in ["5 sec", "5 mss", "1e3s", "5 MS", "1s 5ms", "1h"] {
            assert!(nanoseconds(text).unwrap_err().starts_with("has the unknown unit"), "{text}");
        }
    }
}
