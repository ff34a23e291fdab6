//! Nothing is in scope but what the file itself brings in.

mod case {
    #![no_implicit_prelude]

    use ::nanobench::nanobench;

    #[nanobench]
    fn plain() {}

    #[nanobench(
        latency,
        throughput,
        inputs = [1, 2],
        by = |x| *x,
        epochs = 3,
        min_epoch_time = "1ms",
        precision = 0.1,
        unit = "byte",
        batch = 3usize
    )]
    fn by_value(x: u64) -> u64 {
        x
    }

    #[nanobench(inputs = ["a"])]
    fn by_reference(text: &str) -> usize {
        text.len()
    }
}

#[path = "../registered.rs"]
mod registered;

fn main() {
    assert_eq!(registered::count(), 3);
}
