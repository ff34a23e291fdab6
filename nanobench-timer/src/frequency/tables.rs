//! What the numbers in registers and files mean. Pure functions: who reads them is another matter.
// A processor needs one or two of these, while the tests run all of them everywhere.
#![cfg_attr(not(test), allow(dead_code, reason = "each processor uses only some"))]

/// Zero means "not stated".
pub(crate) fn hertz_from_kilohertz(kilohertz: u64) -> Option<f64> {
    (kilohertz != 0).then_some(kilohertz as f64 * 1e3)
}

/// CPUID leaf 15h: the TSC ticks `numerator / denominator` times while the crystal ticks once. Intel's manual (volume
/// 2, CPUID) lets the frequency of the crystal be zero, in which case nothing can be said without a list of models.
pub(crate) fn hertz_from_crystal(crystal_hertz: u32, numerator: u32, denominator: u32) -> Option<f64> {
    if crystal_hertz == 0 || numerator == 0 || denominator == 0 {
        return None;
    }
    Some(f64::from(crystal_hertz) * f64::from(numerator) / f64::from(denominator))
}

/// The kernel converts ticks to nanoseconds as `ticks * multiplier >> shift` (`linux/perf_event.h`).
pub(crate) fn hertz_from_scale(multiplier: u32, shift: u16) -> Option<f64> {
    if multiplier == 0 || shift > 63 {
        return None;
    }
    Some(1e9 * (1_u64 << shift) as f64 / f64::from(multiplier))
}

/// The content of `tsc_freq_khz`: a decimal number and a line feed.
pub(crate) fn hertz_from_kilohertz_file(text: &str) -> Option<f64> {
    hertz_from_kilohertz(text.trim().parse().ok()?)
}

/// The content of `timebase-frequency`: one big-endian cell of 32 bits, or two.
pub(crate) fn hertz_from_device_tree(cells: &[u8]) -> Option<f64> {
    let hertz = match cells.len() {
        4 => u64::from(u32::from_be_bytes(cells.try_into().ok()?)),
        8 => u64::from_be_bytes(cells.try_into().ok()?),
        _ => return None,
    };
    (hertz != 0).then_some(hertz as f64)
}

/// The line `timebase : 512000000` of `/proc/cpuinfo`.
pub(crate) fn hertz_from_cpu_info(text: &str) -> Option<f64> {
    let (_, value) = text.lines().filter_map(|line| line.split_once(':')).find(|(key, _)| key.trim() == "timebase")?;
    let hertz: u64 = value.trim().parse().ok()?;
    (hertz != 0).then_some(hertz as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crystal_times_its_ratio_is_the_frequency() {
        assert_eq!(hertz_from_crystal(24_000_000, 176, 2), Some(2.112e9));
        assert_eq!(hertz_from_crystal(38_400_000, 125, 2), Some(2.4e9));
    }

    #[test]
    fn a_crystal_with_a_blank_is_no_statement() {
        assert_eq!(hertz_from_crystal(0, 176, 2), None);
        assert_eq!(hertz_from_crystal(24_000_000, 0, 2), None);
        assert_eq!(hertz_from_crystal(24_000_000, 176, 0), None);
    }

    #[test]
    fn the_largest_ratio_does_not_overflow() {
        assert_eq!(hertz_from_crystal(u32::MAX, u32::MAX, 1), Some(f64::from(u32::MAX) * f64::from(u32::MAX)));
    }

    #[test]
    fn the_kernels_factors_give_the_frequency_back() {
        // The factors of a 2 GHz counter: half a nanosecond for each tick.
        assert_eq!(hertz_from_scale(1 << 30, 31), Some(2e9));
        assert_eq!(hertz_from_scale(0, 31), None);
        assert_eq!(hertz_from_scale(1, 64), None);
    }

    #[test]
    fn the_kilohertz_file_is_a_number_and_a_line_feed() {
        assert_eq!(hertz_from_kilohertz_file("2445426\n"), Some(2.445_426e9));
        for nonsense in ["", "\n", "0\n", "-1\n", "2.4 GHz\n", "99999999999999999999999\n"] {
            assert_eq!(hertz_from_kilohertz_file(nonsense), None, "{nonsense:?}");
        }
    }

    #[test]
    fn the_device_tree_has_one_cell_or_two() {
        assert_eq!(hertz_from_device_tree(&[0, 0x98, 0x96, 0x80]), Some(1e7));
        assert_eq!(hertz_from_device_tree(&[0, 0, 0, 0, 0, 0x98, 0x96, 0x80]), Some(1e7));
        assert_eq!(hertz_from_device_tree(&[0, 0, 0, 0]), None);
        assert_eq!(hertz_from_device_tree(&[1, 2, 3]), None);
        assert_eq!(hertz_from_device_tree(&[]), None);
    }

    #[test]
    fn the_time_base_stands_below_the_processors_in_cpu_info() {
        let text =
            "processor\t: 0\ncpu\t\t: POWER9, altivec supported\nclock\t\t: 2902.0MHz\n\ntimebase\t: 512000000\n";
        assert_eq!(hertz_from_cpu_info(text), Some(5.12e8));
        assert_eq!(hertz_from_cpu_info("processor\t: 0\nbogomips: 12\n"), None);
        assert_eq!(hertz_from_cpu_info("timebase\t: soon\n"), None);
    }
}
