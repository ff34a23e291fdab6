//! Tells the crate whether this compiler accepts inline assembly for PowerPC.
//!
//! Every other processor that the crate reads directly has had stable inline assembly since before the oldest supported
//! compiler. For PowerPC it came later (rust-lang/rust pull request 147996) and 1.95 is the first release known to have
//! it; older compilers get the operating system's clock there. A failure of any kind only means that clock, never a
//! failed build.

use std::process::Command;

/// The first minor version of Rust 1 known to accept `asm!` for PowerPC without a feature gate.
const FIRST_MINOR_VERSION_WITH_POWERPC_ASM: u32 = 95;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(nanobench_timer_powerpc64_asm)");
    let target_is_powerpc64 = std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "powerpc64");
    if target_is_powerpc64 && minor_version().is_some_and(|minor| minor >= FIRST_MINOR_VERSION_WITH_POWERPC_ASM) {
        println!("cargo::rustc-cfg=nanobench_timer_powerpc64_asm");
    }
}

/// `95` where the compiler calls itself `rustc 1.95.0 (...)`.
fn minor_version() -> Option<u32> {
    let output = Command::new(std::env::var_os("RUSTC")?).arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.strip_prefix("rustc 1.")?.split('.').next()?.parse().ok()
}
