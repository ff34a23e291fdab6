//! The `#[nanobench]` attribute: its public documentation and its entry. What it does is in the modules, in the order of
//! the work: `options` reads what stands in the parentheses, `function` what stands below them, `expand` writes the
//! registration.

mod duration;
mod errors;
mod expand;
mod function;
mod options;
mod value;

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::quote;
use syn::Error;

use crate::function::Function;
use crate::options::Options;

/// Registers a function as a benchmark.
///
/// The function itself stays as it is: other code can call it, and its attributes, visibility and documentation mean what
/// they always do. `nanobench::main!()` at the end of the bench target runs what is registered.
///
/// ```
/// use std::hint::black_box;
///
/// use nanobench::nanobench;
///
/// #[nanobench]
/// fn multiply() -> u64 {
///     black_box(17_u64).wrapping_mul(3)
/// }
/// ```
///
/// # Functions with an input
///
/// A function may have one parameter, and then needs `inputs`: a list, a range, or anything else to iterate over. A value
/// that comes several times is that much more frequent. The parameter decides the type of the inputs:
///
/// | parameter | inputs | what a call gets |
/// |---|---|---|
/// | `x: T` | `T` | a clone of its own, made while the clock stands still |
/// | `x: &T` | `T` | a reference to the input |
/// | `x: &str`, `&[T]`, `&Path`, `&OsStr`, `&CStr` | what implements `Borrow` of it, such as `String` or `&str` | what the input borrows as |
/// | `x: &'static T` | `&'static T` | the reference |
///
/// The type of the inputs implements `Clone`, `PartialEq` and `Debug` and is `'static`. What would be several parameters is
/// one tuple.
///
/// ```
/// use nanobench::nanobench;
///
/// #[nanobench(inputs = [3, 3, 4, 4, 7, 7, 8, 8])]
/// fn copy(n: usize) -> Vec<u8> {
///     vec![0; n]
/// }
///
/// #[nanobench(inputs = ["10".to_owned(), "10000000".to_owned()])]
/// fn parse(text: &str) -> u32 {
///     text.parse().unwrap()
/// }
///
/// #[nanobench(inputs = [(2, 10), (10, 2)])]
/// fn power((base, exponent): (u64, u32)) -> u64 {
///     base.pow(exponent)
/// }
/// ```
///
/// # Options
///
/// Options are separated by commas, and each can be given once.
///
/// **`inputs = values`** gives the inputs, as above. They are made when the benchmark runs and not before.
///
/// **`by = |input| label`** groups the inputs by a label that can be displayed, so that each group has a cost, rather than
/// each value. Any function of a reference to an input will do.
///
/// ```
/// use nanobench::nanobench;
///
/// #[nanobench(inputs = (0..1_000).map(|x| x * x), by = |x| x.leading_zeros() / 8)]
/// fn square_root(x: u64) -> u64 {
///     x.isqrt()
/// }
/// ```
///
/// **`args = values`** makes each value a benchmark of its own, `name/value`, where `inputs` are one mix. The parameter decides the
/// type, as for inputs; the type implements `Debug`, which gives the name, and `Clone` if the parameter takes it by value. With
/// `inputs` as well, the function has two parameters, first the argument and then the input, and the mix is measured at each
/// argument. `--bench name/value` finds a case as any other benchmark.
///
/// ```
/// use nanobench::nanobench;
///
/// #[nanobench(args = [100, 1_000, 10_000], complexity)]
/// fn sum(n: u64) -> u64 {
///     (0..n).map(|x| x * x % 7).sum()
/// }
///
/// #[nanobench(args = [2, 64], inputs = [3, 1_000_003, 1 << 40])]
/// fn divide(divisor: u64, x: u64) -> u64 {
///     x / divisor
/// }
/// ```
///
/// **`complexity`** prints, after the cases of `args`, how the cost grows with the argument: a number, or the length of a text, a
/// slice or a `Vec`. A class is named only if its lead is real.
///
/// **`types = [..]`** and **`consts = [..]`** make a benchmark of each type and each constant for a generic function, alone, together, and
/// with `args` and `inputs`. There is one parameter for each.
///
/// ```
/// use std::collections::{BTreeSet, HashSet};
///
/// use nanobench::nanobench;
///
/// #[nanobench(types = [BTreeSet<u64>, HashSet<u64>], args = [10, 1_000])]
/// fn collect<C: FromIterator<u64>>(n: u64) -> C {
///     (0..n).collect()
/// }
///
/// #[nanobench(consts = [4, 64])]
/// fn zeros<const N: usize>() -> [u8; N] {
///     [0; N]
/// }
/// ```
///
/// **`bytes`**, **`items`** and **`chars`** say how much of it a call works on, and give columns in GB/s, items and characters per
/// second: a number, or a closure from a reference to an input, or to an argument where there are no inputs. Of a mix it is the mean.
///
/// ```
/// use nanobench::nanobench;
///
/// #[nanobench(inputs = [vec![1u8; 10], vec![2; 1_000]], by = Vec::len, bytes = |data| data.len())]
/// fn checksum(data: &[u8]) -> u32 {
///     data.iter().map(|&byte| u32::from(byte)).sum()
/// }
/// ```
///
/// **`baseline`** on one benchmark of a module has the others of the module compared with it: they take turns in short rounds, and a
/// column says how many times as fast each is, with an interval. Cases are compared with the case of the same name.
///
/// ```
/// mod powers {
///     use nanobench::nanobench;
///
///     #[nanobench(args = [3, 30], baseline)]
///     fn by_squaring(exponent: u32) -> u64 {
///         3u64.wrapping_pow(exponent)
///     }
///
///     #[nanobench(args = [3, 30])]
///     fn one_by_one(exponent: u32) -> u64 {
///         (0..exponent).fold(1, |power: u64, _| power.wrapping_mul(3))
///     }
/// }
/// # fn main() {}
/// ```
///
/// **`threads = [1, 2, 4]`**, or a single number, measures the function with so many threads at once, each a benchmark of its own:
/// `name/threads=2`; 0 is as many as the program may use processors. In each sample they start together and make equally many calls;
/// the figure is what a call costs in one of them. `--threads 1,2` and `NANOBENCH_THREADS` replace the list, for all benchmarks. A
/// panic in one thread ends the benchmark with its message. If some threads take much longer than others, the row says so.
///
/// ```
/// use std::sync::Mutex;
///
/// use nanobench::nanobench;
///
/// static COUNTER: Mutex<u64> = Mutex::new(0);
///
/// #[nanobench(threads = [1, 2])]
/// fn count() {
///     *COUNTER.lock().unwrap() += 1;
/// }
/// ```
///
/// **`runtime = expression`** runs an `async fn`: something with a method `block_on` that takes a future, such as
/// `tokio::runtime::Runtime::new().unwrap()`. It is made once for each measurement, before the clock starts. Without it a minimal
/// executor polls on the thread that measures. The cost of `block_on` is in the figure.
///
/// ```
/// use std::task::{Context, Poll, Waker};
///
/// use nanobench::nanobench;
///
/// /// Asks again until the future is ready.
/// struct Impatient;
///
/// impl Impatient {
///     fn block_on<F: Future>(&self, future: F) -> F::Output {
///         let mut future = std::pin::pin!(future);
///         let mut context = Context::from_waker(Waker::noop());
///         loop {
///             if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
///                 return output;
///             }
///         }
///     }
/// }
///
/// #[nanobench(inputs = [1, 2], runtime = Impatient)]
/// async fn next(x: u64) -> u64 {
///     std::future::ready(x + 1).await
/// }
/// ```
///
/// **`name = "text"`** replaces the name of the function in results and filters. The modules around the function stay in
/// front of it.
///
/// **`ignore`** leaves the benchmark out unless ignored ones are asked for. So does `#[ignore]` or `#[ignore = "why"]` on the function.
///
/// **`throughput`** and **`latency`** say which question is asked; both may be given, and then there is an answer to each. Without
/// either it is throughput: how many calls get done in a given time, when none waits for another. Latency is the time from
/// an input to its result: each input waits for the result before it. For that, input and result are integers, floats, `bool`
/// or `char`, and the input is taken by value.
///
/// ```
/// use nanobench::nanobench;
///
/// #[nanobench(latency, throughput, inputs = [12, 18, 27])]
/// fn remainder(x: u64) -> u64 {
///     1_000_000_007 % x
/// }
/// ```
///
/// **`repeated`** adds a row for each group of inputs, in which its first input comes over and over: how much a loop that does
/// not vary its input would have flattered the function.
///
/// **`cold`** has each call find its data out of the caches. Calls are then timed one by one, each after milliseconds of sweeping
/// the caches, so `max_time` is 500 ms where it is not given. What an input by value owns is warm, since it is a clone made just
/// before the call: take such inputs by reference.
///
/// **`crate = path`** says where `nanobench` is, if it goes by another name or comes through another crate.
///
/// ```
/// mod tools {
///     pub extern crate nanobench as bench;
/// }
///
/// mod benches {
///     use super::tools;
///
///     #[tools::bench::nanobench(crate = tools::bench, name = "nothing at all", ignore)]
///     fn empty() {}
/// }
/// # fn main() {}
/// ```
///
/// ## Settings
///
/// Each setting replaces a default for this benchmark. It is also an argument on the command line, `--min-epoch-time`, and
/// a variable in the environment, `NANOBENCH_MIN_EPOCH_TIME`; both win over the attribute.
///
/// | setting | value | what it says |
/// |---|---|---|
/// | `epochs` | `u64`, at least 1 | how many epochs at least are measured |
/// | `clock_resolution_multiple` | `u64`, at least 1 | how many times the clock's resolution an epoch should take |
/// | `min_epoch_time` | duration | the least time for an epoch |
/// | `max_epoch_time` | duration | the most time for an epoch |
/// | `min_epoch_iterations` | `u64` | the least number of calls in an epoch |
/// | `epoch_iterations` | `u64` | the exact number of calls in an epoch |
/// | `warmup` | `u64` | how many calls are made before anything is measured |
/// | `precision` | `f64` between 0 and 1 | the relative half width of the interval at which measuring may end |
/// | `max_time` | duration | the most time for the benchmark, without it 50 ms, or 10 ms a row where that is more |
/// | `estimator` | what becomes a `String`: `least-squares`, `leave-one-out` or `replay` | how the costs of inputs are told apart |
/// | `overhead` | what becomes a `String`: `raw`, `show` or `subtract` | whether what the empty loop costs is left in the figures, shown in a row, or taken off and shown; throughput only |
/// | `unit` | what becomes a `String` | what one unit of work is called |
/// | `batch` | a number above 0 | how many units of work one call does |
/// | `bytes`, `items`, `chars` | a number above 0, or a closure | how much of it a call works on |
/// | `time_unit` | what becomes a `String`: `ns`, `us`, `ms` or `s` | the unit of time in the table |
///
/// The values are expressions. A duration is a `std::time::Duration`, or a literal of a number and one of the units `ns`,
/// `us`, `µs`, `ms`, `s` and `min`, which is checked while the program is compiled.
///
/// ```
/// use nanobench::nanobench;
///
/// const BYTES: usize = 4096;
///
/// #[nanobench(unit = "byte", batch = BYTES, precision = 0.005, min_epoch_time = "250us", max_time = "1.5 s")]
/// fn fill() -> [u8; BYTES] {
///     [7; BYTES]
/// }
/// ```
///
/// # Functions that prepare something
///
/// A function whose first parameter is a `nanobench::Bencher` measures what it hands to that, once, with `run`, or with
/// `with_inputs(..)` and `run_values` or `run_refs`. What it does before is not timed. It can have an argument from `args` as well.
///
/// ```
/// use nanobench::{Bencher, black_box, nanobench};
///
/// #[nanobench(args = [64, 4_096])]
/// fn search(bencher: Bencher, length: u64) {
///     let numbers: Vec<u64> = (0..length).collect();
///     bencher.run(|| black_box(&numbers).binary_search(&black_box(7)));
/// }
/// ```
///
/// # Functions that cannot be measured
///
/// A function that has a receiver, or is `unsafe` or `extern`, is refused: measuring it as it stands would measure something
/// else, or is not possible. Call it from a function that is none of these, and measure that one.
#[proc_macro_attribute]
pub fn nanobench(options: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    attribute(options.into(), item.into()).into()
}

