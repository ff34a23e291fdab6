//! Pinning as a user of the crate sees it.

use nanobench_timer::affinity::{available_cpus, current_cpu, pin_to, suggested_cpu};

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
