//! Every setting, as a literal and as an expression, has the name and the value that the engine reads.

#[path = "../registered.rs"]
mod registered;

use std::time::Duration;

use nanobench::nanobench;
use registered::settings;

#[nanobench(
    epochs = 51,
    clock_resolution_multiple = 500,
    min_epoch_time = "250us",
    max_epoch_time = "1.5 s",
    min_epoch_iterations = 2,
    epoch_iterations = 1_000,
    warmup = 10,
    precision = 0.005,
    max_time = "1 min",
    estimator = "leave-one-out",
    overhead = "subtract",
    unit = "byte",
    batch = 5_000_000_000
)]
fn literals() {}

const COUNT: u64 = 7;
const LENGTH: usize = 1 << 20;
const ESTIMATOR: nanobench::Estimator = nanobench::Estimator::Replay;
const OVERHEAD: nanobench::Overhead = nanobench::Overhead::Show;
const TIME: Duration = Duration::from_millis(3);

#[nanobench(
    epochs = COUNT * 3,
    clock_resolution_multiple = u64::from(3_u8),
    min_epoch_time = TIME,
    max_epoch_time = TIME * 2,
    min_epoch_iterations = u64::max(COUNT, 8),
    epoch_iterations = if COUNT < 3 { 1 } else { 0 },
    warmup = COUNT,
    precision = 1.0 / 3.0,
    max_time = Duration::MAX,
    estimator = ESTIMATOR.name(),
    overhead = OVERHEAD.name(),
    unit = format!("{COUNT} B"),
    batch = LENGTH + 1
)]
fn expressions() {}

#[nanobench(batch = 2.5, min_epoch_time = "250\u{b5}s", max_time = "100ns")]
fn others() {}

fn main() {
    assert_eq!(registered::count(), 3);

    let given = settings("literals");
    assert_eq!(given.epochs, Some(51));
    assert_eq!(given.clock_resolution_multiple, Some(500));
    assert_eq!(given.min_epoch_time, Some(Duration::from_micros(250)));
    assert_eq!(given.max_epoch_time, Some(Duration::from_millis(1_500)));
    assert_eq!(given.min_epoch_iterations, Some(2));
    assert_eq!(given.epoch_iterations, Some(1_000));
    assert_eq!(given.warmup, Some(10));
    assert_eq!(given.precision, Some(0.005));
    assert_eq!(given.max_time, Some(Duration::from_secs(60)));
    assert_eq!(given.estimator.as_deref(), Some("leave-one-out"));
    assert_eq!(given.overhead.as_deref(), Some("subtract"));
    assert_eq!(given.unit.as_deref(), Some("byte"));
    assert_eq!(given.batch, Some(5e9));

    let given = settings("expressions");
    assert_eq!(given.epochs, Some(21));
    assert_eq!(given.clock_resolution_multiple, Some(3));
    assert_eq!(given.min_epoch_time, Some(TIME));
    assert_eq!(given.max_epoch_time, Some(TIME * 2));
    assert_eq!(given.min_epoch_iterations, Some(8));
    assert_eq!(given.epoch_iterations, Some(0));
    assert_eq!(given.warmup, Some(7));
    assert_eq!(given.precision, Some(1.0 / 3.0));
    assert_eq!(given.max_time, Some(Duration::MAX));
    assert_eq!(given.estimator.as_deref(), Some("replay"));
    assert_eq!(given.overhead.as_deref(), Some("show"));
    assert_eq!(given.unit.as_deref(), Some("7 B"));
    assert_eq!(given.batch, Some(1_048_577.0));

    let given = settings("others");
    assert_eq!(given.batch, Some(2.5));
    assert_eq!(given.min_epoch_time, Some(Duration::from_micros(250)));
    assert_eq!(given.max_time, Some(Duration::from_nanos(100)));
    assert_eq!(given.epochs, None);
}
