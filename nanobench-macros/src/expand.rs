//! What the attribute adds after the function: its registration.
//!
//! Every path in it is absolute, since the code lands where any name may mean something else. Every token that the
//! compiler may complain about has the span of what the person wrote to cause it.

mod cases;

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;

use crate::function::{Function, Input, Passing};
use crate::options::{Given, Options};
use crate::value::{self, at};

/// The registration of `function`. The options have been checked against it.
pub(crate) fn registration(options: &Options, function: &Function) -> TokenStream {
    let private = private(options);
    let name = options.name.as_ref().map_or_else(|| function.name.unraw().to_string(), syn::LitStr::value);
    let ignore = options.ignore || function.ignore;
    let complexity = options.complexity.is_some();
    let baseline = options.baseline;
    let threads = options.threads.as_ref().map_or_else(
        || quote!(::core::option::Option::None),
        |Given { key, value }| {
            let counts = quote_spanned!(at(value::span(value, key.span()))=> #private::thread_counts(#value));
            quote!(::core::option::Option::Some(|| #counts))
        },
    );
    let modes = modes(&private, options);
    let settings = settings(&private, &options.settings);
    let target = if has_cases(options, function) {
        cases::function(&private, options, function)
    } else {
        match (function.input(options), &options.inputs) {
            (Some(input), Some(inputs)) => with_inputs(&private, options, inputs, function, input),
            _ => {
                let function = &function.name;
                quote!(#private::Function::Plain {
                    sample: |calls| #private::sample_plain(calls, #function),
                    max_calls: #private::max_calls_plain(#function as fn() -> _),
                })
            }
        }
    };
    quote! {
        const _: () = {
            #private::inventory::submit! {
                #private::Entry {
                    name: #name,
                    module_path: ::core::module_path!(),
                    file: ::core::file!(),
                    line: ::core::line!(),
                    column: ::core::column!(),
                    ignore: #ignore,
                    complexity: #complexity,
                    threads: #threads,
                    baseline: #baseline,
                    modes: &[#modes],
                    settings: #settings,
                    function: #target,
                }
            }
        };
    }
}

/// The registration of the module that it is put into as a group.
pub(crate) fn group(options: &Options) -> TokenStream {
    let private = private(options);
    let ignore = options.ignore;
    let settings = settings(&private, &options.settings);
    quote! {
        const _: () = {
            #private::inventory::submit! {
                #private::Group {
                    module_path: ::core::module_path!(),
                    file: ::core::file!(),
                    line: ::core::line!(),
                    ignore: #ignore,
                    settings: #settings,
                }
            }
        };
    }
}

