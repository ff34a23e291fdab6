//! What the packages of the workspace must have in common.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this package is in a workspace")
}

/// The members of the workspace, as the list in its manifest has them.
fn members() -> Vec<PathBuf> {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let (_, list) = manifest.split_once("members = [").expect("the workspace lists its members");
    let (list, _) = list.split_once(']').unwrap();
    let names: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
    assert!(names.len() >= 5, "{names:?}");
    names.into_iter().map(|name| root().join(name)).collect()
}

/// The lines of each table with this header in the manifest of a package.
fn tables(package: &Path, header: &str) -> Vec<Vec<String>> {
    let manifest = fs::read_to_string(package.join("Cargo.toml")).unwrap();
    let mut tables = Vec::new();
    let mut is_inside = false;
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            is_inside = line == header;
            if is_inside {
                tables.push(Vec::new());
            }
        } else if is_inside {
            tables.last_mut().expect("its header came before").push(line.to_owned());
        }
    }
    tables
}

fn has(table: &[String], line: &str) -> bool {
    table.iter().any(|other| other == line)
}

/// Otherwise `cargo bench -- --some-option` would give the option to the standard harness of the library, which refuses it.
#[test]
fn no_library_has_a_bench_target_of_the_standard_harness() {
    for package in members().into_iter().filter(|package| package.join("src/lib.rs").exists()) {
        let libraries = tables(&package, "[lib]");
        assert!(libraries.iter().any(|table| has(table, "bench = false")), "[lib] in {}", package.display());
    }
}

#[test]
fn every_bench_target_brings_its_own_harness() {
    for package in members() {
        for table in tables(&package, "[[bench]]") {
            assert!(has(&table, "harness = false"), "{table:?} in {}", package.display());
        }
    }
}

#[test]
fn every_fixture_is_a_program_that_cargo_test_and_cargo_bench_leave_alone() {
    let package = root().join("tests");
    let files = fs::read_dir(package.join("fixtures")).unwrap().map(|entry| entry.unwrap().file_name());
    let files: BTreeSet<String> = files.map(|name| format!("path = \"fixtures/{}\"", name.to_str().unwrap())).collect();
    let programs = tables(&package, "[[bin]]");
    let declared = programs.iter().flatten().filter(|line| line.starts_with("path")).cloned().collect();
    assert_eq!(files, declared);
    for table in programs {
        assert!(has(&table, "test = false") && has(&table, "bench = false"), "{table:?}");
    }
}
