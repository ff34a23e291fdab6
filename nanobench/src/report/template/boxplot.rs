//! Box plots as SVG: a row for each result, all on one axis. Pictures without a script are shown everywhere.
//!
//! Positions along the axis are percentages, so that a row is as wide as the page makes it.

use std::fmt::Write as _;

use super::TemplateResult;
use crate::stats;

/// From which ratio of the largest to the smallest time on the axis is logarithmic: the boxes of the fast would be dots.
const LOGARITHMIC_RATIO: f64 = 50.0;

/// From which ratio of the smallest to the largest time on the axis does not begin at zero: all boxes would be dots.
const ZOOM_RATIO: f64 = 0.5;

/// The height of a row in pixels, and where in it things are.
const HEIGHT: u32 = 60;
const LABEL_BASE: u32 = 15;
const BOX_TOP: u32 = 22;
const BOX_BOTTOM: u32 = 54;
const MIDDLE: u32 = (BOX_TOP + BOX_BOTTOM) / 2;

/// How many ticks an axis has at most, but for rounding.
const TICKS: f64 = 7.0;

/// Below how many powers of ten a logarithmic axis has ticks between them.
const FEW_DECADES: f64 = 3.0;

/// What all box plots have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Axis {
    scale: Scale,
    /// The ends, in seconds or in their decimal logarithm.
    low: f64,
    high: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Scale {
    FromZero,
    Zoomed,
    Logarithmic,
}

impl Axis {
    /// An axis on which all times have their place; none if there are none.
    pub(super) fn over(results: &[TemplateResult]) -> Option<Self> {
        let all: Vec<f64> = results.iter().flat_map(seconds_per_unit).collect();
        let least = all.iter().copied().reduce(f64::min)?;
        let most = all.iter().copied().reduce(f64::max)?;
        Some(if least > 0.0 && least < most / LOGARITHMIC_RATIO {
            let margin = 0.04 * (most.log10() - least.log10());
            Self { scale: Scale::Logarithmic, low: least.log10() - margin, high: most.log10() + margin }
        } else if least > ZOOM_RATIO * most {
            let margin = (0.1 * (most - least)).max(0.002 * most);
            Self { scale: Scale::Zoomed, low: least - margin, high: most + margin }
        } else {
            let (low, high) = (least.min(0.0), most.max(0.0));
            let margin = 0.05 * (high - low);
            let high = if high > low { high + margin } else { 1e-9 };
            Self { scale: Scale::FromZero, low: if low < 0.0 { low - margin } else { low }, high }
        })
    }

    /// How far along the axis a time is, in per cent.
    fn percent(&self, seconds: f64) -> f64 {
        let place = if self.scale == Scale::Logarithmic { seconds.log10() } else { seconds };
        (place - self.low) / (self.high - self.low) * 100.0
    }

    /// Times to be marked, and what they are called.
    fn ticks(&self) -> Vec<(f64, String)> {
        if self.scale == Scale::Logarithmic { self.decades() } else { self.steps() }
    }

    fn decades(&self) -> Vec<(f64, String)> {
        let decades = self.high - self.low;
        let digits: &[f64] = if decades < FEW_DECADES { &[1.0, 2.0, 5.0] } else { &[1.0] };
        let stride = (decades / TICKS).ceil();
        let powers = (0u32..).map(|index| self.low.floor() + stride * f64::from(index));
        let powers = powers.take_while(|&power| power <= self.high);
        let times = powers.flat_map(|power| digits.iter().map(move |digit| digit * 10f64.powf(power)));
        let on_axis = times.filter(|seconds| (self.low..=self.high).contains(&seconds.log10()));
        on_axis.map(|seconds| (seconds, duration(seconds))).collect()
    }

    fn steps(&self) -> Vec<(f64, String)> {
        let step = round_step((self.high - self.low) / TICKS);
        let (factor, unit) = unit(self.low.abs().max(self.high.abs()));
        let decimals = decimals_for(step * factor, 1);
        let multiples = (0u32..).map(|index| (self.low / step).ceil() + f64::from(index));
        let times = multiples.map(|multiple| multiple * step).take_while(|&seconds| seconds <= self.high);
        times.map(|seconds| (seconds, format!("{:.decimals$} {unit}", seconds * factor))).collect()
    }
}

/// 1, 2 or 5 times a power of ten, and at least `least` but for rounding.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 5.0].map(|digit| digit * power);
    steps.into_iter().find(|&step| step >= least * (1.0 - 1e-9)).unwrap_or(10.0 * power)
}

