//! What the compiler makes of a black box: no detour through memory, and nothing that should be measured is gone.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// Functions that each show one thing. Those from the standard library and those without a box show that the tests could fail.
const SOURCE: &str = r#"
use nanobench::{black_box, do_not_optimize_away, nanobench};

#[unsafe(no_mangle)]
pub extern "C" fn box_u8(x: u8) -> u8 {
    black_box(x)
}

#[unsafe(no_mangle)]
pub extern "C" fn box_u64(x: u64) -> u64 {
    black_box(x)
}

#[unsafe(no_mangle)]
pub extern "C" fn box_f32(x: f32) -> f32 {
    black_box(x)
}

#[unsafe(no_mangle)]
pub extern "C" fn box_f64(x: f64) -> f64 {
    black_box(x)
}

#[unsafe(no_mangle)]
pub extern "C" fn box_two_words(x: u64, y: usize) -> u64 {
    black_box((x, y)).0
}

#[unsafe(no_mangle)]
pub extern "C" fn box_of_std(x: u64) -> u64 {
    std::hint::black_box(x)
}

#[unsafe(no_mangle)]
pub extern "C" fn use_u16(x: u16) {
    do_not_optimize_away(x)
}

#[unsafe(no_mangle)]
pub extern "C" fn use_u64(x: u64) {
    do_not_optimize_away(x)
}

#[unsafe(no_mangle)]
pub extern "C" fn use_f32(x: f32) {
    do_not_optimize_away(x)
}

#[unsafe(no_mangle)]
pub extern "C" fn use_f64(x: f64) {
    do_not_optimize_away(x)
}

#[unsafe(no_mangle)]
pub extern "C" fn use_two_words(x: u64, y: usize) {
    do_not_optimize_away((x, y))
}

#[unsafe(no_mangle)]
pub extern "C" fn use_product(x: u64, y: u64) {
    do_not_optimize_away(x.wrapping_mul(y))
}

#[unsafe(no_mangle)]
pub extern "C" fn use_products_in_memory(x: u64, y: u64) {
    do_not_optimize_away([x.wrapping_mul(x), x.wrapping_mul(y), y.wrapping_mul(y)])
}

#[unsafe(no_mangle)]
pub extern "C" fn use_no_product(x: u64, y: u64) -> u64 {
    for _ in 0..x {
        let _ = power::<5>(y);
    }
    x
}

fn power<const MULTIPLICATIONS: usize>(mut x: u64) -> u64 {
    for _ in 0..MULTIPLICATIONS {
        x = x.wrapping_mul(x | 1);
    }
    x
}

#[nanobench]
fn plain() -> u64 {
    power::<5>(black_box(3))
}

#[nanobench(throughput, latency, inputs = [3, 5])]
fn with_inputs(x: u64) -> u64 {
    power::<7>(x)
}

#[nanobench(inputs = [3, 5])]
fn used_within(x: u64) {
    do_not_optimize_away(power::<11>(x));
}
"#;

/// A function in assembly: its instructions and the labels between them, without directives and comments.
struct Function {
    lines: Vec<String>,
    /// Whether there is inline assembly in it.
    has_box: bool,
}

impl Function {
    fn has_memory_operand(&self) -> bool {
        // As in `movq %rdi, -8(%rsp)` and `str x0, [sp, #8]`.
        self.lines.iter().any(|line| line.contains(['(', '[']))
    }

    fn multiplications(&self) -> usize {
        multiplications(&self.lines)
    }

    /// The multiplications in each loop: between a label and a jump back to it.
    fn multiplications_in_loops(&self) -> Vec<usize> {
        let mut loops = Vec::new();
        for (end, line) in self.lines.iter().enumerate() {
            let Some(target) = line.split_whitespace().last() else { continue };
            let begin = self.lines[..end].iter().position(|label| label.strip_suffix(':') == Some(target));
            loops.extend(begin.map(|begin| multiplications(&self.lines[begin..end])));
        }
        loops
    }
}

fn multiplications(lines: &[String]) -> usize {
    lines.iter().filter(|line| line.starts_with("imul") || line.starts_with("mul") || line.starts_with("madd")).count()
}

/// The functions of the fixture with their names, as a release build has them.
fn functions() -> &'static [(String, Function)] {
    static FUNCTIONS: OnceLock<Vec<(String, Function)>> = OnceLock::new();
    FUNCTIONS.get_or_init(|| parsed(&assembly()))
}

fn function(name: &str) -> &'static Function {
    // Some systems have an underscore before each name.
    let found = functions().iter().find(|(found, _)| found.strip_prefix('_').unwrap_or(found) == name);
    &found.unwrap_or_else(|| panic!("{name} is not in the assembly")).1
}

