//! Settings as a person writes them: what they are called, what their values look like, and how they are read.

use std::env::VarError;
use std::fmt;
use std::time::Duration;

use super::Overrides;

/// A setting as a person writes it: in the environment, on the command line and in the help text.
pub(crate) struct Setting {
    /// The name of the attribute's option.
    pub(crate) name: &'static str,
    /// What stands for the value in the help text.
    pub(crate) value: &'static str,
    /// One line of help.
    pub(crate) help: &'static str,
    /// Reads a value, or says what a value should look like.
    set: fn(&mut Overrides, &str) -> Result<(), &'static str>,
}

/// All settings. The command line, the environment and the help text are made from this table.
pub(crate) const SETTINGS: [Setting; 19] = [
    Setting {
        name: "epochs",
        value: "N",
        help: "measure at least N epochs",
        set: |to, text| count(text).map(|value| to.epochs = Some(value)),
    },
    Setting {
        name: "min_epoch_time",
        value: "DURATION",
        help: "least time of an epoch, such as 100us",
        set: |to, text| duration(text).map(|value| to.min_epoch_time = Some(value)),
    },
    Setting {
        name: "max_epoch_time",
        value: "DURATION",
        help: "most time of an epoch; the least wins",
        set: |to, text| duration(text).map(|value| to.max_epoch_time = Some(value)),
    },
    Setting {
        name: "clock_resolution_multiple",
        value: "N",
        help: "an epoch takes N times the clock's resolution",
        set: |to, text| count(text).map(|value| to.clock_resolution_multiple = Some(value)),
    },
    Setting {
        name: "min_epoch_iterations",
        value: "N",
        help: "least number of calls in an epoch",
        set: |to, text| count(text).map(|value| to.min_epoch_iterations = Some(value)),
    },
    Setting {
        name: "epoch_iterations",
        value: "N",
        help: "exact number of calls in an epoch; 0 for automatic",
        set: |to, text| count(text).map(|value| to.epoch_iterations = Some(value)),
    },
    Setting {
        name: "warmup",
        value: "N",
        help: "make N calls before measuring",
        set: |to, text| count(text).map(|value| to.warmup = Some(value)),
    },
    Setting {
        name: "precision",
        value: "SHARE",
        help: "stop when the 95 % interval is within this share of the figure, such as 0.01 or 1%",
        set: |to, text| share(text).map(|value| to.precision = Some(value)),
    },
    Setting {
        name: "max_time",
        value: "DURATION",
        help: "most time of a benchmark, such as 50ms",
        set: |to, text| duration(text).map(|value| to.max_time = Some(value)),
    },
    Setting {
        name: "compare_repeated",
        value: "BOOL",
        help: "add a row for one input of each group over and over",
        set: |to, text| boolean(text).map(|value| to.compare_repeated = Some(value)),
    },
    Setting {
        name: "cold",
        value: "BOOL",
        help: "sweep the caches before each call, and time calls one by one",
        set: |to, text| boolean(text).map(|value| to.cold = Some(value)),
    },
    Setting {
        name: "estimator",
        value: "ESTIMATOR",
        help: "how inputs are told apart: least-squares, leave-one-out or replay",
        set: |to, text| {
            to.estimator = Some(text.to_owned());
            Ok(())
        },
    },
    Setting {
        name: "overhead",
        value: "OVERHEAD",
        help: "empty loop of throughput: raw leaves it in, show adds a row, subtract takes it off",
        set: |to, text| {
            to.overhead = Some(text.to_owned());
            Ok(())
        },
    },
    Setting {
        name: "unit",
        value: "NAME",
        help: "what one unit of work is called",
        set: |to, text| {
            to.unit = Some(text.to_owned());
            Ok(())
        },
    },
    Setting {
        name: "batch",
        value: "NUMBER",
        help: "how many units of work one call does",
        set: |to, text| number(text).map(|value| to.batch = Some(value)),
    },
    Setting {
        name: "bytes",
        value: "NUMBER",
        help: "how many bytes a call works on, for GB/s",
        set: |to, text| number(text).map(|value| to.bytes = Some(value)),
    },
    Setting {
        name: "items",
        value: "NUMBER",
        help: "how many items a call works on, for item/s",
        set: |to, text| number(text).map(|value| to.items = Some(value)),
    },
    Setting {
        name: "chars",
        value: "NUMBER",
        help: "how many characters a call works on, for char/s",
        set: |to, text| number(text).map(|value| to.chars = Some(value)),
    },
    Setting {
        name: "time_unit",
        value: "UNIT",
        help: "unit of time in the table: ns, us, ms or s",
        set: |to, text| {
            to.time_unit = Some(text.to_owned());
            Ok(())
        },
    },
];

impl Setting {
    /// The name on the command line, without the dashes in front.
    pub(crate) fn flag(&self) -> String {
        self.name.replace('_', "-")
    }

    /// The name in the environment.
    pub(crate) fn variable(&self) -> String {
        format!("NANOBENCH_{}", self.name.to_ascii_uppercase())
    }