fn private(options: &Options) -> TokenStream {
    options.crate_path.as_ref().map_or_else(|| quote!(::nanobench::__private), |path| quote!(#path::__private))
}

/// Whether the function is more than one that is called with its inputs or without any. What is registered for those that are
/// not more is as little as can be, since every benchmark of every user is compiled with it.
fn has_cases(options: &Options, function: &Function) -> bool {
    options.args.is_some() || function.has_bencher || function.is_async || !function.generics.parameters.is_empty()
}

fn modes(private: &TokenStream, options: &Options) -> TokenStream {
    match (options.throughput, &options.latency) {
        (_, None) => quote!(#private::Mode::Throughput),
        (false, Some(_)) => quote!(#private::Mode::Latency),
        (true, Some(_)) => quote!(#private::Mode::Throughput, #private::Mode::Latency),
    }
}

fn settings(private: &TokenStream, settings: &[Given]) -> TokenStream {
    if settings.is_empty() {
        return quote!(::core::option::Option::None);
    }
    let fields = settings.iter().map(|Given { key, value }| {
        let field = Ident::new(&key.to_string(), at(key.span()));
        quote_spanned!(at(value::span(value, key.span()))=> #field: ::core::option::Option::Some(#value))
    });
    quote! {
        ::core::option::Option::Some(|| #private::Overrides {
            #(#fields,)*
            ..::core::default::Default::default()
        })
    }
}

/// The values get the parameter's type before anything else is known of them, so that the integers among them have its
/// width and closures know what they are given.
fn with_inputs(
    private: &TokenStream,
    options: &Options,
    inputs: &Given,
    function: &Function,
    input: &Input,
) -> TokenStream {
    let Input { ty, span, passing } = input;
    let inputs = collected_inputs(private, options, inputs, input);
    let take = match (passing, &options.latency) {
        (Passing::Value, None) => quote_spanned!(at(*span)=> .by_value),
        (Passing::Value, Some(_)) => quote_spanned!(at(*span)=> .by_value_chained),
        (Passing::Reference | Passing::UnsizedReference, _) => quote_spanned!(at(*span)=> .by_reference::<#ty>),
    };
    let chained = options.latency.as_ref().map(|latency| chained(private, latency, function, ty));
    let function = &function.name;
    quote! {
        #private::Function::WithInputs(|| {
            #inputs #take(
                |queue| #private::sample(queue, #function),
                #chained
                const { #private::max_calls(#function as fn(_) -> _) },
            )
        })
    }
}

/// The inputs with their groups and what is counted of them, on their way to becoming a target.
fn collected_inputs(private: &TokenStream, options: &Options, inputs: &Given, input: &Input) -> TokenStream {
    let item = input.item();
    let values = &inputs.value;
    let new = quote_spanned!(at(value::span(values, inputs.key.span()))=> new(#values));
    let by = options
        .by
        .as_ref()
        .map(|Given { key, value }| quote_spanned!(at(value::span(value, key.span()))=> .by(#value)));
    let counted = options.counters.iter().map(|Given { key, value }| {
        let kind = counted(private, key);
        quote_spanned!(at(value::span(value, key.span()))=> .counted(#kind, #value))
    });
    quote!(#private::Inputs::<#item>::#new #by #(#counted)*)
}

/// What an option counts.
fn counted(private: &TokenStream, key: &Ident) -> TokenStream {
    if key == "bytes" {
        quote!(#private::Counted::Bytes)
    } else if key == "items" {
        quote!(#private::Counted::Items)
    } else {
        quote!(#private::Counted::Chars)
    }
}

/// What latency needs in addition. Both types are named, so that the compiler points at the one that calls cannot be chained
/// through.
fn chained(private: &TokenStream, latency: &Ident, function: &Function, input: &TokenStream) -> TokenStream {
    let Function { name, result, .. } = function;
    quote_spanned! {at(latency.span())=>
        |queue| #private::sample_chained::<#input, #result>(queue, #name),
        const { #private::link_cycles::<#input, #result>() },
    }
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;

    fn expanded(options: &str, item: &str) -> String {
        let item: TokenStream = item.parse().unwrap();
        let all = crate::attribute(options.parse().unwrap(), item.clone()).to_string();
        let added = all.strip_prefix(&item.to_string()).expect("the function comes first and unchanged");
        added.replace(' ', "")
    }

    #[test]
    fn a_function_without_inputs_is_registered_as_it_is() {
        let added = expanded("", "/// Doc.\n#[inline] pub(crate) fn r#loop() -> u64 { 5 }");
        for part in
            ["name:\"loop\"", "ignore:false", "settings:::core::option::Option::None", "sample_plain(calls,r#loop)"]
        {
            assert!(added.contains(part), "{part} in {added}");
        }
    }

    #[test]
    fn inputs_are_anchored_at_the_type_of_the_parameter() {
        for (parameter, registered) in [
            ("u8", "Inputs::<u8>::new([1]).by_value("),
            ("&u8", "Inputs::<u8>::new([1]).by_reference::<u8>("),
            ("&str", "Inputs::<_>::new([1]).by_reference::<str>("),
        ] {
            let added = expanded("inputs = [1]", &format!("fn f(x: {parameter}) {{}}"));
            assert!(added.contains(registered), "{registered} in {added}");
        }
    }

    #[test]
    fn only_latency_brings_a_chain() {
        for (options, modes, chained) in [
            ("", "&[::nanobench::__private::Mode::Throughput]", false),
            ("throughput", "&[::nanobench::__private::Mode::Throughput]", false),
            ("latency", "&[::nanobench::__private::Mode::Latency]", true),
            (
                "latency, throughput",
                "&[::nanobench::__private::Mode::Throughput,::nanobench::__private::Mode::Latency]",
                true,
            ),
        ] {
            let added = expanded(&format!("inputs = [1], {options}"), "fn f(x: u8) -> u16 { 5 }");
            assert!(added.contains(&format!("modes:{modes}")), "{added}");
            assert_eq!(added.contains("by_value_chained("), chained, "{added}");
            assert_eq!(added.contains("sample_chained::<u8,u16>(queue,f)"), chained, "{added}");
        }
    }

    #[test]
    fn options_reach_the_registration() {
        let added = expanded(
            "name = \"n\", ignore, epochs = 3, unit = U, inputs = [1], by = |x| x % 2, crate = a::b",
            "fn f(x: u8) {}",
        );
        for part in [
            "a::b::__private::inventory::submit!",
            "name:\"n\"",
            "ignore:true",
            "epochs:::core::option::Option::Some(3)",
            "::into(U)",
            "new([1]).by(|x|x%2).by_value(",
        ] {
            assert!(added.contains(part), "{part} in {added}");
        }
    }

    #[test]
    fn a_mistake_leaves_the_function_and_registers_nothing() {
        let added = expanded("epochs = 0, inputs = []", "fn f(x: u8, y: impl T, z: u8) {}");
        assert_eq!(added.matches("compile_error!").count(), 4, "{added}");
        assert!(!added.contains("submit!"));
    }
}