/// How many decimals show so many digits of a number.
fn decimals_for(number: f64, digits: i32) -> usize {
    // Rounding may have put a power of ten just below itself.
    let exponent = (number.abs() * (1.0 + 1e-9)).log10().floor() as i32;
    usize::try_from(digits - 1 - exponent).unwrap_or(0)
}

/// The unit in which a time is easy to read, and how many of them are in a second.
fn unit(seconds: f64) -> (f64, &'static str) {
    match seconds.abs() {
        seconds if seconds < 1e-6 => (1e9, "ns"),
        seconds if seconds < 1e-3 => (1e6, "µs"),
        seconds if seconds < 1.0 => (1e3, "ms"),
        _ => (1.0, "s"),
    }
}

/// A time to four digits.
fn duration(seconds: f64) -> String {
    let (factor, unit) = unit(seconds);
    let number = seconds * factor;
    if number == 0.0 {
        format!("0 {unit}")
    } else if number.abs() < 1e-3 || number.abs() >= 1e6 {
        format!("{number:.3e} {unit}")
    } else {
        let decimals = decimals_for(number, 4);
        let text = format!("{number:.decimals$}");
        let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        format!("{text} {unit}")
    }
}

/// The times of the epochs that are numbers, for a unit of work.
fn seconds_per_unit(result: &TemplateResult) -> Vec<f64> {
    let batch = result.batch();
    let times = result.epochs("elapsed").unwrap_or(&[]).iter().map(|seconds| seconds / batch);
    // Nothing takes longer than the universe is old, or shorter than light needs for a nucleus; and within these limits all
    // that is computed from times is a number.
    times
        .filter(|seconds| seconds.abs() < 1e18)
        .map(|seconds| if seconds.abs() < 1e-24 { 0.0 } else { seconds })
        .collect()
}

/// The marks of the axis, with its title, for the head or the foot of the rows.
pub(super) fn axis(axis: Option<&Axis>) -> String {
    let title = match axis.map(|axis| axis.scale) {
        None => "nothing was measured",
        Some(Scale::FromZero) => "time per unit",
        Some(Scale::Zoomed) => "time per unit, not from zero",
        Some(Scale::Logarithmic) => "time per unit, logarithmic",
    };
    let mut picture = Picture::new("axis", 40, title);
    picture.text("title", 50.0, 12, title);
    if let Some(axis) = axis {
        for (seconds, label) in axis.ticks() {
            picture.text("tick", axis.percent(seconds), 32, &label);
        }
    }
    picture.finish()
}

/// The box plot of a result.
pub(super) fn row(result: &TemplateResult, axis: Option<&Axis>) -> String {
    let epochs = seconds_per_unit(result);
    let (Some(axis), Some(summary)) = (axis, Summary::of(&epochs)) else {
        let mut picture = Picture::new("boxplot", HEIGHT, "no time was measured");
        picture.text("missing", 0.0, MIDDLE, "no time was measured");
        return picture.finish();
    };
    let mut picture = Picture::new("boxplot", HEIGHT, &summary.sentence(epochs.len()));
    for (seconds, _) in axis.ticks() {
        picture.upright("grid", axis.percent(seconds), 0, HEIGHT);
    }
    let Summary { whisker_low, quartile_low, median, quartile_high, whisker_high, .. } = summary;
    for (end, quartile) in [(whisker_low, quartile_low), (whisker_high, quartile_high)] {
        let (end, quartile) = (axis.percent(end), axis.percent(quartile));
        picture.line("whisker", [end, quartile], [MIDDLE, MIDDLE]);
        picture.upright("whisker", end, MIDDLE - 7, MIDDLE + 7);
    }
    picture.rectangle("box", [axis.percent(quartile_low), axis.percent(quartile_high)], [BOX_TOP, BOX_BOTTOM]);
    for (index, &seconds) in epochs.iter().enumerate() {
        let share = (index as f64 + 0.5) / epochs.len() as f64;
        let y = f64::from(BOX_TOP) + share * f64::from(BOX_BOTTOM - BOX_TOP);
        picture.dot("epoch", axis.percent(seconds), y);
    }
    // On top of the dots, which are densest here.
    picture.upright("median", axis.percent(median), BOX_TOP, BOX_BOTTOM);
    picture.text("value", axis.percent(median), LABEL_BASE, &duration(median));
    picture.finish()
}

/// An SVG element under construction. Horizontal places are in per cent, vertical ones in pixels. Its parts have classes for
/// style sheets, and can be seen without one.
struct Picture(String);