    /// A value that is no default.
    #[cfg(test)]
    pub(crate) fn value_for_test(&self) -> &'static str {
        match self.value {
            "DURATION" => "7ms",
            "SHARE" => "0.25",
            "BOOL" => "true",
            "UNIT" => "us",
            "ESTIMATOR" => "replay",
            "OVERHEAD" => "show",
            _ => "7",
        }
    }

    /// Reads `text` as the value of this setting into `overrides`, which stay as they are if it is none.
    ///
    /// # Errors
    ///
    /// If the text is not such a value, or the value is out of range; `place` says where the text stood.
    pub(crate) fn read(&self, overrides: &mut Overrides, text: &str, place: &str) -> Result<(), SettingError> {
        let mut changed = overrides.clone();
        (self.set)(&mut changed, text)
            .and_then(|()| changed.check().map_err(|(_name, expected)| expected))
            .map_err(|expected| SettingError { place: place.to_owned(), value: Some(text.to_owned()), expected })?;
        *overrides = changed;
        Ok(())
    }
}

/// A setting whose value cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SettingError {
    /// The flag, the variable, or the file and line.
    pub(crate) place: String,
    /// The value as it was written, where it was text.
    pub(crate) value: Option<String>,
    /// What would have been right.
    pub(crate) expected: &'static str,
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.place)?;
        if let Some(value) = &self.value {
            write!(f, ": {value:?}")?;
        }
        write!(f, " should be {}", self.expected)
    }
}

/// The variable that holds any number of settings.
pub(crate) const CONFIG_VARIABLE: &str = "NANOBENCH_CONFIG";

const DURATION: &str = "a number and a unit without a sign, such as 100us, 5ms or 1.5s (ns, us, ms, s or min)";
const COUNT: &str = "a whole number, such as 11";
pub(super) const SHARE: &str = "a share between 0 and 1, such as 0.01 or 1%";
pub(super) const NUMBER: &str = "a number above zero, such as 1024";

fn count(text: &str) -> Result<u64, &'static str> {
    text.replace('_', "").parse().map_err(|_| COUNT)
}

fn boolean(text: &str) -> Result<bool, &'static str> {
    match text {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        _ => Err("true or false"),
    }
}

fn number(text: &str) -> Result<f64, &'static str> {
    text.replace('_', "").parse().map_err(|_| NUMBER)
}

fn share(text: &str) -> Result<f64, &'static str> {
    let (digits, scale) = match text.strip_suffix('%') {
        Some(digits) => (digits, 0.01),
        None => (text, 1.0),
    };
    digits.trim_end().parse::<f64>().map(|value| value * scale).map_err(|_| SHARE)
}

fn duration(text: &str) -> Result<Duration, &'static str> {
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or(DURATION)?;
    let (digits, unit) = text.split_at(unit_at);
    let seconds_per_unit = match unit.trim() {
        "ns" => 1e-9,
        "us" | "µs" | "μs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "min" => 60.0,
        _ => return Err(DURATION),
    };
    let value: f64 = digits.parse().map_err(|_| DURATION)?;
    Duration::try_from_secs_f64(value * seconds_per_unit).map_err(|_| DURATION)
}

impl Overrides {
    /// The settings that the environment gives, by way of `variable`, which returns the value of a variable: those in
    /// `NANOBENCH_CONFIG`, then each in a variable of its own, which wins. The second part is what cannot be used.
    pub(crate) fn from_environment(variable: &dyn Fn(&str) -> Result<String, VarError>) -> (Self, Vec<SettingError>) {
        let mut overrides = Self::default();
        let mut errors = Vec::new();
        let value_of = |name: &str, errors: &mut Vec<SettingError>| match variable(name) {
            Ok(text) => Some(text),
            Err(VarError::NotPresent) => None,
            Err(VarError::NotUnicode(text)) => {
                let value = Some(text.to_string_lossy().into_owned());
                errors.push(SettingError { place: name.to_owned(), value, expected: "text in UTF-8" });
                None
            }
        };
        let all = value_of(CONFIG_VARIABLE, &mut errors).unwrap_or_default();
        for entry in all.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
            let (name, text) = entry.split_once('=').map_or((entry, ""), |(name, text)| (name.trim(), text.trim()));
            let read = match SETTINGS.iter().find(|setting| setting.name == name) {
                Some(setting) => setting.read(&mut overrides, text, &format!("{CONFIG_VARIABLE}: {name}")),
                None => Err(SettingError {
                    place: CONFIG_VARIABLE.to_owned(),
                    value: Some(entry.to_owned()),
                    expected: "the name of a setting and its value, such as epochs=51; --help lists the settings",
                }),
            };
            errors.extend(read.err());
        }
        for setting in &SETTINGS {
            let name = setting.variable();
            if let Some(text) = value_of(&name, &mut errors) {
                errors.extend(setting.read(&mut overrides, &text, &name).err());
            }
        }
        (overrides, errors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(name: &str) -> &'static Setting {
        SETTINGS.iter().find(|setting| setting.name == name).unwrap()
    }

