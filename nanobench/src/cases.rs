//! The cases of a function that is several benchmarks: one for each argument, constant and type.
//!
//! What is generic here is compiled into the user's crate once for each function with `args`.

use std::fmt::{Debug, Display};
use std::mem::needs_drop;
use std::rc::Rc;

use crate::amounts::{Amounts, Counted, Size};
use crate::bencher::{self, Bencher};
use crate::black_box::black_box;
use crate::closure::{Plain, WithInput};
use crate::target::{Target, Visit, WithAmounts, max_calls_of_types};

/// What a benchmark does with the target that it makes.
type Body = Rc<dyn Fn(Visit)>;

/// One of the benchmarks of a function.
#[derive(Clone)]
pub(crate) struct Case {
    /// What comes behind the name of the function, such as `1000` or `u8/1000`.
    pub(crate) name: String,
    /// What cases that differ in the argument only have in common in their names.
    pub(crate) prefix: String,
    /// The size, for `complexity`.
    pub(crate) n: Option<f64>,
    body: Body,
}

impl Case {
    pub(crate) fn visit(&self, visit: Visit) {
        (self.body)(visit);
    }
}

/// Collects the cases of a function.
#[derive(Default)]
pub struct Cases {
    cases: Vec<Case>,
}

impl Cases {
    /// The cases that `collect` finds.
    pub(crate) fn of(collect: fn(&mut Self)) -> Vec<Case> {
        let mut cases = Self::default();
        collect(&mut cases);
        cases.cases
    }

    /// Adds a case without an argument: one of several types or constants.
    pub fn one(&mut self, name: &str, target: impl Fn() -> Box<dyn Target> + 'static) {
        self.push(name, name.to_owned(), None, Rc::new(move |visit| visit(&mut *target())));
    }

    /// The same for a function that measures by itself.
    pub fn one_with_bencher(&mut self, name: &str, function: impl Fn(Bencher) + 'static) {
        self.push(name, name.to_owned(), None, Rc::new(move |visit| bencher::visit(&function, visit)));
    }

    /// Adds a case for each of `values`; `size` is for `complexity`.
    ///
    /// # Panics
    ///
    /// If there are none.
    pub fn args<A: Clone + Debug + 'static>(
        &mut self,
        prefix: &str,
        values: impl IntoIterator<Item = A>,
        size: fn(&A) -> Option<f64>,
        target: impl Fn(A) -> Box<dyn Target> + Clone + 'static,
    ) {
        self.each(prefix, values, size, |arg: A| {
            let target = target.clone();
            Rc::new(move |visit| visit(&mut *target(arg.clone())))
        });
    }

    /// The same for a function that borrows its argument.
    pub fn args_ref<A: Debug + 'static>(
        &mut self,
        prefix: &str,
        values: impl IntoIterator<Item = A>,
        size: fn(&A) -> Option<f64>,
        target: impl Fn(&'static A) -> Box<dyn Target> + Clone + 'static,
    ) {
        self.each(prefix, values, size, |arg: A| {
            let target = target.clone();
            let arg = forever(arg);
            Rc::new(move |visit| visit(&mut *target(arg)))
        });
    }

    /// The same for a function that measures by itself.
    pub fn args_with_bencher<A: Clone + Debug + 'static>(
        &mut self,
        prefix: &str,
        values: impl IntoIterator<Item = A>,
        size: fn(&A) -> Option<f64>,
        function: impl Fn(Bencher, A) + Clone + 'static,
    ) {
        self.each(prefix, values, size, |arg: A| {
            let function = function.clone();
            Rc::new(move |visit| bencher::visit(|bencher: Bencher| function(bencher, arg.clone()), visit))
        });
    }

    /// The same for a function that measures by itself and borrows its argument.
    pub fn args_ref_with_bencher<A: Debug + 'static>(
        &mut self,
        prefix: &str,
        values: impl IntoIterator<Item = A>,
        size: fn(&A) -> Option<f64>,
        function: impl Fn(Bencher, &'static A) + Clone + 'static,
    ) {
        self.each(prefix, values, size, |arg: A| {
            let function = function.clone();
            let arg = forever(arg);
            Rc::new(move |visit| bencher::visit(|bencher: Bencher| function(bencher, arg), visit))
        });
    }

    fn each<A: Debug>(
        &mut self,
        prefix: &str,
        values: impl IntoIterator<Item = A>,
        size: fn(&A) -> Option<f64>,
        body: impl Fn(A) -> Body,
    ) {
        let before = self.cases.len();
        for (index, arg) in values.into_iter().enumerate() {
            let name = [prefix, &short(label(&arg), index)]
                .into_iter()
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join("/");
            let n = size(&arg);
            let body = body(arg);
            self.push(prefix, name, n, body);
        }
        assert!(self.cases.len() > before, "`args` is empty: a benchmark needs at least one argument");
    }

    fn push(&mut self, prefix: &str, name: String, n: Option<f64>, body: Body) {
        self.cases.push(Case { name, prefix: prefix.to_owned(), n, body });
    }
}

