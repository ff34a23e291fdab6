//! What a sample calls, with which inputs, and when what it made is dropped.

use std::cell::{Cell, RefCell};
use std::fmt::Debug;

use super::*;

thread_local! {
    static SEEN: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
    static CHAINED: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
    static CALLS: Cell<u64> = const { Cell::new(0) };
    static LOG: RefCell<String> = const { RefCell::new(String::new()) };
}

#[test]
fn the_empty_loop_gets_the_inputs_and_drops_those_that_own_something_without_a_call() {
    struct Owning(&'static Cell<u64>);
    impl Clone for Owning {
        fn clone(&self) -> Self {
            self.0.set(self.0.get() + 1);
            Self(self.0)
        }
    }
    impl Drop for Owning {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1_000);
        }
    }
    impl PartialEq for Owning {
        fn eq(&self, _other: &Self) -> bool {
            true
        }
    }
    impl Debug for Owning {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("owning")
        }
    }
    let log: &'static Cell<u64> = Box::leak(Box::new(Cell::new(0)));
    let never = |_: &mut Vec<Owning>| -> u64 { panic!("the function is not called") };
    let mut target = Inputs::new([Owning(log), Owning(log)]).by_value(never, 100);
    target.sample_empty_loop(3, &[1, 0, 1]);
    assert_eq!(log.get(), 3_003);
    let never = |_: &mut Vec<&Owning>| -> u64 { panic!("the function is not called") };
    Inputs::new([Owning(log)]).by_reference::<Owning>(never, 100).sample_empty_loop(2, &[0, 0]);
    assert_eq!(log.get(), 4_003, "what is lent is not cloned");
}

#[test]
fn each_call_gets_the_input_that_the_order_names() {
    fn see(input: &'static str) {
        SEEN.with_borrow_mut(|seen| seen.push(input));
    }
    let mut target = Inputs::new(["a", "b", "c"]).by_value(|queue| sample(queue, see), 100);
    target.sample(Mode::Throughput, 4, &[2, 0, 0, 1]);
    SEEN.with_borrow(|seen| assert_eq!(*seen, ["c", "a", "a", "b"]));
}

#[test]
fn each_call_of_a_chain_gets_the_input_that_the_order_names_whatever_came_out_before() {
    fn see(input: u64) -> u8 {
        CHAINED.with_borrow_mut(|seen| seen.push(input));
        input as u8 ^ 0x5a
    }
    let values = [u64::MAX, 0, 1 << 63, 0x0123_4567_89ab_cdef];
    let mut target =
        Inputs::new(values).by_value_chained(|queue| sample(queue, see), |queue| sample_chained(queue, see), 2.0, 100);
    let order = [3, 0, 0, 2, 1, 3, 2];
    for mode in [Mode::Latency, Mode::Throughput] {
        target.sample(mode, 7, &order);
        let expected: Vec<u64> = order.iter().map(|&input| values[input as usize]).collect();
        assert_eq!(CHAINED.take(), expected, "{mode:?}");
    }
    assert_eq!(target.link_cycles(), 2.0);
}

#[test]
fn a_chain_goes_through_types_of_every_kind_of_register() {
    fn float(input: bool) -> f32 {
        if input { 1.5 } else { f32::NAN }
    }
    fn wide(input: f64) -> i128 {
        input as i128 - 1
    }
    fn letter(input: char) -> char {
        assert_eq!(input, 'é');
        'a'
    }
    fn signs(input: i128) -> bool {
        assert_eq!(input, -1);
        input < 0
    }
    let order = [0; 5];
    Inputs::new([true]).by_value_chained(|_| 0, |queue| sample_chained(queue, float), 2.0, 9).sample(
        Mode::Latency,
        5,
        &order,
    );
    Inputs::new([-1e30]).by_value_chained(|_| 0, |queue| sample_chained(queue, wide), 2.0, 9).sample(
        Mode::Latency,
        5,
        &order,
    );
    Inputs::new(['é']).by_value_chained(|_| 0, |queue| sample_chained(queue, letter), 2.0, 9).sample(
        Mode::Latency,
        5,
        &order,
    );
    Inputs::new([-1]).by_value_chained(|_| 0, |queue| sample_chained(queue, signs), 2.0, 9).sample(
        Mode::Latency,
        5,
        &order,
    );
}

