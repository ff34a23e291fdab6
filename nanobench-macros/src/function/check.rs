//! Whether the options of the attribute suit the signature below it.

use proc_macro2::Ident;
use syn::{Error, Result};

use super::{Function, Input, Passing, find_word};
use crate::errors::Errors;
use crate::options::Options;
use crate::value::{flattened, is_punct};

impl Function {
    /// Whether the options suit the signature.
    ///
    /// # Errors
    ///
    /// If values are given that nothing takes, or taken but not given.
    pub(crate) fn check_against(&self, options: &Options) -> Result<()> {
        let mut errors = Errors::default();
        errors.keep(self.check_parameters(options));
        errors.keep(self.check_generics(options));
        errors.keep(self.check_async(options));
        if let Some(latency) = &options.latency {
            errors.keep(self.check_latency(latency, options));
        }
        errors.or(())
    }

    fn check_parameters(&self, options: &Options) -> Result<()> {
        if let (true, Some(inputs)) = (self.has_bencher, &options.inputs) {
            let message = "a function with a `Bencher` makes its inputs itself: leave out `inputs` and write \
                           `bencher.with_inputs(..)`; `args` gives it an argument";
            return Err(Error::new(inputs.key.span(), message));
        }
        let given = [&options.args, &options.inputs].into_iter().flatten().count();
        match (self.inputs.get(given), given > self.inputs.len()) {
            (Some(extra), _) if given == 0 && self.has_bencher => {
                let message = "this parameter gets no argument; give some with #[nanobench(args = [..])]";
                Err(Error::new(extra.span, message))
            }
            (Some(extra), _) if given == 0 && self.inputs.len() == 1 => {
                let message = "this parameter gets no inputs; give some with #[nanobench(inputs = [..])]";
                Err(Error::new(extra.span, message))
            }
            (Some(_), _) => {
                let message = "a measured function has one parameter for `args` and one for `inputs` at most; put several \
                               into a tuple, `(a, b): (A, B)`, and the inputs too, `inputs = [(1, 2), (3, 4)]`";
                Err(Error::new(self.inputs[1].span, message))
            }
            (None, true) => match (&options.args, &options.inputs) {
                (Some(_), Some(inputs)) => {
                    let message = "with `args` and `inputs` the function has two parameters, first the argument and then the \
                                   input; add the second one, or leave out one of the options";
                    Err(Error::new(inputs.key.span(), message))
                }
                (Some(args), None) => {
                    let message = "this function takes no argument; give it a parameter, or leave out `args`";
                    Err(Error::new(args.key.span(), message))
                }
                (_, inputs) => {
                    let span = inputs.as_ref().map_or_else(|| self.name.span(), |inputs| inputs.key.span());
                    let message = "this function takes no inputs; give it one parameter, or leave out `inputs`";
                    Err(Error::new(span, message))
                }
            },
            (None, false) => Ok(()),
        }
    }

    fn check_generics(&self, options: &Options) -> Result<()> {
        let mut errors = Errors::default();
        for (is_const, option, given) in [(false, "types", &options.types), (true, "consts", &options.consts)] {
            let mut parameters = self.generics.parameters.iter().filter(|generic| generic.is_const == is_const);
            match (parameters.next(), given) {
                (Some(generic), None) => errors.push(without_value(&generic.name, option)),
                (None, Some(given)) => {
                    let what = if is_const { "constant" } else { "type" };
                    let message =
                        format!("this function has no {what} parameter; give it one, or leave out `{option}`");
                    errors.push(Error::new(given.key.span(), message));
                }
                _ => {}
            }
            if let Some(second) = parameters.next() {
                let message =
                    format!("`{option}` gives a value to one parameter, and this is the second; leave one of them out");
                errors.push(Error::new(second.name.span(), message));
            }
        }
        errors.or(())
    }

    fn check_async(&self, options: &Options) -> Result<()> {
        match (self.is_async, &options.runtime, &options.latency) {
            (false, Some(runtime), _) => {
                let message =
                    "`runtime` runs futures, and this function is not `async`; make it so, or leave out `runtime`";
                Err(Error::new(runtime.key.span(), message))
            }
            (true, _, Some(latency)) => {
                let message = "the latency of an `async fn` would be that of its runtime; leave out `latency`";
                Err(Error::new(latency.span(), message))
            }
            (true, ..) if self.has_bencher => {
                let message = "a function with a `Bencher` cannot be `async`; run the future within the closure that the bencher \
                               measures";
                Err(Error::new(self.name.span(), message))
            }
            _ => Ok(()),
        }
    }

