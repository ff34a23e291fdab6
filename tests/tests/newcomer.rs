//! The first minutes with this project: what the README says, done to the letter in a package of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

const HEADING: &str = "Your first benchmark";

/// The root of the workspace.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this package is in a workspace")
}

/// What the README tells a newcomer to write.
struct Instructions {
    /// For `Cargo.toml`.
    manifest: String,
    /// For the bench target.
    source: String,
}

impl Instructions {
    fn read() -> Self {
        let readme = fs::read_to_string(root().join("README.md")).expect("there is a README");
        let manifest = blocks(&readme, "toml").into_iter().find(|block| block.contains("[dev-dependencies]"));
        let chapter = after_heading(&readme).unwrap_or_else(|| panic!("the README has no heading {HEADING:?}"));
        let source = blocks(chapter, "rust").into_iter().next();
        Self {
            manifest: manifest.expect("the README has a toml block with [dev-dependencies]"),
            source: source.unwrap_or_else(|| panic!("there is no rust block after the heading {HEADING:?}")),
        }
    }

    /// The name of the bench target.
    fn target(&self) -> &str {
        let (_, bench) = self.manifest.split_once("[[bench]]").expect("the toml block declares a bench target");
        bench.split('"').nth(1).expect("the bench target has a name")
    }

    /// The names of the functions under the attribute.
    fn benchmarks(&self) -> Vec<&str> {
        let functions = self.source.split("#[nanobench").skip(1).filter_map(|after| after.split_once("fn "));
        functions.map(|(_, function)| function.split('(').next().unwrap_or_default()).collect()
    }
}

fn after_heading(markdown: &str) -> Option<&str> {
    let heading =
        markdown.lines().find(|line| line.starts_with('#') && line.trim_start_matches('#').trim() == HEADING)?;
    markdown.split_once(heading).map(|(_, after)| after)
}

/// The contents of all fenced blocks in a language, which a comma or a space may separate from other words.
fn blocks(markdown: &str, language: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut lines = markdown.lines();
    while let Some(line) = lines.next() {
        if let Some(info) = line.strip_prefix("```") {
            let block: String =
                lines.by_ref().take_while(|line| *line != "```").flat_map(|line| [line, "\n"]).collect();
            if info.split([',', ' ']).next() == Some(language) {
                blocks.push(block);
            }
        }
    }
    blocks
}

/// A package that a newcomer has made, with a library and its own target directory.
struct Project {
    directory: PathBuf,
    instructions: Instructions,
}

impl Project {
    /// There is one project for all tests, so that nanobench is compiled once.
    fn get() -> &'static Self {
        static PROJECT: OnceLock<Project> = OnceLock::new();
        PROJECT.get_or_init(Self::new)
    }

    fn new() -> Self {
        let instructions = Instructions::read();
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("newcomer");
        let library = if instructions.manifest.contains("[lib]") { "" } else { "[lib]\nbench = false\n" };
        // The version that the README asks for is this one before it is published. The lock file names packages that a
        // build of the workspace has already fetched.
        let manifest = format!(
            "[package]\nname = \"newcomer\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n{library}\n{}\n\
             [patch.crates-io]\nnanobench = {{ path = {:?} }}\n\n[workspace]\n",
            instructions.manifest,
            root().join("nanobench"),
        );
        let bench = format!("benches/{}.rs", instructions.target());
        // What an earlier README said would be one more bench target. That there is none is no error.
        let _ = fs::remove_dir_all(directory.join("benches"));
        for (file, content) in [
            ("Cargo.toml", manifest.as_str()),
            ("src/lib.rs", "#[test]\nfn the_library_has_a_test() {}\n"),
            (&bench, &instructions.source),
        ] {
            let path = directory.join(file);
            fs::create_dir_all(path.parent().expect("files are in a directory")).expect("directories can be made");
            fs::write(path, content).expect("files can be written");
        }
        fs::copy(root().join("Cargo.lock"), directory.join("Cargo.lock")).expect("the lock file can be copied");
        Self { directory, instructions }
    }

    fn cargo(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        for (name, _value) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("NANOBENCH_") || text.ends_with("_TARGET_DIR") || text == "NO_COLOR" {
                command.env_remove(name);
            }
        }
        command.args(arguments).env("CARGO_TARGET_DIR", self.directory.join("target")).current_dir(&self.directory);
        command.output().expect("cargo can be run")
    }

    /// What the programs print that cargo runs.
    #[track_caller]
    fn printed(&self, arguments: &[&str]) -> String {
        let output = self.cargo(arguments);
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        assert!(
            output.status.success() && !stderr.contains("warning: `newcomer`"),
            "{arguments:?}: {stderr}\n{stdout}"
        );
        stdout
    }
}

#[track_caller]
fn has_the_rows_of(table: &str, benchmarks: &[&str]) {
    assert!(!benchmarks.is_empty());
    for benchmark in benchmarks {
        let name = format!("`{benchmark}`");
        assert!(table.lines().any(|line| line.starts_with('|') && line.contains(&name)), "{name} in {table}");
    }
}

#[test]
fn the_readme_leads_to_a_table_with_the_benchmark() {
    let project = Project::get();
    has_the_rows_of(&project.printed(&["bench", "--offline"]), &project.instructions.benchmarks());
}

#[test]
fn options_reach_the_benchmark_and_no_other_program() {
    let project = Project::get();
    let table = project.printed(&["bench", "--offline", "--", "--quiet", "--max-time", "5ms"]);
    assert!(table.starts_with("\n|"), "{table}");
    has_the_rows_of(&table, &project.instructions.benchmarks());
}

#[test]
fn the_benchmark_runs_as_a_test_too() {
    let project = Project::get();
    let printed = project.printed(&["test", "--offline", "--benches"]);
    for benchmark in project.instructions.benchmarks() {
        assert!(printed.contains(&format!("\ntest {benchmark} ... ok\n")), "{printed}");
    }
}
