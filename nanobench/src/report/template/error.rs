//! What can go wrong when a template is rendered.

use std::{error, fmt, io};

use crate::printable::printable;

/// What is wrong with a template, and where.
///
/// The position is that of the tag which is to blame. [`Display`](fmt::Display) shows all of it, as in
/// ``line 3, column 7: unknown tag 'X'``, with control characters spelt out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError {
    line: usize,
    column: usize,
    message: String,
}

impl TemplateError {
    /// An error at so many bytes from the beginning of the template.
    pub(super) fn new(template: &str, offset: usize, message: impl Into<String>) -> Self {
        let before = &template[..offset];
        let line_begin = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            line: 1 + before.matches('\n').count(),
            column: 1 + before[line_begin..].chars().count(),
            message: message.into(),
        }
    }

    /// The line of the tag. The first is 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line
    }

    /// The column of the tag's first brace, in characters. The first is 1.
    #[must_use]
    pub fn column(&self) -> usize {
        self.column
    }
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, printable(&self.message))
    }
}

impl error::Error for TemplateError {}

/// Why a template was not rendered.
#[derive(Debug)]
#[non_exhaustive]
pub enum RenderError {
    /// The template is wrong, or does not fit the results. Nothing was written.
    Template(TemplateError),
    /// The rendered text could not be written, or only a part of it.
    Io(io::Error),
}

impl fmt::Display for RenderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Template(error) => write!(f, "the template cannot be rendered: {error}"),
            Self::Io(error) => write!(f, "the rendered template cannot be written: {error}"),
        }
    }
}

impl error::Error for RenderError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Template(error) => Some(error),
            Self::Io(error) => Some(error),
        }
    }
}

impl From<TemplateError> for RenderError {
    fn from(error: TemplateError) -> Self {
        Self::Template(error)
    }
}

impl From<io::Error> for RenderError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_begin_at_one_and_count_characters() {
        let template = "a\né🦀{{x}}";
        let position = |offset| {
            let error = TemplateError::new(template, offset, "");
            (error.line(), error.column())
        };
        assert_eq!(position(0), (1, 1));
        assert_eq!(position(2), (2, 1));
        assert_eq!(position(template.find('{').unwrap()), (2, 3));
    }

    #[test]
    fn what_a_terminal_would_obey_is_spelt_out() {
        let error = RenderError::from(TemplateError::new("", 0, "unknown tag '\u{1b}[2J'"));
        let expected = "the template cannot be rendered: line 1, column 1: unknown tag '\\u{1b}[2J'";
        assert_eq!(error.to_string(), expected);
    }
}
