//! Local items that have the names of what the expansion needs.

#![allow(dead_code, non_camel_case_types, unused_macros)]

mod case {
    use ::nanobench::nanobench as measured;

    mod std {}
    mod core {}
    mod nanobench {}
    mod inventory {}
    mod alloc {}

    struct Option;
    struct Some;
    struct None;
    struct String;
    struct Entry;
    struct Overrides;
    struct Inputs;
    struct Box;
    struct u64;
    struct f32;
    trait Default {}
    trait Into {}
    fn plain() {}
    macro_rules! shadow {
        ($($name:ident)*) => { $(macro_rules! $name { () => { compile_error!("shadowed") }; })* };
    }
    shadow!(module_path file line column submit);

    #[measured]
    pub fn no_input() {}

    #[measured(
        latency,
        throughput,
        inputs = [1, 2],
        by = |x| *x,
        epochs = 3,
        max_time = "1ms",
        unit = "byte",
        batch = ::core::primitive::u64::MAX
    )]
    pub fn by_value(x: i32) -> i32 {
        x
    }

    #[measured(inputs = ["a"])]
    pub fn by_reference(text: &str) -> usize {
        text.len()
    }

    #[measured(inputs = [1])]
    fn input(function: i32) -> i32 {
        function
    }

    #[measured(inputs = [1])]
    fn target(settings: i32) -> i32 {
        settings
    }

    #[measured]
    fn new() {}
}

#[path = "../registered.rs"]
mod registered;

fn main() {
    assert_eq!(registered::count(), 6);
}