    /// Whether calls can be chained, as far as the signature shows.
    fn check_latency(&self, latency: &Ident, options: &Options) -> Result<()> {
        let mut errors = Errors::default();
        match self.input(options) {
            None => {
                let message = "`latency` is the time from an input to its result, and this function takes no input; give it a \
                               parameter and `inputs = [..]`, or leave out `latency`";
                errors.push(Error::new(latency.span(), message));
            }
            Some(input) if input.is_reference() => {
                let message = "for `latency` the input itself has to wait for the result before it, and this is a reference; \
                               take the input by value";
                errors.push(Error::new(input.span, message));
            }
            Some(_) => {}
        }
        match &self.result {
            None => {
                let message = "for `latency` the next input waits for the result of this function, and there is none; return \
                               one, or leave out `latency`";
                errors.push(Error::new(self.name.span(), message));
            }
            Some(result) => {
                if let Some(impl_span) = find_word(&flattened(result.clone()), "impl") {
                    let message = "for `latency` it has to be known what the result is; write its type instead of \
                                   `impl Trait`";
                    errors.push(Error::new(impl_span, message));
                }
            }
        }
        errors.or(())
    }
}

impl Input {
    fn is_reference(&self) -> bool {
        self.passing != Passing::Value || is_punct(self.ty.clone().into_iter().next().as_ref(), '&')
    }
}

fn without_value(generic: &Ident, option: &str) -> Error {
    let message = format!(
        "`{generic}` is generic and nothing gives it a value; give some with #[nanobench({option} = [..])], or call this function \
         with concrete types from one that is not generic"
    );
    Error::new(generic.span(), message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: &str) -> Result<Function> {
        Function::read(source.parse().unwrap())
    }

    #[test]
    fn only_what_has_an_input_by_value_and_a_result_has_a_latency() {
        let check = |source: &str| {
            let options = Options::read("latency, inputs = [1]".parse().unwrap()).unwrap();
            let errors = read(source).unwrap().check_against(&options).err();
            errors.map_or_else(Vec::new, |errors| errors.into_iter().map(|error| error.to_string()).collect())
        };
        assert_eq!(check("fn f(x: u8) -> u8 {}"), [] as [&str; 0]);
        for reference in ["&u8", "&'a u8", "&str", "&'static u8"] {
            let errors = check(&format!("fn f(x: {reference}) -> u8 {{}}"));
            assert!(errors.len() == 1 && errors[0].contains("by value"), "{errors:?}");
        }
        assert_eq!(check("fn f(x: &u8) {}").len(), 2);
        assert!(check("fn f(x: u8) {}")[0].contains("return one"));
        assert!(check("fn f(x: u8) -> impl Copy {}")[0].contains("instead of `impl Trait`"));
    }

    /// What is wrong with a function under these options.
    fn mistakes(options: &str, source: &str) -> Vec<String> {
        let options = Options::read(options.parse().unwrap()).unwrap();
        let errors = read(source).unwrap().check_against(&options).err();
        errors.map_or_else(Vec::new, |errors| errors.into_iter().map(|error| error.to_string()).collect())
    }

    #[test]
    fn options_and_parameters_have_to_suit_each_other() {
        for (options, source) in [
            ("", "fn f() {}"),
            ("inputs = [1]", "fn f(x: u8) {}"),
            ("args = [1]", "fn f(x: u8) {}"),
            ("args = [1], inputs = [2]", "fn f(n: u8, x: &u8) {}"),
            ("", "fn f(b: Bencher) {}"),
            ("args = [1]", "fn f(b: nanobench::Bencher<'_>, n: u8) {}"),
            ("types = [u8]", "fn f<T>() {}"),
            ("types = [u8], consts = [1], args = [T::default()]", "fn f<T: Default, const N: usize>(x: T) {}"),
            ("runtime = R", "async fn f() {}"),
        ] {
            assert_eq!(mistakes(options, source), [] as [&str; 0], "{options}: {source}");
        }
        for (options, source, expected) in [
            ("", "fn f(x: u8) {}", "this parameter gets no inputs"),
            ("", "fn f(x: u8, y: u8) {}", "into a tuple"),
            ("inputs = [1]", "fn f() {}", "takes no inputs"),
            ("args = [1]", "fn f() {}", "takes no argument"),
            ("args = [1], inputs = [1]", "fn f(x: u8) {}", "first the argument and then the input"),
            ("inputs = [1]", "fn f(b: Bencher) {}", "bencher.with_inputs"),
            ("", "fn f(b: Bencher, n: u8) {}", "gets no argument"),
            ("", "fn f<T>() {}", "types = [..]"),
            ("", "fn f<const N: usize>() {}", "consts = [..]"),
            ("types = [u8]", "fn f() {}", "no type parameter"),
            ("consts = [1]", "fn f() {}", "no constant parameter"),
            ("types = [u8]", "fn f<A, B>() {}", "this is the second"),
            ("runtime = R", "fn f() {}", "not `async`"),
            ("latency, inputs = [1]", "async fn f(x: u8) -> u8 {}", "that of its runtime"),
            ("", "async fn f(b: Bencher) {}", "within the closure"),
        ] {
            let mistakes = mistakes(options, source);
            assert!(mistakes.len() == 1 && mistakes[0].contains(expected), "{options}: {source}: {mistakes:?}");
        }
    }
}