#[test]
fn a_panicking_call_of_a_chain_leaves_the_target_usable() {
    fn not_zero(input: u8) -> u8 {
        assert_ne!(input, 0);
        input
    }
    let mut target = Inputs::new([0, 1]).by_value_chained(|_| 0, |queue| sample_chained(queue, not_zero), 2.0, 100);
    let panicked =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| target.sample(Mode::Latency, 3, &[1, 0, 0])));
    assert!(panicked.is_err());
    target.sample(Mode::Latency, 1, &[1]);
}

#[test]
#[should_panic(expected = "not compiled for latency")]
fn a_function_that_was_not_compiled_for_latency_does_not_give_another_figure_instead() {
    Inputs::new([1u8]).by_value(|_| 0, 100).sample(Mode::Latency, 1, &[0]);
}

#[test]
fn owned_inputs_are_cloned_afresh_for_each_call() {
    fn sort(mut values: Vec<i32>) -> Vec<i32> {
        assert_eq!(values, [2, 1]);
        values.sort_unstable();
        values
    }
    let mut target = Inputs::new([vec![2, 1]]).by_value(|queue| sample(queue, sort), 100);
    target.sample(Mode::Throughput, 3, &[0, 0, 0]);
    target.sample(Mode::Throughput, 1, &[0]);
}

#[test]
fn inputs_are_lent_as_what_they_borrow_as() {
    fn first_word(text: &str) -> &str {
        text.split(' ').next().unwrap_or(text)
    }
    let mut target = Inputs::new(["one two".to_owned()]).by_reference(|queue| sample(queue, first_word), 100);
    target.sample(Mode::Throughput, 2, &[0, 0]);
    fn is_five(number: &u32) {
        assert_eq!(*number, 5);
    }
    Inputs::new([5u32]).by_reference::<u32>(|queue| sample(queue, is_five), 100).sample(Mode::Throughput, 1, &[0]);
}

#[test]
fn a_function_without_inputs_is_called_as_often_as_asked() {
    fn count() {
        CALLS.set(CALLS.get() + 1);
    }
    let mut plain = Plain { sample: |calls| sample_plain(calls, count), max_calls: 9 };
    plain.sample(Mode::Throughput, 1_000, &[]);
    assert_eq!(CALLS.get(), 1_000);
}

#[test]
fn results_are_dropped_after_the_last_call() {
    struct Logged;
    impl Drop for Logged {
        fn drop(&mut self) {
            LOG.with_borrow_mut(|log| log.push('d'));
        }
    }
    let _ = sample_plain(3, || {
        LOG.with_borrow_mut(|log| log.push('c'));
        Logged
    });
    LOG.with_borrow(|log| assert_eq!(log, "cccddd"));
}

#[test]
fn a_panicking_call_leaves_the_target_usable() {
    fn only_one(values: Vec<u8>) {
        assert_eq!(values, [1]);
    }
    let mut target = Inputs::new([vec![1], vec![2]]).by_value(|queue| sample(queue, only_one), 100);
    let panicked =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| target.sample(Mode::Throughput, 3, &[0, 1, 0])));
    assert!(panicked.is_err());
    target.sample(Mode::Throughput, 1, &[0]);
}

#[test]
#[should_panic(expected = "`inputs` is empty")]
fn a_benchmark_needs_an_input() {
    Inputs::<u8>::new([]);
}

#[test]
fn samples_of_large_or_owning_values_are_short() {
    const OWNING: u64 = max_calls_plain(Vec::<u8>::new as fn() -> _);
    assert_eq!(OWNING, MAX_OWNING_CALLS);
    assert_eq!(max_calls_plain((|| 1) as fn() -> i32), u64::MAX);
    assert_eq!(max_calls((|x| x) as fn(u64) -> u64), 8_192);
    assert_eq!(max_calls((|_| ()) as fn([u8; 1_000_000])), 1);
    assert_eq!(max_calls((|text| text.len()) as fn(&'static str) -> usize), 4_096);
}