/// Gives all benchmarks of a module settings in common.
///
/// The module has its body in braces. The options are the settings of [`macro@nanobench`], `repeated`, `cold`, `ignore` and `crate`. A
/// group within a group adds to it or overrides it, and so does the attribute of a single benchmark.
///
/// ```
/// #[nanobench::group(unit = "number", max_time = "20ms")]
/// mod sums {
///     use nanobench::nanobench;
///
///     #[nanobench(args = [10, 100])]
///     fn of_squares(n: u64) -> u64 {
///         (0..n).map(|x| x * x).sum()
///     }
///
///     #[nanobench::group(max_time = "100ms")]
///     mod slow {
///         # use nanobench::nanobench;
///         #[nanobench(args = [1_000_000])]
///         fn of_cubes(n: u64) -> u64 {
///             (0..n).map(|x| x * x % 7 * x).sum()
///         }
///     }
/// }
/// # fn main() {}
/// ```
#[proc_macro_attribute]
pub fn group(options: proc_macro::TokenStream, item: proc_macro::TokenStream) -> proc_macro::TokenStream {
    group_attribute(options.into(), item.into()).into()
}

/// The module with its registration at the end of its body.
fn group_attribute(options: TokenStream, item: TokenStream) -> TokenStream {
    let mut tokens: Vec<TokenTree> = item.clone().into_iter().collect();
    let is_module = tokens.iter().any(|token| matches!(token, TokenTree::Ident(word) if word == "mod"));
    let added = match (Options::read_of_group(options), tokens.pop()) {
        (Ok(options), Some(TokenTree::Group(body))) if is_module && body.delimiter() == Delimiter::Brace => {
            let mut content = body.stream();
            content.extend(expand::group(&options));
            let mut extended = Group::new(Delimiter::Brace, content);
            extended.set_span(body.span());
            tokens.push(TokenTree::Group(extended));
            return tokens.into_iter().collect();
        }
        (Err(error), _) => error,
        (Ok(_), last) => {
            let message = "#[nanobench::group] stands on a module with its body in braces, `mod name { .. }`; in a file of its own, \
                           put the module's content into such a one";
            Error::new(last.map_or_else(Span::call_site, |token| token.span()), message)
        }
    };
    let mut output = item;
    output.extend(added.into_compile_error());
    output
}

