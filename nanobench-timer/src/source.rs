//! The names of the clocks, and the reasons for not using the best of them.

use std::fmt;

/// Which clock is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ClockSource {
    /// The time stamp counter of x86-64, which counts at a constant rate close to the processor's base frequency. Its
    /// ticks are time, not core cycles.
    Tsc,
    /// The virtual counter of the generic timer of 64-bit Arm (`CNTVCT_EL0`), between 1 MHz and 1 GHz.
    GenericTimer,
    /// The `time` counter of RISC-V, usually between 1 MHz and 100 MHz.
    RiscvTime,
    /// The time base register of 64-bit PowerPC, usually 512 MHz.
    TimeBase,
    /// The monotonic clock of the operating system, counted in nanoseconds.
    OperatingSystem,
}

impl fmt::Display for ClockSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Tsc => "TSC",
            Self::GenericTimer => "generic timer",
            Self::RiscvTime => "time counter",
            Self::TimeBase => "time base",
            Self::OperatingSystem => "operating system's clock",
        })
    }
}

/// Why the operating system's clock is read where the processor's own counter could have been expected.
///
/// Its text fits after "because": it begins with a lower-case letter and has no full stop.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FallbackReason {
    /// The processor has no RDTSCP instruction, without which the end of a region cannot be read in order.
    NoRdtscp,
    /// The time stamp counter changes its rate or stops when the processor saves power.
    NotInvariant,
    /// The kernel itself does not keep time by the time stamp counter but by the clock named here. It knows more
    /// about the machine than the processor admits: counters that drift apart between sockets, or a hypervisor that
    /// intervenes.
    KernelClockSource(String),
    /// The process has been forbidden to read the time stamp counter (`PR_SET_TSC` of Linux).
    Forbidden,
    /// The compiler that built this crate does not accept inline assembly for this processor.
    CompilerTooOld,
    /// The program is being interpreted, not run by a processor.
    Interpreted,
}

impl fmt::Display for FallbackReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRdtscp => f.write_str("the processor has no RDTSCP instruction"),
            Self::NotInvariant => f.write_str("the TSC is not invariant"),
            Self::KernelClockSource(name) => write!(f, "the kernel's clock source is {name}, not the TSC"),
            Self::Forbidden => f.write_str("this process is not allowed to read the TSC"),
            Self::CompilerTooOld => {
                f.write_str("this compiler has no inline assembly for the processor (Rust 1.95 has)")
            }
            Self::Interpreted => f.write_str("the program is interpreted"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_names_can_be_padded_into_a_column() {
        assert_eq!(format!("{:>5}", ClockSource::Tsc), "  TSC");
    }

    #[test]
    fn a_kernel_clock_source_is_named_in_the_reason() {
        let reason = FallbackReason::KernelClockSource("hpet".to_owned());
        assert_eq!(reason.to_string(), "the kernel's clock source is hpet, not the TSC");
    }
}