    fn read(name: &str, text: &str) -> Result<Overrides, SettingError> {
        let mut overrides = Overrides::default();
        setting(name).read(&mut overrides, text, name).map(|()| overrides)
    }

    #[test]
    fn durations_are_a_number_and_a_unit() {
        for (text, nanoseconds) in [
            ("100ns", 100),
            ("250us", 250_000),
            ("250 µs", 250_000),
            ("5ms", 5_000_000),
            ("1.5s", 1_500_000_000),
            ("1min", 60_000_000_000),
        ] {
            let read = read("max_time", text).unwrap().max_time;
            assert_eq!(read, Some(Duration::from_nanos(nanoseconds)), "{text}");
        }
        for text in ["5", "", "ms", "-5ms", "5 parsecs", "1e99s", "1.2.3s", "0s"] {
            assert!(read("max_time", text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_precision_is_a_share_or_a_percentage() {
        assert_eq!(read("precision", "0.02").unwrap().precision, Some(0.02));
        assert_eq!(read("precision", "2%").unwrap().precision, Some(0.02));
        for text in ["0", "1", "-1%", "200%", "nan", "fine"] {
            assert!(read("precision", text).is_err(), "{text}");
        }
    }

    #[test]
    fn values_out_of_range_are_refused() {
        for (name, text) in [
            ("epochs", "0"),
            ("clock_resolution_multiple", "0"),
            ("batch", "0"),
            ("batch", "inf"),
            ("unit", "a\nb"),
            ("time_unit", "h"),
            ("estimator", "leave one out"),
            ("overhead", "subtracted"),
        ] {
            assert!(read(name, text).is_err(), "{name} = {text}");
        }
        assert_eq!(read("epochs", "1_000").unwrap().epochs, Some(1_000));
        assert_eq!(read("epoch_iterations", "0").unwrap().epoch_iterations, Some(0));
    }

    #[test]
    fn an_error_says_where_what_and_what_instead() {
        let error = read("max_time", "5").unwrap_err().to_string();
        assert!(error.starts_with("max_time: \"5\" should be a number and a unit"), "{error}");
    }

    #[test]
    fn every_setting_can_be_read_from_its_variable() {
        let all = Overrides::from_environment(&|variable| {
            let name = variable.strip_prefix("NANOBENCH_").ok_or(VarError::NotPresent)?.to_ascii_lowercase();
            if name == "config" {
                return Err(VarError::NotPresent);
            }
            Ok(setting(&name).value_for_test().to_owned())
        });
        let seven = Duration::from_millis(7);
        let expected = Overrides {
            epochs: Some(7),
            clock_resolution_multiple: Some(7),
            min_epoch_time: Some(seven),
            max_epoch_time: Some(seven),
            min_epoch_iterations: Some(7),
            epoch_iterations: Some(7),
            warmup: Some(7),
            precision: Some(0.25),
            max_time: Some(seven),
            compare_repeated: Some(true),
            cold: Some(true),
            estimator: Some("replay".into()),
            overhead: Some("show".into()),
            unit: Some("7".into()),
            batch: Some(7.0),
            bytes: Some(7.0),
            items: Some(7.0),
            chars: Some(7.0),
            time_unit: Some("us".into()),
        };
        assert_eq!(all, (expected, Vec::new()));
    }

    #[test]
    fn one_variable_holds_any_number_of_settings_and_single_ones_win() {
        let (overrides, errors) = Overrides::from_environment(&|variable| match variable {
            "NANOBENCH_CONFIG" => Ok("epochs=51, min_epoch_time = 5ms,warmup=3,".to_owned()),
            "NANOBENCH_WARMUP" => Ok("4".to_owned()),
            _ => Err(VarError::NotPresent),
        });
        assert_eq!(errors, []);
        let expected = Overrides {
            epochs: Some(51),
            min_epoch_time: Some(Duration::from_millis(5)),
            warmup: Some(4),
            ..Overrides::default()
        };
        assert_eq!(overrides, expected);
    }

    #[test]
    fn one_bad_entry_does_not_stop_the_others() {
        let (overrides, errors) = Overrides::from_environment(&|variable| match variable {
            "NANOBENCH_CONFIG" => Ok("epochs=0,minEpochTime=5ms,max_time=5,warmup,precision=2%".to_owned()),
            _ => Err(VarError::NotPresent),
        });
        assert_eq!(overrides, Overrides { precision: Some(0.02), ..Overrides::default() });
        let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
        let starts = [
            "NANOBENCH_CONFIG: epochs: \"0\" should be at least 1",
            "NANOBENCH_CONFIG: \"minEpochTime=5ms\" should be the name of a setting",
            "NANOBENCH_CONFIG: max_time: \"5\" should be a number and a unit",
            "NANOBENCH_CONFIG: warmup: \"\" should be a whole number",
        ];
        assert_eq!(errors.len(), starts.len(), "{errors:?}");
        for (error, start) in errors.iter().zip(starts) {
            assert!(error.starts_with(start), "{error}");
        }
    }
}