/// The function stays as it is, whatever happens, so that a mistake in an option does not make every other use of the
/// function an error as well.
fn attribute(options: TokenStream, item: TokenStream) -> TokenStream {
    let added = registration(options, item.clone()).unwrap_or_else(Error::into_compile_error);
    let mut output = adapted(item);
    output.extend(added);
    output
}

/// The item as it is to stay. `#[ignore]` has been read, and the compiler warns of it where there is no test. A function under `#[test]`
/// is a test where there are tests, and would otherwise not be there at all, so that nothing could be measured.
fn adapted(item: TokenStream) -> TokenStream {
    let mut tokens = item.into_iter().peekable();
    let (mut attributes, mut is_test) = (Vec::new(), false);
    while let Some(hash) = tokens.next_if(|token| value::is_punct(Some(token), '#')) {
        let Some(TokenTree::Group(group)) = tokens.next() else { break };
        is_test |= is_test_attribute(&group);
        attributes.push((hash, group));
    }
    attributes.retain(|(_, group)| is_test || !function::is_ignore(group));
    let attributes = attributes.into_iter().flat_map(|(hash, group)| {
        let content = group.stream();
        let in_tests_only = if is_test_attribute(&group) {
            quote!(cfg_attr(test, ::core::prelude::v1::test))
        } else if function::is_ignore(&group) {
            quote!(cfg_attr(test, #content))
        } else {
            content
        };
        let mut adapted = Group::new(group.delimiter(), in_tests_only);
        adapted.set_span(group.span());
        [hash, TokenTree::Group(adapted)]
    });
    attributes.chain(tokens).collect()
}

fn is_test_attribute(attribute: &Group) -> bool {
    let mut tokens = attribute.stream().into_iter();
    matches!((tokens.next(), tokens.next()), (Some(TokenTree::Ident(word)), None) if word == "test")
}

/// Both halves are read before either gives up: a person sees all mistakes at once.
fn registration(options: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    match (Options::read(options), Function::read(item)) {
        (Ok(options), Ok(function)) => {
            function.check_against(&options)?;
            Ok(expand::registration(&options, &function))
        }
        (Err(mut in_options), Err(in_function)) => {
            in_options.combine(in_function);
            Err(in_options)
        }
        (Err(error), Ok(_)) | (Ok(_), Err(error)) => Err(error),
    }
}
