//! How many independent additions a core of this machine can make in a cycle, as far as earlier runs have shown.
//!
//! Where the width of the processor is not known, a run can only compare itself with its own best moments, and a run of
//! 50 ms may lie inside one disturbance. So the best that a kind of core has shown is kept in a small text file in the user's
//! cache directory. Without such a directory, or where it cannot be written, each run is on its own.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The file, below the cache directory: a line for each kind of core, the additions per cycle before its name.
const FILE: &str = "nanobench/core-width";

/// What no core is narrower or wider than.
const PLAUSIBLE: std::ops::RangeInclusive<f64> = 0.5..=16.0;

/// By how much two runs that had the core to themselves may differ, as a share.
const READING_ERROR: f64 = 0.05;

/// How much a run counts beside those before it that found about the same. The highest of many readings would be the one
/// that was most in error.
const NEW_SHARE: f64 = 0.1;

/// The width of one kind of core, and where it is kept.
#[derive(Debug)]
pub(crate) struct CoreWidth {
    path: Option<PathBuf>,
    core: String,
    adds_per_cycle: Option<f64>,
    has_changed: bool,
}

impl CoreWidth {
    /// What is known of the kind `core` in the cache directory, if there is one.
    pub(crate) fn recall(cache_directory: Option<PathBuf>, core: &str) -> Self {
        let path = cache_directory.map(|directory| directory.join(FILE));
        let core: String = core.chars().filter(|c| !c.is_control()).collect();
        let text = path.as_ref().and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
        let adds_per_cycle = lines(&text).find(|(_, name)| *name == core).map(|(adds_per_cycle, _)| adds_per_cycle);
        Self { path, core, adds_per_cycle, has_changed: false }
    }

    pub(crate) fn adds_per_cycle(&self) -> Option<f64> {
        self.adds_per_cycle
    }

    /// Takes note of the best that a run has sustained.
    pub(crate) fn learn(&mut self, adds_per_cycle: f64) {
        if !PLAUSIBLE.contains(&adds_per_cycle) {
            return;
        }
        let known = self.adds_per_cycle.unwrap_or(0.0);
        if adds_per_cycle > known * (1.0 + READING_ERROR) {
            self.adds_per_cycle = Some(adds_per_cycle);
            self.has_changed = true;
        } else if adds_per_cycle > known * (1.0 - READING_ERROR) {
            self.adds_per_cycle = Some(known + NEW_SHARE * (adds_per_cycle - known));
            self.has_changed = true;
        }
    }

    /// Keeps what was learned for the next run. Other programs see the old file or the new one, never a part of it.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub(crate) fn save(&self) -> io::Result<()> {
        let (Some(path), Some(adds_per_cycle), true) = (&self.path, self.adds_per_cycle, self.has_changed) else {
            return Ok(());
        };
        let old = fs::read_to_string(path).unwrap_or_default();
        let others = lines(&old).filter(|(_, name)| *name != self.core);
        let text: String = std::iter::once((adds_per_cycle, self.core.as_str()))
            .chain(others)
            .map(|(adds_per_cycle, name)| format!("{adds_per_cycle:.4} {name}\n"))
            .collect();
        write_whole(path, &text)
    }
}

/// The lines that make sense.
fn lines(text: &str) -> impl Iterator<Item = (f64, &str)> {
    text.lines().filter_map(|line| {
        let (number, name) = line.split_once(' ')?;
        let adds_per_cycle: f64 = number.parse().ok()?;
        PLAUSIBLE.contains(&adds_per_cycle).then_some((adds_per_cycle, name))
    })
}

fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    let unfinished = path.with_extension(format!("{}.tmp", std::process::id()));
    let written = fs::write(&unfinished, text).and_then(|()| fs::rename(&unfinished, path));
    if written.is_err() {
        // What is left of it helps nobody; the error that matters is the first.
        let _ = fs::remove_file(&unfinished);
    }
    written
}