/// Compiles a package of its own, with the settings of a release build.
fn assembly() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this package is in a workspace");
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("assembly");
    // With one unit the assembly is one file.
    let manifest = format!(
        "[package]\nname = \"assembly\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
         [dependencies]\nnanobench = {{ path = {:?} }}\n\n[profile.release]\ncodegen-units = 1\n\n[workspace]\n",
        root.join("nanobench"),
    );
    fs::create_dir_all(directory.join("src")).expect("directories can be made");
    fs::write(directory.join("Cargo.toml"), manifest).expect("files can be written");
    // The new file makes cargo compile it again, so that the assembly cannot be that of an earlier test.
    fs::write(directory.join("src/lib.rs"), SOURCE).expect("files can be written");
    fs::copy(root.join("Cargo.lock"), directory.join("Cargo.lock")).expect("the lock file can be copied");

    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _value) in std::env::vars_os() {
        let text = name.to_string_lossy();
        // Flags such as those that count how often each line runs would add stores of their own.
        if text.ends_with("RUSTFLAGS") || text.ends_with("_TARGET_DIR") || text.starts_with("CARGO_PROFILE_") {
            command.env_remove(name);
        }
    }
    let file = directory.join("assembly.s");
    command.args(["rustc", "--offline", "--release", "--lib", "--", "--emit"]).arg(format!("asm={}", file.display()));
    command.env("CARGO_TARGET_DIR", directory.join("target")).current_dir(&directory);
    let output = command.output().expect("cargo can be run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    fs::read_to_string(file).expect("the compiler has written the assembly")
}

fn parsed(assembly: &str) -> Vec<(String, Function)> {
    let mut functions: Vec<(String, Function)> = Vec::new();
    for line in assembly.lines() {
        let line = line.trim_end();
        // The names of local labels begin so, and directives do.
        let is_local = line.starts_with(['.', 'L', ' ', '\t', '#', '/']);
        if let (false, Some(name)) = (is_local, line.strip_suffix(':')) {
            let name = name.trim_matches('"').to_owned();
            functions.push((name, Function { lines: Vec::new(), has_box: false }));
        } else if let Some((_, function)) = functions.last_mut() {
            let line = line.trim_start();
            let is_directive = line.starts_with('.') && !line.ends_with(':');
            let is_comment = line.starts_with("/*") || line.starts_with("//") || line.starts_with('#');
            function.has_box |= line.ends_with("NO_APP") || line.starts_with("; InlineAsm End");
            if !is_directive && !is_comment && !line.starts_with(';') && !line.is_empty() {
                function.lines.push(line.to_owned());
            }
        }
    }
    functions
}

/// Whether the assembly is of a kind that the tests can read; says so if not.
fn is_readable() -> bool {
    let is_known = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));
    if !is_known {
        eprintln!("skipped: the tests do not read the assembly of {}", std::env::consts::ARCH);
    }
    is_known
}

#[test]
fn a_black_box_keeps_what_fits_registers_out_of_memory() {
    if !is_readable() {
        return;
    }
    for name in ["box_u8", "box_u64", "box_f32", "box_f64", "box_two_words"] {
        let function = function(name);
        assert!(function.has_box && !function.has_memory_operand(), "{name}: {:#?}", function.lines);
    }
    assert!(function("box_of_std").has_memory_operand(), "{:#?}", function("box_of_std").lines);
}

#[test]
fn using_up_what_fits_registers_does_not_touch_memory() {
    if !is_readable() {
        return;
    }
    for name in ["use_u16", "use_u64", "use_f32", "use_f64", "use_two_words", "use_product"] {
        let function = function(name);
        assert!(function.has_box && !function.has_memory_operand(), "{name}: {:#?}", function.lines);
    }
}

#[test]
fn what_is_used_up_has_been_computed() {
    if !is_readable() {
        return;
    }
    for (name, expected) in [("use_product", 1), ("use_products_in_memory", 3), ("use_no_product", 0)] {
        let function = function(name);
        assert_eq!(function.multiplications(), expected, "{name}: {:#?}", function.lines);
    }
}

#[test]
fn the_loop_around_a_benchmark_makes_its_calls() {
    if !is_readable() {
        return;
    }
    let loops: Vec<usize> = functions().iter().flat_map(|(_, function)| function.multiplications_in_loops()).collect();
    // A loop may have been unrolled, and nothing else multiplies so often.
    let with = |multiplications| loops.iter().filter(|&&found| found > 0 && found % multiplications == 0).count();
    assert!(with(5) >= 1, "without inputs: {loops:?}");
    assert!(with(7) >= 2, "throughput and latency: {loops:?}");
    assert!(with(11) >= 1, "used up within: {loops:?}");
}
