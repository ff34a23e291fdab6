//! Pinning as a user of the crate sees it.

use std::panic::catch_unwind;

use nanobench_timer::affinity::{available_cpus, current_cpu, pin_to, set_available_cpus, suggested_cpu};
use nanobench_timer::resolution_ticks_over_cpus;

#[test]
fn a_pinned_thread_is_where_it_was_put() {
    for cpu in available_cpus() {
        let pinned = pin_to(cpu).unwrap();
        assert_eq!(pinned.cpu(), Some(cpu));
        assert_eq!(available_cpus(), [cpu]);
        // User-mode emulators answer this one themselves, without knowing.
        if let Some(current) = current_cpu().filter(|_| cfg!(target_arch = "x86_64")) {
            assert_eq!(current, cpu);
        }
    }
}

#[test]
fn dropping_the_guard_gives_all_cpus_back() {
    let before = available_cpus();
    if let Some(&cpu) = before.first() {
        drop(pin_to(cpu).unwrap());
    }
    assert_eq!(available_cpus(), before);
}

#[test]
fn a_panic_gives_all_cpus_back() {
    let before = available_cpus();
    let Some(&cpu) = before.first() else { return };
    let panicked = catch_unwind(|| {
        let _pinned = pin_to(cpu).unwrap();
        assert_eq!(available_cpus(), [cpu]);
        std::panic::panic_any("on one CPU");
    });
    assert_eq!(panicked.unwrap_err().downcast_ref(), Some(&"on one CPU"));
    assert_eq!(available_cpus(), before);
}

#[test]
fn measuring_the_resolution_on_all_cpus_gives_them_all_back() {
    let before = available_cpus();
    let resolution = resolution_ticks_over_cpus();
    assert_eq!(available_cpus(), before);
    assert!(resolution >= 1);
    assert_eq!(resolution_ticks_over_cpus(), resolution, "it is measured once");
}

#[test]
fn a_thread_takes_back_the_cpus_that_it_did_not_inherit() {
    let before = available_cpus();
    let Some(&cpu) = before.first() else {
        return set_available_cpus(&[0]).expect("a system that cannot pin does nothing");
    };
    let _pinned = pin_to(cpu).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            set_available_cpus(&before).unwrap();
            assert_eq!(available_cpus(), before);
        });
    });
    assert_eq!(available_cpus(), [cpu], "the others stay as they are");
}

#[test]
fn a_thread_cannot_be_restricted_to_no_cpu() {
    let before = available_cpus();
    for absent in [&[][..], &[usize::MAX], &[before.last().map_or(0, |last| last + 7000)]] {
        assert_eq!(set_available_cpus(absent).is_ok(), before.is_empty(), "{absent:?}");
    }
    assert_eq!(available_cpus(), before);
}

#[test]
fn guards_nest() {
    let before = available_cpus();
    if let (Some(&first), Some(&last)) = (before.first(), before.last()) {
        // The inner guard leaves only one CPU to choose from, so the outer one is the wider.
        let outer = pin_to(first).unwrap();
        {
            let inner = pin_to(last).unwrap();
            assert_eq!(inner.cpu(), Some(last));
        }
        assert_eq!(available_cpus(), [first]);
        drop(outer);
    }
    assert_eq!(available_cpus(), before);
}

#[test]
fn a_cpu_that_does_not_exist_is_an_error_that_names_those_that_do() {
    let before = available_cpus();
    for absent in [before.last().map_or(0, |last| last + 7000), usize::MAX] {
        match pin_to(absent) {
            Ok(pinned) => assert_eq!(pinned.cpu(), None, "only a system that cannot pin may accept CPU {absent}"),
            Err(error) => {
                let text = error.to_string();
                assert!(
                    text.starts_with(&format!("cannot keep this thread on CPU {absent}, it may use only ")),
                    "{text}"
                );
            }
        }
        assert_eq!(available_cpus(), before);
    }
}

#[test]
fn the_suggested_cpu_is_an_available_one() {
    match suggested_cpu() {
        Some(cpu) => assert!(available_cpus().contains(&cpu)),
        None => assert!(available_cpus().is_empty()),
    }
}

#[test]
fn pinning_one_thread_leaves_the_others_alone() {
    let before = available_cpus();
    std::thread::spawn(|| {
        if let Some(cpu) = suggested_cpu() {
            std::mem::forget(pin_to(cpu).unwrap());
        }
    })
    .join()
    .unwrap();
    assert_eq!(available_cpus(), before);
}
