//! Functions within the bodies of functions, of methods and of constants.

#[path = "../registered.rs"]
mod registered;

use nanobench::nanobench;

#[nanobench]
fn outer() -> u64 {
    #[nanobench(inputs = [1, 2], epochs = 3)]
    fn inner(x: u64) -> u64 {
        #[nanobench]
        fn innermost() {}

        innermost();
        x
    }
    inner(1)
}

fn generic<T: Default>() -> T {
    #[nanobench]
    fn within_generic() {}

    T::default()
}

struct S;

impl S {
    fn method(&self) {
        #[nanobench]
        fn within_method() {}
    }
}

const _: () = {
    #[nanobench]
    fn within_constant() {}
};

fn main() {
    assert_eq!(registered::count(), 6);
    assert_eq!(outer() + generic::<u64>(), 1);
    S.method();
}
