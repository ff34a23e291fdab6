//! A module for the case `ui/pass/path_module.rs`.

#[nanobench::nanobench]
fn elsewhere() {}
