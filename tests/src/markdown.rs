//! Tables that can be read in a terminal and pasted into an issue.

use std::fmt::Write as _;

/// On which side of its column a cell stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// For words.
    Left,
    /// For numbers, so that their decimal points are below each other.
    Right,
}

/// A table under construction.
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns and no rows.
    #[must_use]
    pub fn new(columns: &[(&str, Align)]) -> Self {
        let columns = columns.iter().map(|&(name, align)| (name.to_owned(), align)).collect();
        Self { columns, rows: Vec::new() }
    }

    /// Adds a row.
    ///
    /// # Panics
    ///
    /// If it has not as many cells as the table has columns.
    pub fn push(&mut self, cells: Vec<String>) {
        assert_eq!(cells.len(), self.columns.len(), "a cell for every column");
        self.rows.push(cells);
    }

    fn widths(&self) -> Vec<usize> {
        let cells = |column: usize| self.rows.iter().map(move |row| row[column].chars().count());
        let width =
            |(column, (name, _)): (usize, &(String, Align))| cells(column).fold(name.chars().count(), usize::max);
        self.columns.iter().enumerate().map(width).collect()
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let widths = self.widths();
        let names: Vec<String> = self.columns.iter().map(|(name, _)| name.clone()).collect();
        let rules: Vec<String> =
            self.columns.iter().zip(&widths).map(|((_, align), &width)| rule(*align, width)).collect();
        for cells in [&names, &rules].into_iter().chain(&self.rows) {
            let mut line = String::new();
            for ((cell, (_, align)), &width) in cells.iter().zip(&self.columns).zip(&widths) {
                // Writing to a string cannot fail.
                let _ = match align {
                    Align::Left => write!(line, "| {cell:<width$} "),
                    Align::Right => write!(line, "| {cell:>width$} "),
                };
            }
            writeln!(f, "{line}|")?;
        }
        Ok(())
    }
}

fn rule(align: Align, width: usize) -> String {
    let dashes = "-".repeat(width.saturating_sub(1));
    match align {
        Align::Left => format!(":{dashes}"),
        Align::Right => format!("{dashes}:"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(&[("row", Align::Left), ("±", Align::Right)]);
        table.push(vec!["imul_5".into(), "0.1".into()]);
        table.push(vec!["é".into(), "10.1".into()]);
        let expected = "| row    |    ± |\n| :----- | ---: |\n| imul_5 |  0.1 |\n| é      | 10.1 |\n";
        assert_eq!(table.to_string(), expected);
    }
}