// Writing to a string cannot fail.
impl Picture {
    /// A picture with a title for those who cannot see it.
    fn new(class: &str, height: u32, title: &str) -> Self {
        let element = format!(r#"<svg class="{class}" width="100%" height="{height}" role="img">"#);
        Self(element + "<title>" + title + "</title>")
    }

    fn line(&mut self, class: &str, x: [f64; 2], y: [u32; 2]) {
        let _ = write!(self.0, r#"<line class="{class}" x1="{:.2}%" x2="{:.2}%""#, x[0], x[1]);
        let _ = write!(self.0, r#" y1="{}" y2="{}" stroke="currentColor"/>"#, y[0], y[1]);
    }

    fn upright(&mut self, class: &str, x: f64, top: u32, bottom: u32) {
        self.line(class, [x, x], [top, bottom]);
    }

    fn rectangle(&mut self, class: &str, x: [f64; 2], y: [u32; 2]) {
        let _ = write!(self.0, r#"<rect class="{class}" x="{:.2}%" width="{:.2}%""#, x[0], x[1] - x[0]);
        let _ = write!(self.0, r#" y="{}" height="{}" fill="none" stroke="currentColor"/>"#, y[0], y[1] - y[0]);
    }

    fn dot(&mut self, class: &str, x: f64, y: f64) {
        let _ = write!(self.0, r#"<circle class="{class}" cx="{x:.2}%" cy="{y:.1}" r="2.5" fill="currentColor"/>"#);
    }

    /// Adds a text, around its place or beside it where it would leave the picture.
    fn text(&mut self, class: &str, x: f64, y: u32, text: &str) {
        let anchor = match x {
            x if x < 8.0 => "start",
            x if x > 92.0 => "end",
            _ => "middle",
        };
        let _ = write!(self.0, r#"<text class="{class}" x="{x:.2}%" y="{y}" text-anchor="{anchor}""#);
        let _ = write!(self.0, r#" fill="currentColor">{text}</text>"#);
    }

    fn finish(self) -> String {
        self.0 + "</svg>"
    }
}

/// What a box plot shows, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Summary {
    least: f64,
    /// The least and most within one and a half times the height of the box from the box.
    ///
    /// Source: J. Tukey, *Exploratory Data Analysis*, 1977.
    whisker_low: f64,
    quartile_low: f64,
    median: f64,
    quartile_high: f64,
    whisker_high: f64,
    most: f64,
}

impl Summary {
    fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        stats::sort(&mut sorted);
        let (&least, &most) = (sorted.first()?, sorted.last()?);
        let [quartile_low, median, quartile_high] = [0.25, 0.5, 0.75].map(|share| quantile(&sorted, share));
        let reach = 1.5 * (quartile_high - quartile_low);
        let whisker_low = sorted.iter().copied().find(|&value| value >= quartile_low - reach)?;
        let whisker_high = sorted.iter().rev().copied().find(|&value| value <= quartile_high + reach)?;
        Some(Self {
            least,
            // An end is never within the box, where a quartile lies between two values.
            whisker_low: whisker_low.min(quartile_low),
            quartile_low,
            median,
            quartile_high,
            whisker_high: whisker_high.max(quartile_high),
            most,
        })
    }

    fn sentence(&self, epochs: usize) -> String {
        let [least, low, median, high, most] =
            [self.least, self.quartile_low, self.median, self.quartile_high, self.most].map(duration);
        format!("median {median}, half of the epochs from {low} to {high}, all {epochs} from {least} to {most}")
    }
}

/// The value below which this share of the sorted values lies, interpolated between neighbours.
///
/// Source: definition 7 of R. Hyndman and Y. Fan, "Sample Quantiles in Statistical Packages", *The American Statistician* 50,
/// 1996. It is the one that R, NumPy and spreadsheets use.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let below = sorted[place.floor() as usize];
    let above = sorted[place.ceil() as usize];
    below + place.fract() * (above - below)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(nanoseconds: &[f64]) -> TemplateResult {
        let elapsed = nanoseconds.iter().map(|nanoseconds| nanoseconds * 1e-9).collect();
        TemplateResult { tags: Vec::new(), context: Vec::new(), measures: vec![("elapsed", elapsed)] }
    }

    fn axis_over(nanoseconds: &[f64]) -> Axis {
        Axis::over(&[result(nanoseconds)]).unwrap()
    }

    fn labels(nanoseconds: &[f64]) -> Vec<String> {
        axis_over(nanoseconds).ticks().into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn quantiles_equal_those_of_r() {
        // quantile(c(1, 2, 4, 8), c(0, 0.25, 0.5, 0.75, 1))
        let expected = [1.0, 1.75, 3.0, 5.0, 8.0];
        assert_eq!([0.0, 0.25, 0.5, 0.75, 1.0].map(|share| quantile(&[1.0, 2.0, 4.0, 8.0], share)), expected);
        assert_eq!(quantile(&[3.0], 0.25), 3.0);
    }

    #[test]
    fn whiskers_end_at_values_and_leave_outliers_out() {
        let summary = Summary::of(&[20.0, 1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!((summary.whisker_low, summary.whisker_high, summary.most), (1.0, 4.0, 20.0));
        assert_eq!(Summary::of(&[]), None);
    }

    #[test]
    fn an_axis_begins_at_zero_unless_everything_would_be_a_dot() {
        assert_eq!((axis_over(&[10.0, 20.0]).scale, axis_over(&[10.0, 20.0]).low), (Scale::FromZero, 0.0));
        assert_eq!(axis_over(&[11.0, 20.0]).scale, Scale::Zoomed);
        assert_eq!(axis_over(&[20.0]).scale, Scale::Zoomed);
        assert_eq!(axis_over(&[1.0, 100.0]).scale, Scale::Logarithmic);
        assert_eq!(axis_over(&[0.0, 100.0]).scale, Scale::FromZero);
        assert_eq!(axis_over(&[-1.0, 100.0]).scale, Scale::FromZero);
        assert_eq!(Axis::over(&[result(&[f64::NAN])]), None);
    }

    #[test]
    fn everything_has_its_place_on_the_axis() {
        let extremes: [&[f64]; 9] = [
            &[1.0, 2.0, 3.0],
            &[5.0],
            &[0.0],
            &[-3.0, -2.0],
            &[-1.0, 1e6],
            &[1e-300, 1e26],
            &[1e20, 1e20 + 1e5],
            &[5e-324, 1e-310],
            &[5e-324],
        ];
        for nanoseconds in extremes {
            let result = result(nanoseconds);
            let axis = axis_over(nanoseconds);
            let percents: Vec<f64> = seconds_per_unit(&result).iter().map(|&seconds| axis.percent(seconds)).collect();
            assert!(percents.iter().all(|percent| (0.0..100.0).contains(percent)), "{nanoseconds:?} at {percents:?}");
            let ticks = axis.ticks();
            assert!(ticks.len() < 20, "{ticks:?}");
            assert!(ticks.iter().all(|&(seconds, _)| (0.0..=100.0).contains(&axis.percent(seconds))), "{ticks:?}");
            let row = row(&result, Some(&axis));
            assert_eq!(row.matches("<circle").count(), nanoseconds.len());
            assert!(!row.contains("NaN") && !row.contains("inf"), "{row}");
        }
    }

    #[test]
    fn ticks_are_round_and_have_the_decimals_that_tell_them_apart() {
        assert_eq!(labels(&[10.0, 20.0]), ["0 ns", "5 ns", "10 ns", "15 ns", "20 ns"]);
        assert_eq!(labels(&[12.3, 12.5]), ["12.30 ns", "12.35 ns", "12.40 ns", "12.45 ns", "12.50 ns"]);
        assert_eq!(labels(&[1.0, 5_000.0]), ["1 ns", "10 ns", "100 ns", "1 µs"]);
        assert_eq!(labels(&[3.0, 200.0]), ["5 ns", "10 ns", "20 ns", "50 ns", "100 ns", "200 ns"]);
        assert_eq!(labels(&[600e6, 1_400e6]), ["0.0 s", "0.5 s", "1.0 s"]);
    }

    #[test]
    fn times_are_shown_in_a_unit_that_fits() {
        let cases = [(0.0, "0 ns"), (1.5e-9, "1.5 ns"), (12.3456e-6, "12.35 µs"), (0.25, "250 ms"), (1234.5, "1234 s")];
        for (seconds, expected) in cases {
            assert_eq!(duration(seconds), expected);
        }
        assert_eq!(duration(1e-15), "1.000e-6 ns");
        assert_eq!(duration(-2e-9), "-2 ns");
    }

    #[test]
    fn a_row_says_in_words_what_it_shows() {
        let result = result(&[10.0, 20.0, 30.0, 40.0, 50.0]);
        let row = row(&result, Axis::over(std::slice::from_ref(&result)).as_ref());
        let words = "<title>median 30 ns, half of the epochs from 20 ns to 40 ns, all 5 from 10 ns to 50 ns</title>";
        assert!(row.contains(words), "{row}");
    }

    #[test]
    fn a_result_without_times_says_so() {
        assert!(row(&result(&[]), None).contains("no time was measured"));
        let other = axis_over(&[1.0]);
        assert!(row(&result(&[f64::INFINITY]), Some(&other)).contains("no time was measured"));
        assert!(!axis(None).contains("class=\"tick\""));
    }
}
