//! What the attribute has registered in a case of `ui/pass`.

use nanobench::__private::{Cases, Entry, Function, Overrides, inventory};

/// The one benchmark of this name.
pub fn entry(name: &str) -> &'static Entry {
    let found: Vec<_> = inventory::iter::<Entry>.into_iter().filter(|entry| entry.name == name).collect();
    assert_eq!(found.len(), 1, "benchmarks named {name}");
    found[0]
}

/// The settings of the one benchmark of this name.
#[allow(dead_code)]
pub fn settings(name: &str) -> Overrides {
    entry(name).settings.expect("the attribute gives settings")()
}

/// How many benchmarks there are. By then, each with inputs has made them and its target, and each without has been called.
pub fn count() -> usize {
    let try_out = |entry: &Entry| match entry.function {
        Function::Plain { sample, .. } => _ = sample(2),
        Function::WithInputs(target) => drop(target()),
        Function::Cases(collect) => collect(&mut Cases::default()),
    };
    inventory::iter::<Entry>.into_iter().map(try_out).count()
}
