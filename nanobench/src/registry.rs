//! The benchmarks of a program: what `#[nanobench]` registers, and how it is found again.

use std::fmt;
use std::num::NonZeroUsize;

use crate::cases::{Case, Cases};
use crate::config::Overrides;
use crate::cpus;
use crate::printable::printable;
use crate::target::{Mode, Plain, Target, Visit};
use crate::threads;

/// One function under `#[nanobench]`, as the attribute registers it before `main` runs.
pub struct Entry {
    /// The function's name, or what `name = ".."` says instead.
    pub name: &'static str,
    /// `module_path!()` of the function.
    pub module_path: &'static str,
    /// `file!()` of the attribute.
    pub file: &'static str,
    /// `line!()` of the attribute.
    pub line: u32,
    /// `column!()` of the attribute.
    pub column: u32,
    /// Whether it is left out unless asked for.
    pub ignore: bool,
    /// Whether the other benchmarks of the module are compared with it.
    pub baseline: bool,
    /// Whether the cases are compared by how their cost grows with the argument.
    pub complexity: bool,
    /// With how many threads at once it is measured, by turns; 0 for as many as the program may use processors.
    pub threads: Option<fn() -> Vec<usize>>,
    /// The questions that the attribute asks, in the order of the answers. A function is compiled for throughput in any case
    /// and for latency if that is among them.
    pub modes: &'static [Mode],
    /// The settings that the attribute gives.
    pub settings: Option<fn() -> Overrides>,
    /// What was compiled for it.
    pub function: Function,
}

/// A function under the attribute, in the form in which it is registered: pointers to what was compiled for it.
pub enum Function {
    /// A function without inputs.
    Plain {
        /// Times so many calls.
        sample: fn(calls: u64) -> u64,
        /// The most calls of a sample.
        max_calls: u64,
    },
    /// A function with inputs. Making them runs user code.
    WithInputs(fn() -> Box<dyn Target>),
    /// A function that is several benchmarks. Finding out which runs user code.
    Cases(fn(&mut Cases)),
}

impl Function {
    /// What the benchmark does, for a function that is a single one.
    fn visit(&self, visit: Visit) {
        match *self {
            Self::Plain { sample, max_calls } => visit(&mut Plain { sample, max_calls }),
            Self::WithInputs(target) => visit(&mut *target()),
            Self::Cases(_) => unreachable!("each case is visited by itself"),
        }
    }
}

inventory::collect!(Entry);

/// What `threads` of the attribute says.
pub fn thread_counts(counts: impl IntoIterator<Item = usize>) -> Vec<usize> {
    counts.into_iter().collect()
}

/// A module under `#[nanobench::group]`, as the attribute registers it.
pub struct Group {
    /// `module_path!()` within the module.
    pub module_path: &'static str,
    /// `file!()` of the module.
    pub file: &'static str,
    /// `line!()` of the attribute.
    pub line: u32,
    /// Whether all benchmarks in it are left out unless asked for.
    pub ignore: bool,
    /// The settings that the attribute gives.
    pub settings: Option<fn() -> Overrides>,
}

inventory::collect!(Group);

impl Group {
    fn contains(&self, module_path: &str) -> bool {
        let rest = module_path.strip_prefix(self.module_path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    }

    /// Where the attribute stands.
    pub(crate) fn place(&self) -> Place {
        Place { file: self.file, line: self.line }
    }
}

impl Entry {
    /// The name by which the benchmark is filtered and reported: its path within the program, in a form that can be printed and
    /// so also typed.
    pub(crate) fn id(&self) -> String {
        let id = match self.module_path.split_once("::") {
            Some((_program, modules)) => format!("{modules}::{}", self.name),
            None => self.name.to_owned(),
        };
        printable(&id)
    }

    /// Whether the function was compiled for the mode.
    pub(crate) fn can_measure(&self, mode: Mode) -> bool {
        mode == Mode::Throughput || self.modes.contains(&mode)
    }

    /// Where the attribute stands.
    pub(crate) fn place(&self) -> Place {
        Place { file: self.file, line: self.line }
    }
}

/// Where in the source something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    file: &'static str,
    line: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Why the registered benchmarks cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RegistryError {
    /// Not one function is registered.
    Empty,
    /// Two functions go by one name.
    Duplicate { id: String, first: Place, second: Place },
    /// Two functions of one module are to be what the others are compared with.
    TwoBaselines { first: Place, second: Place },
}

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str(
                "no benchmark is registered. Either no function of this target carries #[nanobench], or they stand in a \
                 library that the linker dropped because nothing in the target refers to it: move them into the bench \
                 target itself, or `use` something of that library in it",
            ),
            Self::TwoBaselines { first, second } => write!(
                f,
                "two benchmarks of one module are its baseline: at {first} and at {second}. Leave `baseline` out of one, or put it \
                 into a module of its own",
            ),
            Self::Duplicate { id, first, second } => write!(
                f,
                "two benchmarks are named `{id}`: at {first} and at {second}. Give one of them another name, for example \
                 #[nanobench(name = \"..\")]",
            ),
        }
    }
}

