//! The table of a comparison, and the sentences that say what it means.

use std::io;

use termcolor::{Color, ColorSpec, WriteColor};

use crate::comparison::{Comparison, ComparisonEntry, Lead};
use crate::report::markdown::{cell, code, grouped};

/// The least widths of the columns, without the bars and the spaces beside them.
const WIDTHS: [usize; 6] = [8, 19, 19, 19, 7, 9];

/// The confidence that a difference needs to be called one, as a percentage.
const VERDICT_PERCENT: &str = "99.5%";

/// Writes the table and the summary of a comparison.
pub(crate) fn write(out: &mut dyn WriteColor, comparison: &Comparison) -> io::Result<()> {
    let unit = cell(&comparison.unit);
    let titles =
        ["relative", "95% CI", &format!("ns/{unit}"), &format!("{unit}/s"), "err%", "total"].map(str::to_owned);
    let lines: Vec<[String; 6]> = std::iter::once(titles).chain(comparison.entries.iter().map(cells)).collect();
    let widths: Vec<usize> = WIDTHS
        .iter()
        .enumerate()
        .map(|(column, &least)| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0).max(least))
        .collect();
    writeln!(out)?;
    for (index, line) in lines.iter().enumerate() {
        for (cell, width) in line.iter().zip(&widths) {
            write!(out, "| {cell:>width$} ")?;
        }
        write!(out, "| ")?;
        if let Some(entry) = index.checked_sub(1) {
            colored(out, Color::Green, &code(&comparison.entries[entry].name))?;
            writeln!(out)?;
            continue;
        }
        writeln!(out, "benchmark")?;
        for width in &widths {
            write!(out, "|{}:", "-".repeat(width + 1))?;
        }
        writeln!(out, "|:----------")?;
    }
    writeln!(out, "\n  Summary")?;
    let color = if comparison.fastest().is_some() { Color::Green } else { Color::Yellow };
    for line in comparison.verdict().lines() {
        colored(out, color, &format!("    {line}\n"))?;
    }
    out.flush()
}

fn colored(out: &mut dyn WriteColor, color: Color, text: &str) -> io::Result<()> {
    out.set_color(ColorSpec::new().set_fg(Some(color)))?;
    write!(out, "{text}")?;
    out.reset()
}

/// The cells of a row, in the order of [`WIDTHS`].
fn cells(entry: &ComparisonEntry) -> [String; 6] {
    let decimals = decimals(entry.relative_low, entry.relative_high).saturating_sub(2).max(1);
    let percent = |ratio: f64| format!("{}%", grouped(ratio * 100.0, decimals));
    let interval = if entry.relative_low == entry.relative_high || entry.relative_high.is_infinite() {
        "-".to_owned()
    } else {
        format!("{} .. {}", percent(entry.relative_low), percent(entry.relative_high))
    };
    let per_second = if entry.nanoseconds > 0.0 { grouped(1e9 / entry.nanoseconds, 2) } else { "-".to_owned() };
    [
        percent(entry.relative),
        interval,
        grouped(entry.nanoseconds, 2),
        per_second,
        format!("{:.1}%", entry.mdape * 100.0),
        format!("{:.2}", entry.total_seconds),
    ]
}

/// How many decimal places tell the ends of an interval of a ratio apart.
fn decimals(low: f64, high: f64) -> usize {
    match high - low {
        width if width >= 0.01 => 2,
        width if width >= 0.001 => 3,
        width if width > 0.0 => 4,
        _ => 2,
    }
}

