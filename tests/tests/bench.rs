//! What a program sees of `Bench`.

use std::cell::{Cell, RefCell};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::Duration;

use nanobench::{Bench, Column, Measure, Outcome, black_box, templates};

/// A writer whose text can be looked at.
#[derive(Clone, Default)]
struct Shared(Rc<RefCell<Vec<u8>>>);

impl Shared {
    fn text(&self) -> String {
        String::from_utf8(self.0.borrow().clone()).unwrap()
    }
}

impl io::Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// As short as it can be.
fn quick() -> Bench {
    let mut bench = Bench::new();
    bench.no_output().max_time(Duration::from_millis(1)).epochs(3);
    bench
}

#[test]
fn an_exact_number_of_iterations_is_what_each_epoch_makes_with_and_without_warmup() {
    for warmup in [0, 7] {
        let calls = Cell::new(0u64);
        let mut bench = quick();
        bench.epoch_iterations(100).warmup(warmup).run("counted", || calls.set(calls.get() + 1));
        let measurement = &bench.results()[0];
        assert!(measurement.epochs().iter().all(|epoch| epoch.iterations == 100));
        assert_eq!(calls.get(), warmup + 100 * measurement.epochs().len() as u64);
        assert_eq!(measurement.sum(Measure::Iterations), Some((calls.get() - warmup) as f64));
    }
}

#[test]
fn an_epoch_makes_no_fewer_iterations_than_the_least() {
    let mut bench = quick();
    bench.min_epoch_iterations(5_000).run("nothing", || black_box(1));
    assert!(bench.results()[0].minimum(Measure::Iterations) >= Some(5_000.0));
}

#[test]
fn results_stay_until_the_title_or_the_unit_changes() {
    let mut bench = quick();
    bench.title("a").unit("byte").run("one", || ()).run("two", || ());
    assert_eq!(bench.results().iter().map(|result| result.name().to_owned()).collect::<Vec<_>>(), ["one", "two"]);
    bench.title("a").unit("byte");
    assert_eq!(bench.results().len(), 2, "the same again is no change");
    bench.unit("word");
    assert!(bench.results().is_empty());
    bench.run("three", || ()).title("b");
    assert!(bench.results().is_empty());
}

#[test]
fn without_an_output_nothing_is_written_and_with_one_a_row_for_each_run() {
    let written = Shared::default();
    let mut bench = quick();
    bench.output(written.clone()).run("shown", || ()).no_output().run("hidden", || ());
    let text = written.text();
    assert!(text.contains("`shown`") && !text.contains("hidden"), "{text}");
    assert_eq!(bench.results().len(), 2);
}

#[test]
fn every_line_of_a_table_has_as_many_columns() {
    let written = Shared::default();
    let mut bench = quick();
    bench.output(written.clone()).relative(true).complexity_n(10.0).context("day", "monday").context_column("day");
    bench.run("a", || ()).run("b | c", || ()).hide_column(Column::Rate).run("d", || ());
    let text = written.text();
    let tables: Vec<&str> = text.split("\n\n").collect();
    assert_eq!(tables.len(), 2, "{text}");
    for table in tables {
        let columns = |line: &str| line.replace("\\|", "").matches('|').count();
        let lines: Vec<&str> = table.trim().lines().collect();
        assert!(lines.iter().all(|line| columns(line) == columns(lines[0])), "{table}");
    }
    assert!(text.contains("monday"), "{text}");
    assert!(!bench.is_column_visible(Column::Rate) && bench.is_column_visible(Column::Time));
    bench.show_column(Column::Rate);
    assert!(bench.is_column_visible(Column::Rate));
}

#[test]
fn an_output_that_fails_is_remembered_and_measuring_goes_on() {
    struct Full;
    impl io::Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut bench = quick();
    bench.output(Full).run("a", || ()).run("b", || ());
    assert_eq!(bench.output_error().map(io::Error::kind), Some(io::ErrorKind::StorageFull));
    assert_eq!(bench.results().len(), 2);
}

#[test]
fn a_panic_goes_on_to_the_caller_and_costs_no_results() {
    let mut bench = quick();
    bench.run("fine", || ());
    let run = || {
        bench.run("bad", || panic!("no luck"));
    };
    assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
    bench.run("fine again", || ());
    assert_eq!(bench.results().len(), 2);
}

