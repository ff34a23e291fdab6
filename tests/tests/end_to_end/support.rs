//! Runs the fixtures, and takes tables apart.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// The fixture of this name, ready to be given arguments.
macro_rules! fixture {
    ($name:literal) => {
        $crate::support::Program::new(env!(concat!("CARGO_BIN_EXE_fixture-", $name)))
    };
}
pub(crate) use fixture;

/// How long to wait for something that comes at once on a machine that is not busy with other things.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program about to be run.
pub(crate) struct Program(Command);

impl Program {
    /// The environment is the one of the tests without whatever could change what the program prints.
    pub(crate) fn new(path: &str) -> Self {
        let mut command = Command::new(path);
        for (name, _value) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("NANOBENCH_") {
                command.env_remove(name);
            }
        }
        for name in ["NO_COLOR", "RUST_BACKTRACE", "RUST_LIB_BACKTRACE"] {
            command.env_remove(name);
        }
        // What there is to say about this machine and this build is not what the tests are about.
        command.env("NANOBENCH_SUPPRESS_WARNINGS", "1");
        command.env("TERM", "xterm").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self(command)
    }

    /// Adds the words of `line` as arguments.
    pub(crate) fn args(mut self, line: &str) -> Self {
        self.0.args(line.split_whitespace());
        self
    }

    /// Adds one argument, which may have spaces in it.
    pub(crate) fn arg(mut self, argument: impl AsRef<std::ffi::OsStr>) -> Self {
        self.0.arg(argument);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.0.env(name, value);
        self
    }

    /// Sends standard output somewhere else than to the test.
    pub(crate) fn stdout(mut self, to: impl Into<Stdio>) -> Self {
        self.0.stdout(to);
        self
    }

    /// Runs the program to its end.
    pub(crate) fn run(mut self) -> Output {
        let output = self.0.output().expect("a fixture can be run");
        Output { stdout: text(output.stdout), stderr: text(output.stderr), code: output.status.code() }
    }

    /// Runs a measurement that is as short as it can be.
    pub(crate) fn measure(self, line: &str) -> Output {
        self.args("--bench --max-time 1ms").args(line).run()
    }

    /// Starts the program and leaves it running.
    pub(crate) fn start(mut self) -> Running {
        let mut child = self.0.stdin(Stdio::piped()).spawn().expect("a fixture can be run");
        let stdin = child.stdin.take();
        let stdout = Lines::of(child.stdout.take().expect("standard output is piped"));
        let stderr = Lines::of(child.stderr.take().expect("standard error is piped"));
        Running { child, stdin, stdout, stderr }
    }
}

/// What became of a program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Output {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// None if a signal ended it.
    pub(crate) code: Option<i32>,
}

impl Output {
    /// Fails unless the program ended with this code, and shows everything that it said.
    #[track_caller]
    pub(crate) fn exits_with(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// Fails unless the program ended well and said nothing on standard error.
    #[track_caller]
    pub(crate) fn succeeds(self) -> Self {
        assert_eq!(self.stderr, "", "{self:#?}");
        self.exits_with(0)
    }

    /// Fails unless the program printed nothing and said exactly this on standard error.
    #[track_caller]
    pub(crate) fn only_complains(self, code: i32, stderr: &str) {
        assert_eq!((self.stdout.as_str(), self.stderr.as_str(), self.code), ("", stderr, Some(code)));
    }

    /// The names of all rows of the table, with remarks about failures but not about the quality of the figures.
    pub(crate) fn rows(&self) -> Vec<String> {
        self.stdout.lines().filter(|line| is_row(line)).map(named).collect()
    }

    /// The benchmarks that ran once, with what became of each.
    pub(crate) fn verdicts(&self) -> Vec<&str> {
        let verdicts = self.stdout.lines().filter_map(|line| line.strip_prefix("test "));
        verdicts.filter(|line| line.contains(" ... ")).collect()
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("all output is UTF-8")
}

/// A program that may not end by itself. It is killed when the test is over.
pub(crate) struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    pub(crate) stdout: Lines,
    pub(crate) stderr: Lines,
}

impl Running {
    pub(crate) fn close_stdin(&mut self) {
        self.stdin = None;
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("a child can be asked").is_none()
    }