impl Comparison {
    /// What came out, in two or more lines, with the names as Markdown code: which entry is the fastest, by how much,
    /// how sure that is, and from how many rounds.
    ///
    /// ```text
    /// `cheap` ran 2.41x faster than `murmurhash3`
    /// 95% CI [2.39 .. 2.41], 52 paired rounds, interleaved
    /// ```
    #[must_use]
    pub fn verdict(&self) -> String {
        let Lead { winner, runner_up, ratio, low, high, is_significant } = self.lead;
        let name = |index: usize| code(&self.entries[index].name);
        let (winner, runner_up, count) = (name(winner), name(runner_up), self.entries.len());
        let places = decimals(low, high);
        let evidence = evidence(low, high, self.rounds);
        let mut lines = match (count, is_significant) {
            (2, true) => vec![format!("{winner} ran {ratio:.places$}x faster than {runner_up}"), evidence],
            (2, false) => {
                let ComparisonEntry { relative, relative_low, relative_high, .. } = self.entries[1];
                let evidence = self::evidence(relative_low, relative_high, self.rounds);
                let places = decimals(relative_low, relative_high);
                vec![
                    format!("no difference resolved between {} and {}", name(0), name(1)),
                    format!("ratio {relative:.places$}x, {evidence}"),
                ]
            }
            (_, true) => {
                vec![format!("{winner} is fastest of {count}, {ratio:.places$}x ahead of {runner_up}"), evidence]
            }
            (_, false) => vec![
                format!("{winner} and {runner_up} are the two fastest of {count}, and were not separated"),
                format!("ratio {ratio:.places$}x, {evidence}"),
            ],
        };
        if !is_significant && (low > 1.0 || high < 1.0) {
            lines.push(format!("that is less than the {VERDICT_PERCENT} confidence that a difference needs"));
        }
        let ties = self.entries.iter().map(|entry| entry.tied_rounds).max().unwrap_or(0);
        if ties > 0 {
            lines.push(format!("up to {ties} of {} rounds tied at the clock's resolution", self.rounds));
        }
        lines.join("\n")
    }
}

/// How sure a ratio is.
fn evidence(low: f64, high: f64, rounds: u64) -> String {
    if high.is_infinite() {
        let plural = if rounds == 1 { "" } else { "s" };
        return format!("{rounds} paired round{plural}, too few for an interval: raise `max_time`");
    }
    let places = decimals(low, high);
    format!("95% CI [{low:.places$} .. {high:.places$}], {rounds} paired rounds, interleaved")
}

#[cfg(test)]
mod tests {
    use super::*;
    use termcolor::NoColor;

    fn entry(name: &str, nanoseconds: f64, relative: [f64; 3], is_significant: bool) -> ComparisonEntry {
        let [relative_low, relative, relative_high] = relative;
        ComparisonEntry {
            name: name.into(),
            nanoseconds,
            mdape: 0.0123,
            relative,
            relative_low,
            relative_high,
            tied_rounds: 0,
            total_seconds: 0.0519,
            is_significant,
        }
    }

    /// The first entry against one that is faster by so much.
    fn pair(names: [&str; 2], relative: [f64; 3], is_significant: bool) -> Comparison {
        let [low, ratio, high] = relative;
        Comparison {
            entries: vec![
                entry(names[0], 2.456, [1.0; 3], false),
                entry(names[1], 2.456 / ratio, relative, is_significant),
            ],
            rounds: 52,
            lead: Lead { winner: 1, runner_up: 0, ratio, low, high, is_significant },
            unit: "op".into(),
        }
    }

    fn many(is_significant: bool) -> Comparison {
        let names = ["a", "x", "b", "y", "c"];
        let entries = names.map(|name| entry(name, 1.0, [0.99, 1.0, 1.01], false)).to_vec();
        let lead = Lead { winner: 1, runner_up: 3, ratio: 3.48, low: 3.40, high: 3.52, is_significant };
        Comparison { entries, rounds: 60, lead, unit: "op".into() }
    }

    fn written(comparison: &Comparison) -> String {
        let mut out = NoColor::new(Vec::new());
        write(&mut out, comparison).unwrap();
        String::from_utf8(out.into_inner()).unwrap()
    }

    #[test]
    fn a_comparison_is_a_markdown_table_and_a_summary() {
        let expected = "
| relative |              95% CI |               ns/op |                op/s |    err% |     total | benchmark
|---------:|--------------------:|--------------------:|--------------------:|--------:|----------:|:----------
|   100.0% |                   - |                2.46 |      407,166,123.78 |    1.2% |      0.05 | `murmurhash3`
|   240.8% |    239.1% .. 241.0% |                1.02 |      980,456,026.06 |    1.2% |      0.05 | `cheap`

  Summary
    `cheap` ran 2.41x faster than `murmurhash3`
    95% CI [2.39 .. 2.41], 52 paired rounds, interleaved
";
        assert_eq!(written(&pair(["murmurhash3", "cheap"], [2.391, 2.408, 2.410], true)), expected);
    }

