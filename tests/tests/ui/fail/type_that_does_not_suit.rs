use nanobench::nanobench;

struct Bare;

#[nanobench(types = [u8, Bare])]
fn value<T: Default>() -> T {
    T::default()
}

fn main() {}