/// Arguments are as many as there are cases and live as long as these, which is as long as the program. So what a function makes
/// of one that it borrows may be kept as well.
fn forever<A>(arg: A) -> &'static A {
    Box::leak(Box::new(arg))
}

/// The longest name of an argument, in characters.
const MAX_LABEL: usize = 64;

/// A name that fits into a line. One that is cut gets the number of the argument, so that it stays different from the others.
fn short(label: String, index: usize) -> String {
    match label.char_indices().nth(MAX_LABEL) {
        None => label,
        Some(_) => format!("{}..#{index}", label.chars().take(MAX_LABEL / 2).collect::<String>()),
    }
}

/// What an argument or a constant is called: as it is printed for debugging, but text without its quotes.
pub(crate) fn label(value: &dyn Debug) -> String {
    let text = format!("{value:?}");
    match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        Some(inner) if !inner.is_empty() && !inner.contains('\\') => inner.to_owned(),
        _ => text,
    }
}

/// What a case of several types and constants is called.
pub fn joined(parts: &[&dyn Display]) -> String {
    parts.iter().map(ToString::to_string).collect::<Vec<_>>().join("/")
}

/// A target that calls `function` with an argument by value. An argument that owns something is cloned while the clock
/// stands still.
pub fn with_arg<A: Clone + 'static, R: 'static>(arg: A, function: impl Fn(A) -> R + 'static) -> Box<dyn Target> {
    if needs_drop::<A>() {
        Box::new(WithInput::new(move || arg.clone(), function))
    } else {
        Box::new(Plain::new(move || function(black_box(arg.clone()))))
    }
}

/// A target that calls `function`, which has captured what it needs.
pub fn plain<R: 'static>(function: impl Fn() -> R + 'static) -> Box<dyn Target> {
    Box::new(Plain::new(function))
}

/// How much a closure counts of an argument.
pub fn amount<A, N: Size>(arg: &A, count: impl Fn(&A) -> N) -> f64 {
    count(arg).size()
}

/// The most calls in a sample of a function with inputs; the closure only brings the types.
pub fn max_calls_of<X, R>(_function: &impl Fn(X) -> R) -> u64 {
    max_calls_of_types::<X, R>()
}

/// What runs the future of an `async fn` to its end where the attribute names nothing else.
pub struct DefaultRuntime;

impl DefaultRuntime {
    /// Runs the future to its end on this thread.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        pollster::block_on(future)
    }
}

/// A target whose calls each do this much of something.
pub fn counted(inner: Box<dyn Target>, counted: Counted, amount: f64) -> Box<dyn Target> {
    let mut amounts = inner.amounts().to_vec();
    amounts.push(Amounts { counted, per_input: vec![amount] });
    Box::new(WithAmounts { inner, amounts })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Mode;

    #[test]
    fn every_argument_is_a_case_of_its_own_and_text_has_no_quotes() {
        let cases = Cases::of(|cases| {
            cases.args("u8", [10usize, 20], |n| Some(n.size()), |arg| with_arg(arg, |n| n + 1));
            cases.args_ref("", ["a b", "quo\"te", ""], |_| None, |arg| plain(move || arg.len()));
        });
        let names: Vec<(&str, Option<f64>)> = cases.iter().map(|case| (case.name.as_str(), case.n)).collect();
        let expected =
            [("u8/10", Some(10.0)), ("u8/20", Some(20.0)), ("a b", None), ("\"quo\\\"te\"", None), ("\"\"", None)];
        assert_eq!(names, expected);
    }

    #[test]
    fn a_long_argument_has_a_short_name_that_is_different_from_the_others() {
        let cases = Cases::of(|cases| {
            cases.args("", [vec![1u8; 99], vec![1; 100]], |_| None, |arg| with_arg(arg, |list| list));
        });
        assert_eq!(cases[0].name, "[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1..#0");
        assert_eq!(cases[1].name, "[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1..#1");
    }

    #[test]
    fn a_case_is_called_with_its_argument_whether_it_owns_something_or_not() {
        let cases = Cases::of(|cases| {
            cases.args("", [3u64, 4], |_| None, |arg| with_arg(arg, |n| assert!(n == 3 || n == 4)));
            cases.args("", [vec![5]], |_| None, |arg| with_arg(arg, |v: Vec<i32>| assert_eq!(v, [5])));
        });
        for case in cases {
            case.visit(&mut |target| {
                target.sample(Mode::Throughput, 3, &[]);
            });
        }
    }

    #[test]
    #[should_panic(expected = "`args` is empty")]
    fn a_function_with_arguments_needs_one() {
        Cases::of(|cases| cases.args("", [0u8; 0], |_| None, |arg| with_arg(arg, |n| n)));
    }

    #[test]
    fn amounts_are_added_to_those_that_there_are() {
        let target = counted(counted(plain(|| 1), Counted::Bytes, 8.0), Counted::Items, 2.0);
        let found: Vec<(Counted, f64)> =
            target.amounts().iter().map(|amounts| (amounts.counted, amounts.per_input[0])).collect();
        assert_eq!(found, [(Counted::Bytes, 8.0), (Counted::Items, 2.0)]);
    }
}
