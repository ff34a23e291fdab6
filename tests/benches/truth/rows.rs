//! Runs a bench program and reads the rows that it writes as JSON Lines. `examples/spread.rs` shares this file.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader};
use std::process::{Command, ExitStatus, Stdio};

use tinyjson::JsonValue;

/// Measures with the program that `command` names and hands over every row as soon as it is there. Standard error goes where ours goes.
///
/// # Errors
///
/// If the program cannot be started, or writes something that is no JSON.
pub(crate) fn measure(
    mut command: Command,
    arguments: &[OsString],
    mut each_row: impl FnMut(&JsonValue),
) -> io::Result<ExitStatus> {
    command.args(["--bench", "--format", "jsonl"]).args(arguments).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn()?;
    let stdout = child.stdout.take().into_iter().flat_map(|stdout| BufReader::new(stdout).lines());
    for line in stdout {
        each_row(&line?.parse().map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?);
    }
    child.wait()
}

/// The text at the end of a path of members, or none where there is no such text.
pub(crate) fn text(row: &JsonValue, path: &[&str]) -> Option<String> {
    member(row, path)?.get::<String>().cloned()
}

/// The number at the end of a path of members, or none where there is no such number.
pub(crate) fn number(row: &JsonValue, path: &[&str]) -> Option<f64> {
    member(row, path)?.get::<f64>().copied()
}

/// Whether the value at the end of a path of members is true.
pub(crate) fn is_true(row: &JsonValue, path: &[&str]) -> bool {
    member(row, path).and_then(JsonValue::get::<bool>).copied().unwrap_or(false)
}

fn member<'a>(row: &'a JsonValue, path: &[&str]) -> Option<&'a JsonValue> {
    path.iter().try_fold(row, |value, &name| value.get::<std::collections::HashMap<String, JsonValue>>()?.get(name))
}
