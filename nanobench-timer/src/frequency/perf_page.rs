//! What the Linux kernel says about the TSC in the page that it maps for a perf event.
//!
//! The kernel publishes the factors by which it turns the TSC into nanoseconds for programs that read counters
//! themselves (`struct perf_event_mmap_page` in `linux/perf_event.h`). It does so for software events as well, which
//! need no hardware counters and, restricted to user mode, no privileges. It does not when its scheduler keeps time
//! by another clock, as in guests with a paravirtual one.
//!
//! Opening the event usually takes some microseconds, but when nobody else has one, the kernel first waits until
//! every CPU has taken note, up to 20 ms.

#[cfg(all(target_arch = "x86_64", any(target_os = "linux", target_os = "android"), not(miri)))]
pub(crate) use linux::ticks_per_second;

/// Only Linux has such a page.
#[cfg(all(target_arch = "x86_64", not(any(target_os = "linux", target_os = "android")), not(miri)))]
pub(crate) fn ticks_per_second() -> Option<f64> {
    None
}

#[cfg(all(target_arch = "x86_64", any(target_os = "linux", target_os = "android"), not(miri)))]
mod linux {
    use std::mem::offset_of;
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
    use std::ptr;
    use std::sync::atomic::{AtomicU32, Ordering, fence};

    use crate::frequency::tables;

    /// The first published version of `struct perf_event_attr`, which every kernel with perf events understands.
    #[repr(C)]
    #[derive(Default)]
    struct EventAttributes {
        kind: u32,
        size: u32,
        config: u64,
        sample_period: u64,
        sample_type: u64,
        read_format: u64,
        flags: u64,
        wakeup_events: u32,
        breakpoint_type: u32,
        breakpoint_address: u64,
    }

    const PERF_TYPE_SOFTWARE: u32 = 1;
    /// An event that never happens. Older kernels do not know it and know the task clock instead.
    const PERF_COUNT_SW_DUMMY: u64 = 9;
    const PERF_COUNT_SW_TASK_CLOCK: u64 = 1;
    const FLAG_DISABLED: u64 = 1 << 0;
    const FLAG_EXCLUDE_KERNEL: u64 = 1 << 5;
    const FLAG_EXCLUDE_HYPERVISOR: u64 = 1 << 6;
    const PERF_FLAG_FD_CLOEXEC: libc::c_ulong = 1 << 3;

    /// The start of `struct perf_event_mmap_page`, as far as it is needed.
    #[repr(C)]
    struct EventPage {
        version: u32,
        compat_version: u32,
        lock: AtomicU32,
        index: u32,
        offset: i64,
        time_enabled: u64,
        time_running: u64,
        capabilities: u64,
        pmc_width: u16,
        time_shift: u16,
        time_mult: u32,
        time_offset: u64,
        time_zero: u64,
    }

    const _: () = assert!(size_of::<EventAttributes>() == 64);
    const _: () = assert!(offset_of!(EventPage, time_mult) == 52 && size_of::<EventPage>() == 72);

    /// `time_mult` and `time_shift` are valid, and so is the relation of the TSC to the kernel's clock.
    const CAP_USER_TIME_ZERO: u64 = 1 << 4;

    pub(crate) fn ticks_per_second() -> Option<f64> {
        let event = open_event(PERF_COUNT_SW_DUMMY).or_else(|| open_event(PERF_COUNT_SW_TASK_CLOCK))?;
        let page = MappedPage::of(&event)?;
        let (multiplier, shift) = page.scale()?;
        tables::hertz_from_scale(multiplier, shift)
    }

    fn open_event(config: u64) -> Option<OwnedFd> {
        let attributes = EventAttributes {
            kind: PERF_TYPE_SOFTWARE,
            size: size_of::<EventAttributes>() as u32,
            config,
            flags: FLAG_DISABLED | FLAG_EXCLUDE_KERNEL | FLAG_EXCLUDE_HYPERVISOR,
            ..EventAttributes::default()
        };
        let (this_thread, any_cpu, no_group) = (0, -1, -1);
        // SAFETY: the kernel only reads `attributes`, as many bytes of it as its `size` says.
        let result = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                &raw const attributes,
                this_thread as libc::pid_t,
                any_cpu as libc::c_int,
                no_group as libc::c_int,
                PERF_FLAG_FD_CLOEXEC,
            )
        };
        let descriptor = i32::try_from(result).ok().filter(|descriptor| *descriptor >= 0)?;
        // SAFETY: the kernel has just opened the descriptor and nobody else knows of it.
        Some(unsafe { OwnedFd::from_raw_fd(descriptor) })
    }

    struct MappedPage {
        address: *mut libc::c_void,
        length: usize,
    }

    impl MappedPage {
        fn of(event: &OwnedFd) -> Option<Self> {
            // SAFETY: sysconf only returns a number.
            let length = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()?;
            // SAFETY: a new mapping at an address of the kernel's choice affects no memory that is in use.
            let address =
                unsafe { libc::mmap(ptr::null_mut(), length, libc::PROT_READ, libc::MAP_SHARED, event.as_raw_fd(), 0) };
            (address != libc::MAP_FAILED).then_some(Self { address, length })
        }

        /// The multiplier and the shift, or `None` if the kernel does not offer them.
        fn scale(&self) -> Option<(u32, u16)> {
            let page: *const EventPage = self.address.cast();
            // The kernel makes `lock` odd or even larger while it writes, so fields belong together when it was the
            // same before and after they were read. A writer is done within a microsecond.
            for _ in 0..1000 {
                // SAFETY: the mapping is a page, which is aligned and longer than the struct, and lives as long as
                // `self`. The kernel may write while this reads, hence the atomic and volatile accesses through raw
                // pointers.
                let (before, capabilities, multiplier, shift, after) = unsafe {
                    let lock = &(*page).lock;
                    let before = lock.load(Ordering::Acquire);
                    let capabilities = ptr::read_volatile(&raw const (*page).capabilities);
                    let multiplier = ptr::read_volatile(&raw const (*page).time_mult);
                    let shift = ptr::read_volatile(&raw const (*page).time_shift);
                    fence(Ordering::Acquire);
                    (before, capabilities, multiplier, shift, lock.load(Ordering::Relaxed))
                };
                if before == after && before % 2 == 0 {
                    return (capabilities & CAP_USER_TIME_ZERO != 0).then_some((multiplier, shift));
                }
                std::hint::spin_loop();
            }
            None
        }
    }

    impl Drop for MappedPage {
        fn drop(&mut self) {
            // SAFETY: address and length are those of the mapping that this value owns, and nothing refers to it any
            // more. Should it fail, a page stays mapped until the process ends.
            unsafe { libc::munmap(self.address, self.length) };
        }
    }
}