/// A benchmark under its name.
pub(crate) struct Benchmark {
    pub(crate) id: String,
    pub(crate) entry: &'static Entry,
    /// The groups that it is in, from the outermost to the innermost.
    pub(crate) groups: Vec<&'static Group>,
    /// Which case of the function it is, and where in the list of cases it stands; none for a function that is a single benchmark.
    case: Option<(usize, Case)>,
    /// How many threads make the calls; none where it is not about threads.
    threads: Option<NonZeroUsize>,
}

impl Benchmark {
    /// Makes what is to be measured, or called once, and shows it to `visit`. That runs user code.
    pub(crate) fn visit(&self, visit: Visit) {
        let function = &self.entry.function;
        match (self.threads, &self.case, function) {
            (None, Some((_, case)), _) => case.visit(visit),
            (None, None, _) => function.visit(visit),
            // What a case has captured need not be fit for other threads, so each of them collects its own.
            (Some(threads), Some((index, _)), Function::Cases(collect)) => {
                threads::visit(threads, &|visit| Cases::of(*collect)[*index].visit(visit), visit);
            }
            (Some(threads), ..) => threads::visit(threads, &|visit| function.visit(visit), visit),
        }
    }

    /// Whether it is left out unless asked for.
    pub(crate) fn is_ignored(&self) -> bool {
        self.entry.ignore || self.groups.iter().any(|group| group.ignore)
    }

    /// Whether `other` is what this benchmark is to be compared with: the baseline of the same module, and of its cases the one
    /// of the same name, if there are several.
    pub(crate) fn has_baseline(&self, other: &Self) -> bool {
        let is_same_case = match (&self.case, &other.case) {
            (Some((_, case)), Some((_, baseline))) => case.name == baseline.name,
            (_, None) => true,
            (None, Some(_)) => false,
        };
        let is_same = is_same_case && self.threads == other.threads;
        other.entry.baseline && other.entry.module_path == self.entry.module_path && is_same
    }

    /// The name of the benchmark and all that differ from it in the argument only.
    pub(crate) fn series(&self) -> String {
        let prefix = self.case.as_ref().map_or("", |(_, case)| case.prefix.as_str());
        let id = self.entry.id();
        with_threads(&if prefix.is_empty() { id } else { printable(&format!("{id}/{prefix}")) }, self.threads)
    }

    /// The size of the case, where the attribute asks for the complexity.
    pub(crate) fn complexity_n(&self) -> Option<f64> {
        self.case.as_ref()?.1.n
    }
}

/// The name of a benchmark that is made by several threads.
fn with_threads(id: &str, threads: Option<NonZeroUsize>) -> String {
    threads.map_or_else(|| id.to_owned(), |threads| format!("{id}/threads={threads}"))
}

/// All benchmarks of this program, in the order in which they stand in the source. Functions with arguments are asked for these.
/// `threads` replaces what the attributes say of threads.
///
/// # Errors
///
/// If there are none, or two have the same name.
pub(crate) fn benchmarks(threads: Option<&[usize]>) -> Result<Vec<Benchmark>, RegistryError> {
    let groups: Vec<&Group> = inventory::iter::<Group>.into_iter().collect();
    in_source_order(inventory::iter::<Entry>.into_iter(), &groups, threads)
}