#[test]
fn a_setting_out_of_range_is_refused_where_it_is_made() {
    let panics = |set: fn(&mut Bench)| {
        let error = catch_unwind(|| set(&mut Bench::new())).unwrap_err();
        error.downcast_ref::<String>().cloned().unwrap_or_default()
    };
    assert_eq!(panics(|bench| _ = bench.epochs(0)), "epochs should be at least 1");
    assert_eq!(panics(|bench| _ = bench.batch(0.0)), "batch should be a number above zero, such as 1024");
    assert!(panics(|bench| _ = bench.precision(f64::NAN)).starts_with("precision should be a share"));
    assert!(panics(|bench| _ = bench.unit("a\nb")).starts_with("unit should be a name"));
    assert!(panics(|bench| _ = bench.max_time(Duration::ZERO)).starts_with("max_time should be"));
}

#[test]
fn settings_can_be_taken_over() {
    let mut first = quick();
    first.title("first").unit("byte").batch(8.0).relative(true).context("a", "1").context("a", "2");
    let mut second = Bench::new();
    second.set_config(first.config().clone());
    assert_eq!(second.config(), first.config());
    assert_eq!(second.config().context, [("a".to_owned(), "2".to_owned())]);
    second.clear_context();
    assert!(second.config().context.is_empty());
}

#[test]
fn a_setup_runs_once_an_epoch() {
    let made = Cell::new(0);
    let mut bench = quick();
    let make = || made.set(made.get() + 1);
    bench.epoch_iterations(50).setup(make).run("with state", |()| ());
    assert_eq!(made.get(), bench.results()[0].epochs().len());
}

#[test]
fn every_call_gets_an_input_of_its_own() {
    let made = Cell::new(0u64);
    let make = || {
        made.set(made.get() + 1);
        vec![made.get()]
    };
    let mut bench = quick();
    bench.epoch_iterations(40);
    let mut last = 0;
    bench.with_inputs(make).run_values("by value", |input| {
        assert_eq!(input[0], last + 1);
        last = input[0];
        input
    });
    bench.with_inputs(make).run_refs("by reference", |input| {
        assert_eq!(input.len(), 1);
        input.push(0);
    });
    let calls: f64 = bench.results().iter().filter_map(|result| result.sum(Measure::Iterations)).sum();
    assert_eq!(made.get() as f64, calls);
}

#[test]
fn statistics_are_those_of_the_epochs() {
    let mut bench = quick();
    bench.run("something", || (0..100u64).map(black_box).sum::<u64>());
    let measurement = &bench.results()[0];
    let elapsed: Vec<f64> = measurement.values(Measure::Elapsed).collect();
    let mut sorted = elapsed.clone();
    sorted.sort_by(f64::total_cmp);
    assert_eq!(measurement.minimum(Measure::Elapsed), Some(sorted[0]));
    assert_eq!(measurement.maximum(Measure::Elapsed), sorted.last().copied());
    assert_eq!(measurement.sum(Measure::Elapsed), Some(elapsed.iter().sum()));
    assert_eq!(measurement.average(Measure::Elapsed), Some(elapsed.iter().sum::<f64>() / elapsed.len() as f64));
    assert_eq!(measurement.get(0, Measure::Elapsed), Some(elapsed[0]));
    assert_eq!(measurement.get(elapsed.len(), Measure::Elapsed), None);
    let total: f64 = measurement.epochs().iter().map(|epoch| epoch.seconds_per_call * epoch.iterations as f64).sum();
    assert_eq!(measurement.sum_product(Measure::Elapsed, Measure::Iterations), Some(total));
    assert!(!matches!(measurement.outcome(), Outcome::Panicked { .. }));
    assert!("no such thing".parse::<Measure>().is_err());
}

#[test]
fn a_template_is_filled_with_what_was_measured() {
    let mut bench = quick();
    bench.title("all").unit("byte").batch(4.0).context("cpu", "some").complexity_n(9.0).epoch_iterations(10);
    bench.run("a", || ()).run("\"b\";\n</script>🦀", || ());
    let mut out = Vec::new();
    let template = "{{#result}}{{title}} {{json name}} {{unit}} {{batch}} {{complexityN}} {{context(cpu)}} {{epochs}} \
                    {{#measurement}}{{#-first}}{{iterations}}{{/-first}}{{/measurement}}\n{{/result}}";
    bench.render(template, &mut out).unwrap();
    let expected = "all \"a\" byte 4 9 some 3 10\nall \"\\\"b\\\";\\u000a\\u003c/script>🦀\" byte 4 9 some 3 10\n";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
    let mut out = Vec::new();
    let error = bench.render("fine {{nothing}}", &mut out).unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), out.len()),
        ("the template cannot be rendered: line 1, column 6: unknown tag 'nothing'", 0)
    );
    for template in [templates::csv(), templates::json(), templates::html(), templates::pyperf()] {
        bench.render(template, io::sink()).unwrap();
    }
}
