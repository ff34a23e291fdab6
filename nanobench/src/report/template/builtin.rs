//! The templates that come with the crate. What they need beyond the language of the original is in the language.

/// A CSV file with a header and a line for each result. The separator is a semicolon.
///
/// The columns are title, name, unit, batch, the median of the elapsed seconds per call, its median absolute percentage error
/// as a share of 1, the medians of instructions, branches and branch misses per call, and the total of the timed seconds.
/// Text is in quotes, a number that does not exist is empty.
///
/// # Examples
///
/// ```
/// let header = nanobench::templates::csv().lines().next().unwrap();
/// assert!(header.starts_with(r#""title";"name";"unit";"batch";"elapsed";"error %";"#));
/// ```
#[must_use]
pub const fn csv() -> &'static str {
    include_str!("builtin/csv.mustache")
}

/// A JSON document with everything: the settings of each result, the medians of its measures, and every epoch.
///
/// Times are in seconds, and measures are per call. A number that does not exist is `null`.
///
/// # Examples
///
/// ```
/// assert!(nanobench::templates::json().contains(r#""name": {{json name}},"#));
/// ```
#[must_use]
pub const fn json() -> &'static str {
    include_str!("builtin/json.mustache")
}

/// A page with a box plot of the time per unit of work, a row for each result and a dot for each epoch.
///
/// It is one file without a script, so it can be read without a network, in a mail and wherever scripts are forbidden.
///
/// # Examples
///
/// ```
/// let page = nanobench::templates::html();
/// assert!(!page.contains("<script") && !page.contains("http"));
/// ```
#[must_use]
pub const fn html() -> &'static str {
    include_str!("builtin/html.mustache")
}