fn in_source_order(
    entries: impl Iterator<Item = &'static Entry>,
    groups: &[&'static Group],
    threads: Option<&[usize]>,
) -> Result<Vec<Benchmark>, RegistryError> {
    let mut entries: Vec<(String, &Entry)> = entries.map(|entry| (entry.id(), entry)).collect();
    if entries.is_empty() {
        return Err(RegistryError::Empty);
    }
    // Functions that one macro expands to share a line and a column; their names keep the order the same in every build.
    entries.sort_by(|(a_id, a), (b_id, b)| {
        let place = |entry: &Entry| (entry.file, entry.line, entry.column);
        place(a).cmp(&place(b)).then_with(|| a_id.cmp(b_id))
    });
    let mut benchmarks = Vec::new();
    let mut baselines: Vec<&Entry> = Vec::new();
    for (id, entry) in entries {
        let mut groups: Vec<&Group> =
            groups.iter().copied().filter(|group| group.contains(entry.module_path)).collect();
        groups.sort_by_key(|group| group.module_path.len());
        if entry.baseline {
            if let Some(first) = baselines.iter().find(|known| known.module_path == entry.module_path) {
                return Err(RegistryError::TwoBaselines { first: first.place(), second: entry.place() });
            }
            baselines.push(entry);
        }
        let mut counts = Vec::new();
        for count in threads.map(<[usize]>::to_vec).or_else(|| entry.threads.map(|counts| counts())).unwrap_or_default()
        {
            let count = NonZeroUsize::new(count).unwrap_or_else(cpus::parallelism);
            // As many as there are processors may be one of the other numbers.
            if !counts.contains(&Some(count)) {
                counts.push(Some(count));
            }
        }
        if counts.is_empty() {
            counts.push(None);
        }
        let cases: Vec<Option<(usize, Case)>> = match entry.function {
            Function::Cases(collect) => Cases::of(collect).into_iter().enumerate().map(Some).collect(),
            _ => vec![None],
        };
        for case in cases {
            let id = match &case {
                Some((_, case)) if !case.name.is_empty() => printable(&format!("{id}/{}", case.name)),
                _ => id.clone(),
            };
            benchmarks.extend(counts.iter().map(|&threads| Benchmark {
                id: with_threads(&id, threads),
                entry,
                groups: groups.clone(),
                case: case.clone(),
                threads,
            }));
        }
    }
    let mut first_with = std::collections::HashMap::new();
    for benchmark in &benchmarks {
        if let Some(first) = first_with.insert(&benchmark.id, benchmark.entry) {
            return Err(RegistryError::Duplicate {
                id: benchmark.id.clone(),
                first: first.place(),
                second: benchmark.entry.place(),
            });
        }
    }
    Ok(benchmarks)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn entry(name: &'static str, module_path: &'static str, line: u32) -> Entry {
        Entry {
            name,
            module_path,
            file: "benches/some.rs",
            line,
            column: 1,
            ignore: false,
            baseline: false,
            complexity: false,
            threads: None,
            modes: &[Mode::Throughput],
            settings: None,
            function: Function::Plain { sample: |_| 0, max_calls: 1 },
        }
    }

    #[test]
    fn benchmarks_come_in_source_order_whatever_the_linker_did() {
        static ENTRIES: [Entry; 3] = [entry("c", "some", 9), entry("a", "some::inner", 5), entry("b", "some", 1)];
        let benchmarks = in_source_order(ENTRIES.iter(), &[], None).unwrap();
        let ids: Vec<&str> = benchmarks.iter().map(|benchmark| benchmark.id.as_str()).collect();
        assert_eq!(ids, ["b", "inner::a", "c"]);
    }

    #[test]
    fn two_benchmarks_of_one_name_are_an_error_that_names_both_places() {
        static ENTRIES: [Entry; 3] = [entry("a", "some", 9), entry("a", "some::inner", 2), entry("a", "some", 4)];
        let error = in_source_order(ENTRIES.iter(), &[], None).err().unwrap().to_string();
        assert!(error.contains("`a`: at benches/some.rs:4 and at benches/some.rs:9"), "{error}");
    }

    #[test]
    fn groups_contain_the_modules_within_them_and_the_innermost_comes_last() {
        const fn group(module_path: &'static str) -> Group {
            Group { module_path, file: "benches/some.rs", line: 1, ignore: false, settings: None }
        }
        static ENTRIES: [Entry; 2] = [entry("a", "some::inner::most", 9), entry("b", "some::innermost", 10)];
        static GROUPS: [Group; 3] = [group("some::inner::most"), group("some::inner"), group("some::other")];
        let benchmarks = in_source_order(ENTRIES.iter(), &GROUPS.iter().collect::<Vec<_>>(), None).unwrap();
        let of = |index: usize| benchmarks[index].groups.iter().map(|group| group.module_path).collect::<Vec<_>>();
        assert_eq!(of(0), ["some::inner", "some::inner::most"]);
        assert!(of(1).is_empty());
    }

    #[test]
    fn a_module_has_one_baseline() {
        const fn baseline(name: &'static str, module_path: &'static str, line: u32) -> Entry {
            Entry { baseline: true, ..entry(name, module_path, line) }
        }
        static ENTRIES: [Entry; 2] = [baseline("a", "some::x", 3), baseline("b", "some::y", 4)];
        assert!(in_source_order(ENTRIES.iter(), &[], None).is_ok());
        static TWO: [Entry; 2] = [baseline("a", "some::x", 3), baseline("b", "some::x", 4)];
        let error = in_source_order(TWO.iter(), &[], None).err().unwrap().to_string();
        assert!(error.contains("at benches/some.rs:3 and at benches/some.rs:4"), "{error}");
    }

    #[test]
    fn no_benchmark_at_all_is_an_error_that_explains_why() {
        let error = in_source_order(std::iter::empty(), &[], None).err().unwrap().to_string();
        assert!(error.contains("#[nanobench]") && error.contains("linker"), "{error}");
    }
}