    #[test]
    fn two_entries_that_are_not_separated_have_a_ratio_and_no_winner() {
        let verdict = pair(["a", "b"], [0.95, 1.02, 1.1], false).verdict();
        let expected = "no difference resolved between `a` and `b`\n\
                        ratio 1.02x, 95% CI [0.95 .. 1.10], 52 paired rounds, interleaved";
        assert_eq!(verdict, expected);
    }

    #[test]
    fn the_ratio_of_two_entries_is_that_of_the_second_to_the_first_whichever_is_ahead() {
        let mut slower = pair(["a", "b"], [0.95, 0.98, 1.01], false);
        slower.lead = Lead { winner: 0, runner_up: 1, ratio: 1.02, low: 0.99, high: 1.05, is_significant: false };
        assert!(slower.verdict().contains("ratio 0.98x, 95% CI [0.95 .. 1.01]"), "{}", slower.verdict());
    }

    #[test]
    fn of_many_entries_the_fastest_is_set_against_the_runner_up() {
        let expected = "`x` is fastest of 5, 3.48x ahead of `y`\n95% CI [3.40 .. 3.52], 60 paired rounds, interleaved";
        assert_eq!(many(true).verdict(), expected);
        assert_eq!(many(true).fastest().map(|entry| entry.name.as_str()), Some("x"));
        let first =
            "`x` and `y` are the two fastest of 5, and were not separated\nratio 3.48x, 95% CI [3.40 .. 3.52], ";
        assert!(many(false).verdict().starts_with(first), "{}", many(false).verdict());
        assert_eq!(many(false).fastest(), None);
    }

    #[test]
    fn tied_rounds_are_mentioned() {
        let mut comparison = many(false);
        comparison.entries[2].tied_rounds = 7;
        comparison.entries[4].tied_rounds = 5;
        let last = "\nup to 7 of 60 rounds tied at the clock's resolution";
        assert!(comparison.verdict().ends_with(last), "{}", comparison.verdict());
    }

    #[test]
    fn an_interval_beside_one_without_a_verdict_is_explained() {
        let verdict = pair(["a", "b"], [1.002, 1.004, 1.006], false).verdict();
        let expected = "no difference resolved between `a` and `b`\n\
                        ratio 1.004x, 95% CI [1.002 .. 1.006], 52 paired rounds, interleaved\n\
                        that is less than the 99.5% confidence that a difference needs";
        assert_eq!(verdict, expected);
    }

    #[test]
    fn too_few_rounds_give_no_interval_and_say_what_to_do() {
        let mut comparison = pair(["a", "b"], [0.0, 2.0, f64::INFINITY], false);
        comparison.rounds = 2;
        let written = written(&comparison);
        assert!(
            written.contains("ratio 2.00x, 2 paired rounds, too few for an interval: raise `max_time`\n"),
            "{written}"
        );
        assert!(written.contains("|   200.0% |                   - |"), "{written}");
    }

    #[test]
    fn small_differences_have_as_many_digits_as_it_takes_to_see_them() {
        let written = written(&pair(["a", "b"], [1.00383, 1.00412, 1.00441], true));
        assert!(written.contains("`b` ran 1.0041x faster than `a`\n    95% CI [1.0038 .. 1.0044],"), "{written}");
        assert!(written.contains("|  100.41% |  100.38% .. 100.44% |"), "{written}");
    }

    #[test]
    fn names_cannot_break_the_table_or_the_terminal() {
        let written = written(&pair(["a|c\u{1b}[2Jd", "a`b"], [2.0, 2.1, 2.2], true));
        assert!(written.contains("| `a\\|c\\u{1b}[2Jd`\n") && written.contains("| `` a`b ``\n"), "{written}");
        assert!(written.contains("    `` a`b `` ran 2.10x faster than `a\\|c\\u{1b}[2Jd`\n"), "{written}");
        assert!(!written.contains('\u{1b}'));
    }

    #[test]
    fn large_figures_widen_their_column_and_bars_stay_in_line() {
        let mut comparison = pair(["slow", "fast"], [123_456.0, 150_000.0, 180_000.0], true);
        comparison.unit = "a unit with | in a rather long name".into();
        let table = written(&comparison).replace("\\|", "  ");
        let bars = |line: &str| line.match_indices('|').map(|(position, _)| position).collect::<Vec<_>>();
        let lines: Vec<&str> = table.lines().filter(|line| line.starts_with('|')).collect();
        assert!(lines.len() == 4 && lines.iter().all(|line| bars(line) == bars(lines[0])), "{table}");
    }
}
