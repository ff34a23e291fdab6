//! What `#[nanobench]` accepts, and what it says about what it does not: one file per case in `ui/pass` and `ui/fail`.
//!
//! The cases in `ui/fail` are mistakes that the attribute finds by itself, so that their messages do not change with the
//! compiler. `TRYBUILD=overwrite cargo test -p nanobench-tests --test ui` writes the messages anew.

#[test]
fn the_attribute_accepts_what_it_should_and_explains_what_it_does_not() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/pass/*.rs");
    cases.compile_fail("tests/ui/fail/*.rs");
}