/// The directory for what programs may forget, by the rules of the XDG Base Directory Specification, and on Windows where
/// programs keep local data.
pub(crate) fn cache_directory(variable: impl Fn(&str) -> Option<std::ffi::OsString>) -> Option<PathBuf> {
    let directory = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    directory("XDG_CACHE_HOME")
        .or_else(|| directory("HOME").map(|home| home.join(".cache")))
        .or_else(|| directory("LOCALAPPDATA"))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Directory(PathBuf);

    impl Directory {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("nanobench-core-width-{}-{name}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            Self(path)
        }

        fn recall(&self, core: &str) -> CoreWidth {
            CoreWidth::recall(Some(self.0.clone()), core)
        }
    }

    impl Drop for Directory {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn the_next_run_knows_what_this_one_has_learned() {
        let directory = Directory::new("next");
        let mut width = directory.recall("Some CPU, fast");
        assert_eq!(width.adds_per_cycle(), None);
        width.learn(3.9);
        width.save().unwrap();
        assert_eq!(directory.recall("Some CPU, fast").adds_per_cycle(), Some(3.9));
        assert_eq!(directory.recall("Some CPU, slow").adds_per_cycle(), None);
        let left: Vec<_> = fs::read_dir(directory.0.join("nanobench")).unwrap().collect();
        assert_eq!(left.len(), 1, "no unfinished file stays behind");
    }

    #[test]
    fn kinds_of_cores_do_not_forget_each_other() {
        let directory = Directory::new("kinds");
        for (core, adds_per_cycle) in [("fast", 5.0), ("slow", 3.0)] {
            let mut width = directory.recall(core);
            width.learn(adds_per_cycle);
            width.save().unwrap();
        }
        assert_eq!(directory.recall("fast").adds_per_cycle(), Some(5.0));
        assert_eq!(directory.recall("slow").adds_per_cycle(), Some(3.0));
    }

    #[test]
    fn a_disturbed_run_does_not_lower_what_is_known_and_a_lucky_one_hardly_raises_it() {
        let directory = Directory::new("disturbed");
        let mut width = directory.recall("core");
        width.learn(4.0);
        width.learn(2.1);
        assert_eq!(width.adds_per_cycle(), Some(4.0));
        width.learn(4.1);
        assert!((width.adds_per_cycle().unwrap() - 4.01).abs() < 1e-9);
        for nonsense in [f64::NAN, f64::INFINITY, 0.0, -1.0, 1e9] {
            width.learn(nonsense);
        }
        assert!((width.adds_per_cycle().unwrap() - 4.01).abs() < 1e-9);
    }

    #[test]
    fn a_damaged_file_is_read_as_far_as_it_makes_sense_and_mended() {
        let directory = Directory::new("damaged");
        fs::create_dir_all(directory.0.join("nanobench")).unwrap();
        let path = directory.0.join(FILE);
        fs::write(&path, "nonsense\nNaN core\n-3 core\n4.5 other\n3.5 core\n").unwrap();
        let mut width = directory.recall("core");
        assert_eq!(width.adds_per_cycle(), Some(3.5));
        width.learn(4.0);
        width.save().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "4.0000 core\n4.5000 other\n");
    }

    #[test]
    fn without_a_directory_nothing_is_kept_and_nothing_fails() {
        let mut width = CoreWidth::recall(None, "core");
        width.learn(4.0);
        width.save().unwrap();
        assert_eq!(width.adds_per_cycle(), Some(4.0));
    }

    #[test]
    fn a_file_that_cannot_be_written_is_an_error_that_leaves_the_old_one() {
        let directory = Directory::new("unwritable");
        fs::create_dir_all(directory.0.join(FILE)).unwrap();
        let mut width = directory.recall("core");
        width.learn(4.0);
        assert!(width.save().is_err());
        assert_eq!(fs::read_dir(directory.0.join("nanobench")).unwrap().count(), 1);
    }

    #[test]
    fn the_cache_directory_is_where_the_system_says() {
        let with = |set: &'static [(&str, &str)]| {
            cache_directory(move |name| set.iter().find(|(set, _)| *set == name).map(|(_, value)| value.into()))
        };
        let absolute = if cfg!(windows) { "C:\\cache" } else { "/cache" };
        assert_eq!(cache_directory(|name| (name == "XDG_CACHE_HOME").then(|| absolute.into())), Some(absolute.into()));
        assert_eq!(
            cache_directory(|name| (name == "HOME").then(|| absolute.into())),
            Some(Path::new(absolute).join(".cache"))
        );
        assert_eq!(with(&[("XDG_CACHE_HOME", "relative")]), None, "the specification says to ignore these");
        assert_eq!(with(&[]), None);
    }
}
