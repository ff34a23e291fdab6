use nanobench::nanobench;

#[nanobench(types = u8)]
fn value<T: Default>() -> T {
    T::default()
}

fn main() {}
