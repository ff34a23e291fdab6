//! Collecting the mistakes of one attribute, so that all of them are reported together.

use syn::{Error, Result};

/// The mistakes found so far.
#[derive(Default)]
pub(crate) struct Errors(Option<Error>);

impl Errors {
    pub(crate) fn push(&mut self, error: Error) {
        match &mut self.0 {
            Some(first) => first.combine(error),
            none => *none = Some(error),
        }
    }

    /// Keeps the error of `result`, if it is one.
    pub(crate) fn keep<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// Gives `value` if nothing was wrong.
    pub(crate) fn or<T>(self, value: T) -> Result<T> {
        self.0.map_or(Ok(value), Err)
    }
}