    /// Waits for the end of the program and returns its code and what it said on standard error meanwhile.
    pub(crate) fn wait(mut self) -> (Option<i32>, Vec<String>) {
        self.close_stdin();
        let stderr = self.stderr.rest();
        (self.child.wait().expect("a child can be waited for").code(), stderr)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself, and then there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The lines of a stream as they come. A thread reads each when it is asked for, so that a test can lose its patience.
pub(crate) struct Lines(Option<Reader>);

struct Reader {
    request: Sender<()>,
    response: Receiver<Option<String>>,
}

impl Lines {
    fn of(stream: impl Read + Send + 'static) -> Self {
        let (request, requests) = channel();
        let (responses, response) = channel();
        std::thread::spawn(move || {
            let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
            while requests.recv().is_ok() {
                // A test that has lost its patience does not want the line any more.
                let _ = responses.send(lines.next());
            }
        });
        Self(Some(Reader { request, response }))
    }

    /// The next line; none if the stream has ended.
    #[track_caller]
    pub(crate) fn next(&mut self) -> Option<String> {
        let Reader { request, response } = self.0.as_ref()?;
        request.send(()).expect("the thread lives as long as this");
        response.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no line came for {PATIENCE:?}"))
    }

    /// Reads no more, so that the program's next line has nobody to read it.
    pub(crate) fn close(&mut self) {
        self.0 = None;
    }

    /// Reads on to a line with `part` in it.
    #[track_caller]
    pub(crate) fn until(&mut self, part: &str) -> String {
        while let Some(line) = self.next() {
            if line.contains(part) {
                return line;
            }
        }
        panic!("the output ended without {part:?}");
    }

    /// All lines up to the end of the stream.
    #[track_caller]
    pub(crate) fn rest(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.next()).collect()
    }
}

/// The positions, in characters, of the bars between the cells of a line. A bar behind a backslash is part of a cell.
pub(crate) fn bars(line: &str) -> Vec<usize> {
    let mut before = ' ';
    let mut bars = Vec::new();
    for (position, c) in line.chars().enumerate() {
        if c == '|' && before != '\\' {
            bars.push(position);
        }
        before = c;
    }
    bars
}

/// Whether a line of a table holds figures, unlike the two lines of a header.
pub(crate) fn is_row(line: &str) -> bool {
    line.starts_with('|') && !line.starts_with("|--") && !line.ends_with("| benchmark")
}

/// The last cell of a row, which has a bar in front and none behind.
pub(crate) fn last_cell(row: &str) -> String {
    let begin = bars(row).last().map_or(0, |bar| bar + 2);
    row.chars().skip(begin).collect()
}

/// The last cell of a row, without a remark on how good the figures are: that is up to the machine. What is said of a benchmark
/// that has none is not.
fn named(row: &str) -> String {
    let cell = last_cell(row);
    if cell.starts_with(":boom:") {
        return cell;
    }
    let name = cell.strip_prefix(":wavy_dash: ").unwrap_or(&cell);
    let endings = [
        "`",
        "` latency",
        "` cold",
        "` repeated",
        "` latency cold",
        "` latency repeated",
        "` cold repeated",
        "` latency cold repeated",
    ];
    let without_remark =
        |ending| name.split_once(&format!("{ending} (")).map(|(name, _remark)| name.to_owned() + ending);
    endings.into_iter().find_map(without_remark).unwrap_or_else(|| name.to_owned())
}

/// A table with `#` for each figure, so that it is the same on every machine and still shows how wide the cells are.
pub(crate) fn masked(table: &str) -> String {
    let mut masked = String::new();
    for line in table.lines() {
        if is_row(line) {
            for cell in bars(line).windows(2) {
                masked += &format!("|{:>1$} ", "#", cell[1] - cell[0] - 2);
            }
            masked += &format!("| {}", named(line));
        } else {
            masked += line;
        }
        masked += "\n";
    }
    masked
}

/// Where in the source of a fixture the line with `part` stands, as the compiler names it.
#[track_caller]
pub(crate) fn place(fixture: &str, part: &str) -> String {
    let path = format!("{}/fixtures/{fixture}.rs", env!("CARGO_MANIFEST_DIR"));
    let source = std::fs::read_to_string(path).expect("the fixture can be read");
    let line = 1 + source.lines().position(|line| line.contains(part)).expect("the fixture has such a line");
    // The compiler runs in the root of the workspace.
    let path: std::path::PathBuf = ["tests", "fixtures", &format!("{fixture}.rs")].iter().collect();
    format!("{}:{line}", path.display())
}