/// A JSON document for [pyperf](https://pyperf.readthedocs.io), with which results can be compared and tested for
/// significance: `python3 -m pyperf compare_to before.json after.json`.
///
/// Each result is a benchmark of a suite, with the seconds per unit of work in each epoch as its values. Results with equal
/// names get numbers, and epochs that took no time are left out, because pyperf refuses both. All epochs are of one process,
/// so they say nothing about how processes differ.
///
/// # Examples
///
/// ```
/// assert!(nanobench::templates::pyperf().contains(r#""version": "1.0""#));
/// ```
#[must_use]
pub const fn pyperf() -> &'static str {
    include_str!("builtin/pyperf.mustache")
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::path::{Path, PathBuf};
    use std::process::{Command, Stdio};

    use serde_json::{Value as Json, json};

    use super::*;
    use crate::report::template::{TemplateResult, Value, render};
    use crate::rng::Rng;

    /// Names that break what does not escape them.
    const HOSTILE: [&str; 16] = [
        "plain",
        "",
        "\"",
        "a\"b\"\"c",
        "';drop, |",
        "two\nlines\r\n",
        "</script><script>alert(1)</script>",
        "<!-- & ]]> &amp;",
        "\\u0022\\",
        "🦀 ünïcode \u{2028}\u{2029}",
        "{{name}}{{/result}}",
        "\u{1b}[31m\u{9b}2J\u{0}\u{7f}",
        "\u{202e}desrever",
        "=1+1",
        "  padded\t",
        "http://example.org/'onload=alert(1)",
    ];

    fn result(name: &str, elapsed: &[f64]) -> TemplateResult {
        TemplateResult {
            tags: vec![
                ("title", Value::Text(name.to_owned())),
                ("name", Value::Text(name.to_owned())),
                ("unit", Value::Text(name.to_owned())),
                ("batch", Value::Number(2.0)),
                ("epochs", Value::Number(11.0)),
                ("clockResolution", Value::Number(1e-8)),
                ("clockResolutionMultiple", Value::Number(1000.0)),
                ("maxEpochTime", Value::Number(0.1)),
                ("minEpochTime", Value::Number(0.0001)),
                ("minEpochIterations", Value::Number(1.0)),
                ("epochIterations", Value::Number(0.0)),
                ("warmup", Value::Number(0.0)),
                ("relative", Value::Boolean(false)),
            ],
            context: Vec::new(),
            measures: vec![
                ("elapsed", elapsed.to_vec()),
                ("iterations", (0..elapsed.len()).map(|epoch| 100.0 + epoch as f64).collect()),
                ("instructions", elapsed.iter().map(|_| 17.5).collect()),
            ],
        }
    }

    fn rendered(template: &str, results: &[TemplateResult]) -> String {
        let mut out = Vec::new();
        render(template, results, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    /// Results of every hostile name, of random ones, and of numbers that are none.
    fn hostile_results() -> Vec<TemplateResult> {
        let mut rng = Rng::new(7);
        let mut names: Vec<String> = HOSTILE.map(str::to_owned).to_vec();
        for _ in 0..200 {
            let pieces = rng.bounded(6);
            names.push((0..pieces).map(|_| hostile_piece(&mut rng)).collect());
        }
        names.iter().map(|name| result(name, &[3e-8, f64::NAN, f64::INFINITY, 0.0, -1e-9, 2e-8])).collect()
    }

    /// A hostile name or a character, of which many are control characters or signs.
    fn hostile_piece(rng: &mut Rng) -> String {
        if rng.bounded(4) == 0 {
            return HOSTILE[rng.bounded(HOSTILE.len() as u32) as usize].to_owned();
        }
        let range = if rng.bounded(2) == 0 { 0x80 } else { 0x11_0000 };
        char::from_u32(rng.bounded(range)).unwrap_or('\u{fffd}').into()
    }

    fn name(result: &TemplateResult) -> &str {
        let Some(Value::Text(name)) = result.tag("name") else { panic!("{result:?}") };
        name
    }

    fn csv_records(text: &str) -> Vec<Vec<String>> {
        let mut reader = ::csv::ReaderBuilder::new().delimiter(b';').has_headers(false).from_reader(text.as_bytes());
        let fields = |record: Result<::csv::StringRecord, _>| record.unwrap().iter().map(str::to_owned).collect();
        reader.records().map(fields).collect()
    }

    #[test]
    fn csv_has_a_header_and_a_line_for_each_result() {
        let results = [result("a", &[2e-8, 4e-8]), result("b", &[])];
        let expected = "\
\"title\";\"name\";\"unit\";\"batch\";\"elapsed\";\"error %\";\"instructions\";\"branches\";\"branch misses\";\"total\"
\"a\";\"a\";\"a\";2;0.000000030000000000000004;0.375;17.5;;;0.00000604
\"b\";\"b\";\"b\";2;;;;;;
";
        assert_eq!(rendered(csv(), &results), expected);
        assert_eq!(rendered(csv(), &[]).lines().count(), 1);
    }

    #[test]
    fn no_name_breaks_csv() {
        let results = hostile_results();
        let records = csv_records(&rendered(csv(), &results));
        assert_eq!(records.len(), results.len() + 1);
        for (record, result) in records[1..].iter().zip(&results) {
            assert_eq!(record.len(), 10, "{record:?}");
            let is_spelt_out = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
            let expected: String = name(result)
                .chars()
                .map(|c| if is_spelt_out(c) { c.escape_unicode().to_string() } else { c.to_string() })
                .collect();
            assert_eq!(record[..3], [expected.clone(), expected.clone(), expected]);
            assert_eq!(record[3], "2");
        }
    }

    #[test]
    fn json_has_the_settings_the_medians_and_every_epoch() {
        let document: Json = serde_json::from_str(&rendered(json(), &[result("a", &[2e-8, 4e-8, f64::NAN])])).unwrap();
        let result = &document["results"][0];
        let settings = json!({
            "title": "a", "name": "a", "unit": "a", "batch": 2, "complexityN": null, "epochs": 11, "clockResolution": 1e-8,
            "clockResolutionMultiple": 1000, "maxEpochTime": 0.1, "minEpochTime": 0.0001, "minEpochIterations": 1,
            "epochIterations": 0, "warmup": 0, "relative": false, "median(elapsed)": 4e-8, "median(instructions)": 17.5,
            "medianAbsolutePercentError(instructions)": 0, "median(branchmisses)": null, "totalTime": null,
        });
        for (name, value) in settings.as_object().unwrap() {
            assert_eq!(result.get(name), Some(value), "{name}");
        }
        let epochs = result["measurements"].as_array().unwrap();
        assert_eq!(epochs.len(), 3);
        assert_eq!((&epochs[1]["iterations"], &epochs[1]["elapsed"]), (&json!(101), &json!(4e-8)));
        assert_eq!((&epochs[2]["elapsed"], &epochs[2]["branchmisses"]), (&Json::Null, &Json::Null));
        assert_eq!(serde_json::from_str::<Json>(&rendered(json(), &[])).unwrap(), json!({ "results": [] }));
    }

    #[test]
    fn no_name_breaks_json() {
        let results = hostile_results();
        let text = rendered(json(), &results);
        assert!(!text.contains('<') && !text.contains('\u{1b}'));
        let document: Json = serde_json::from_str(&text).unwrap();
        let objects = document["results"].as_array().unwrap();
        assert_eq!(objects.len(), results.len());
        for (object, result) in objects.iter().zip(&results) {
            assert_eq!(object["name"], name(result));
            assert_eq!(object["title"], name(result));
        }
    }

    /// Fails unless every element of the page is closed and in order. Returns the text between the tags, and the values of
    /// the attributes.
    fn check_page(page: &str) -> (String, Vec<String>) {
        let mut open = Vec::new();
        let (mut text, mut attributes) = (String::new(), Vec::new());
        let mut rest = page.strip_prefix("<!DOCTYPE html>").expect("it begins as a page of today");
        while let Some((before, behind)) = rest.split_once('<') {
            text.push_str(before);
            let (tag, behind) = behind.split_once('>').expect("a tag ends");
            rest = behind;
            if let Some(name) = tag.strip_prefix('/') {
                assert_eq!(open.pop(), Some(name), "closed in the wrong order");
                continue;
            }
            let (tag, is_closed) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
            let (name, mut values) = tag.split_once(' ').unwrap_or((tag, ""));
            assert!(name.chars().all(|c| c.is_ascii_alphanumeric()) && name != "script", "<{tag}>");
            if !is_closed {
                open.push(name);
            }
            while !values.is_empty() {
                let (attribute, value) = values.split_once("=\"").expect("an attribute has a value in quotes");
                assert!(attribute.trim().chars().all(|c| c.is_ascii_alphanumeric() || c == '-'), "{attribute}");
                let (value, behind) = value.split_once('"').expect("a quote is closed");
                attributes.push(value.to_owned());
                values = behind;
            }
        }
        text.push_str(rest);
        assert_eq!(open, [""; 0], "still open");
        (text, attributes)
    }

    #[test]
    fn the_page_has_a_box_plot_for_each_result() {
        let results: Vec<TemplateResult> =
            (1..=50).map(|n| result("some name", &[1e-8 * f64::from(n), 2e-8])).collect();
        for count in [1, 2, 50] {
            let page = rendered(html(), &results[..count]);
            check_page(&page);
            assert_eq!(page.matches("<svg class=\"boxplot\"").count(), count);
            assert_eq!(page.matches("<circle").count(), 2 * count);
            assert_eq!(page.matches("<svg class=\"axis\"").count(), 1);
        }
        check_page(&rendered(html(), &[]));
    }

    #[test]
    fn no_name_breaks_the_page() {
        let results = hostile_results();
        let page = rendered(html(), &results);
        let (text, attributes) = check_page(&page);
        assert!(page.chars().all(|c| c == '\n' || !c.is_control()));
        assert!(!attributes.iter().any(|value| value.contains("http")), "the page asks the network");
        let plain = [result("plain", &[1e-8])];
        assert!(!rendered(html(), &plain).contains("http"));
        for part in
            ["&lt;script&gt;alert(1)&lt;/script&gt;", "a&quot;b", "&amp;amp;", "&#39;onload=alert(1)", "\\u{1b}[31m"]
        {
            assert!(text.contains(part), "{part} as text");
        }
        let nameless = rendered(html(), &results.iter().map(|_| result("", &[1e-8])).collect::<Vec<_>>());
        let elements = |page: &str| page.matches('<').count();
        let timed = results.iter().map(|_| result("", &[3e-8, 0.0, -1e-9, 2e-8])).collect::<Vec<_>>();
        assert!(elements(&nameless) < elements(&page));
        assert_eq!(elements(&rendered(html(), &timed)), elements(&page), "a name made an element");
    }

    #[test]
    fn pyperf_gets_a_benchmark_of_positive_seconds_per_unit_for_each_result() {
        let results = [result("a", &[0.25, 0.0, 0.5]), result("a\n", &[0.75]), result("b", &[f64::NAN])];
        let document: Json = serde_json::from_str(&rendered(pyperf(), &results)).unwrap();
        let benchmark = |name, loops, duration, values: Json| {
            let runs = json!([{ "metadata": { "duration": duration }, "values": values }]);
            json!({ "metadata": { "name": name, "loops": loops }, "runs": runs })
        };
        let expected = json!({
            "version": "1.0",
            "metadata": { "unit": "second" },
            "benchmarks": [
                benchmark("a", 100, 76, json!([0.125, 0.25])),
                benchmark("a #2", 100, 75, json!([0.375])),
            ],
        });
        assert_eq!(document, expected);
    }

    /// A Python that has pyperf: that of a virtual environment `pyperf` in the directory of the build, or the one in the path.
    fn python_with_pyperf() -> Option<PathBuf> {
        let program = std::env::current_exe().expect("a test is a program");
        let environments = program.ancestors().map(|directory| directory.join("pyperf"));
        let pythons = environments
            .flat_map(|environment| ["bin/python3", "Scripts/python.exe"].map(|path| environment.join(path)));
        let has_pyperf = |python: &PathBuf| {
            let import = Command::new(python).args(["-c", "import pyperf"]).stderr(Stdio::null()).status();
            import.is_ok_and(|status| status.success())
        };
        pythons.filter(|python| python.exists()).chain([PathBuf::from("python3")]).find(has_pyperf)
    }

    fn run_pyperf(python: &Path, arguments: &[&str], file: &Path) -> String {
        let output = Command::new(python).args(["-m", "pyperf"]).args(arguments).arg(file).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn pyperf_reads_every_name() {
        let Some(python) = python_with_pyperf() else {
            // Not with the macro, whose text is seen only if a test fails.
            let message = "\nskipped, because no Python has pyperf. To install it where this test looks for it:\n\
                           python3 -m venv target/pyperf && target/pyperf/bin/pip install pyperf\n";
            std::io::stderr().write_all(message.as_bytes()).unwrap();
            return;
        };
        let mut results = hostile_results();
        results.insert(0, result("copy", &[2e-8, 4e-8, 6e-8]));
        let file = std::env::temp_dir().join(format!("nanobench-{}.pyperf.json", std::process::id()));
        std::fs::write(&file, rendered(pyperf(), &results)).unwrap();
        let stats = run_pyperf(&python, &["stats", "--quiet"], &file);
        let dump = run_pyperf(&python, &["show", "--quiet"], &file);
        std::fs::remove_file(&file).unwrap();
        assert!(stats.contains(&format!("Number of benchmarks: {}", results.len())), "{stats}");
        assert!(stats.contains("Median +- MAD:   20.0 ns +- 10.0 ns"), "{stats}");
        assert!(stats.contains("Loop iterations per value: 100"), "{stats}");
        assert!(dump.contains("20.0 ns"), "{dump}");
    }

    /// The reference shows templates, each with what it renders of two results.
    #[test]
    fn every_example_of_the_reference_renders_what_stands_below_it() {
        let of = |name: &str, cpu: &str, elapsed: [f64; 3]| {
            let mut result = result(name, &elapsed);
            result.tags.retain(|(name, _)| !matches!(*name, "title" | "unit"));
            result.tags.push(("title", Value::Text("copying".into())));
            result.tags.push(("unit", Value::Text("byte".into())));
            result.context.push(("cpu".into(), cpu.into()));
            result
        };
        let results = [of("memcpy", "fast", [2e-8, 1e-8, 4e-8]), of("\"by hand\"", "slow", [6e-8, 8e-8, 7e-8])];
        let reference = include_str!("../../templates.md");
        let mut examples = 0;
        for example in reference.split("```mustache\n").skip(1) {
            let (template, behind) = example.split_once("\n```\n").expect("a block ends");
            let output = behind.trim_start().strip_prefix("```text\n").expect("the output follows");
            let (output, _) = output.split_once("\n```").expect("a block ends");
            assert_eq!(rendered(template, &results), output, "{template}");
            examples += 1;
        }
        assert!(examples >= 4, "{examples}");
    }
}
