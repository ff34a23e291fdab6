//! The same name in two modules, and names that differ only in case.

#[path = "../registered.rs"]
mod registered;

mod a {
    #[nanobench::nanobench(name = "a::copy")]
    fn copy() {}
}

mod b {
    #[nanobench::nanobench(name = "b::copy")]
    fn copy() {}

    pub mod c {
        #[nanobench::nanobench]
        pub fn copy() {}
    }
}

#[nanobench::nanobench]
fn case() {}

#[nanobench::nanobench]
#[allow(non_snake_case)]
fn CASE() {}

fn main() {
    assert_eq!(registered::count(), 5);
    assert!(registered::entry("copy").module_path.ends_with("b::c"));
    assert!(registered::entry("case").line < registered::entry("CASE").line);
}
