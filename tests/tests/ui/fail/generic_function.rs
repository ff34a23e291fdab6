//! Type and constant parameters, with and without a where clause.

use nanobench::nanobench;

#[nanobench]
fn of_a_type<T: Default>() -> T {
    T::default()
}

#[nanobench]
fn of_a_constant<const N: usize>() -> [u8; N] {
    [0; N]
}

#[nanobench(inputs = [1, 2])]
fn with_where_clause<'a, T>(x: &'a T) -> T
where
    T: Copy,
{
    *x
}

fn main() {}
