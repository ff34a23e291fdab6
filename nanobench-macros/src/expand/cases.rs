//! Functions that are several benchmarks, or that need something made before they can be called: those with arguments, type or
//! constant parameters, a bencher or a runtime.

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};

use super::{collected_inputs, counted};
use crate::function::{Function, Input, Passing};
use crate::options::{Given, Options};
use crate::value::{self, at};

/// The `Function` that collects the cases.
pub(super) fn function(private: &TokenStream, options: &Options, function: &Function) -> TokenStream {
    let body = body(private, options, function);
    if function.generics.parameters.is_empty() {
        return quote!(#private::Function::Cases(|cases| {
            let prefix = "";
            #body
        }));
    }
    let parameters = function.generics.parameters.iter().map(|generic| &generic.declaration);
    let predicates = predicates(options, function);
    let calls = instances(options, function).map(
        |Instance { arguments, name }| quote!(cases_of::<#(#arguments),*>(cases, &#private::joined(&[#(#name),*]));),
    );
    quote! {
        #private::Function::Cases(|cases| {
            fn cases_of<#(#parameters),*>(cases: &mut #private::Cases, prefix: &str)
            where
                #predicates
            {
                #body
            }
            #(#calls)*
        })
    }
}

/// What the function asks of its parameters, and what is asked of values that are kept and named.
fn predicates(options: &Options, function: &Function) -> TokenStream {
    let given = &function.generics.predicates;
    let given = if given.is_empty() || given.to_string().ends_with(',') { given.clone() } else { quote!(#given,) };
    // All bounds in one place, or lints complain of the person's.
    let types = function.generics.parameters.iter().filter(|generic| !generic.is_const).map(|generic| {
        let (name, bounds) = (&generic.name, &generic.bounds);
        if bounds.is_empty() { quote!(#name: 'static,) } else { quote!(#name: #bounds + 'static,) }
    });
    let is_sized = |input: &&Input| input.passing != Passing::UnsizedReference;
    let arg = function.arg(options).filter(is_sized).map(|arg| {
        let ty = &arg.ty;
        quote!(#ty: ::core::clone::Clone + ::core::fmt::Debug + 'static,)
    });
    let input = function.input(options).filter(is_sized).map(|input| {
        let ty = &input.ty;
        quote!(#ty: ::core::clone::Clone + ::core::cmp::PartialEq + ::core::fmt::Debug + 'static,)
    });
    quote!(#given #(#types)* #arg #input)
}

/// One choice of types and constants.
struct Instance {
    /// In the order of the parameters.
    arguments: Vec<TokenStream>,
    /// What can be displayed: the type as it was written, and the constant as it is printed for debugging.
    name: Vec<TokenStream>,
}

fn instances<'a>(options: &'a Options, function: &'a Function) -> impl Iterator<Item = Instance> + use<'a> {
    let values = |given: &Option<Given>, is_types| {
        let list = given.as_ref().and_then(|given| value::list(&given.value, is_types));
        list.map_or_else(|| vec![None], |values| values.into_iter().map(Some).collect())
    };
    // Those that are in braces already get no second ones, of which the compiler would warn.
    let consts: Vec<_> =
        values(&options.consts, false).into_iter().map(|constant| constant.map(without_braces)).collect();
    values(&options.types, true).into_iter().flat_map(move |ty| {
        let consts = consts.clone();
        consts.into_iter().map(move |constant| {
            let argument = |is_const: bool| if is_const { constant.clone() } else { ty.clone() };
            let arguments = function.generics.parameters.iter().filter_map(|generic| {
                let argument = argument(generic.is_const)?;
                Some(if generic.is_const { quote!({ #argument }) } else { argument })
            });
            let ty_name = ty.as_ref().map(|ty| {
                let written = written(ty);
                quote!(&#written)
            });
            let constant_name = constant.as_ref().map(|constant| quote!(&::std::format!("{:?}", #constant)));
            Instance { arguments: arguments.collect(), name: ty_name.into_iter().chain(constant_name).collect() }
        })
    })
}

/// What stands between braces, if a constant is in them.
fn without_braces(constant: TokenStream) -> TokenStream {
    let mut tokens = constant.clone().into_iter();
    match (tokens.next(), tokens.next()) {
        (Some(TokenTree::Group(group)), None) if group.delimiter() == Delimiter::Brace => group.stream(),
        _ => constant,
    }
}

/// A type as a person would write it: tokens apart where they would run together otherwise.
fn written(ty: &TokenStream) -> String {
    let text = ty.to_string();
    let mut written = String::new();
    for (position, c) in text.char_indices() {
        let before = written.chars().last();
        let after = text[position..].trim_start().chars().next();
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '\'');
        let is_needed = (is_word(before) && is_word(after)) || before == Some(',') || before == Some(';');
        if c != ' ' || is_needed {
            written.push(c);
        }
    }
    written
}

/// The statements that add the cases. `cases` and `prefix` are in scope.
fn body(private: &TokenStream, options: &Options, function: &Function) -> TokenStream {
    // Invisible to the expressions that the person wrote.
    let [arg, input, runtime] = ["arg", "input", "runtime"].map(|name| Ident::new(name, Span::mixed_site()));
    let name = callee(function);
    let passed_arg = function.arg(options).map(|parameter| match parameter.passing {
        Passing::Value => quote!(::core::clone::Clone::clone(&#arg),),
        Passing::Reference => quote!(#arg,),
        Passing::UnsizedReference => quote!(::core::borrow::Borrow::borrow(#arg),),
    });
    // The runtime is made once for each case, before anything is measured.
    let make_runtime = function.is_async.then(|| match &options.runtime {
        Some(Given { key, value }) => quote_spanned!(at(value::span(value, key.span()))=> let #runtime = #value;),
        None => quote!(let #runtime = #private::DefaultRuntime;),
    });
    let runtime_span = options.runtime.as_ref().map_or_else(Span::mixed_site, |given| at(given.key.span()));
    let called = |with: TokenStream| {
        let call = quote!(#name(#with));
        if function.is_async { quote_spanned!(runtime_span=> #runtime.block_on(#call)) } else { call }
    };

    if function.has_bencher {
        return match function.arg(options) {
            None => quote!(cases.one_with_bencher(prefix, |bencher| #name(bencher));),
            Some(parameter) => {
                let (method, ty, values, size) = args(private, options, parameter, true);
                quote!(cases.#method::<#ty>(prefix, #values, #size, |bencher, #arg| #name(bencher, #passed_arg));)
            }
        };
    }
    let target = match (function.input(options), &options.inputs) {
        (Some(parameter), Some(inputs)) => {
            let collected = collected_inputs(private, options, inputs, parameter);
            let call = called(quote!(#passed_arg #input));
            let ty = &parameter.ty;
            let result = &function.result;
            let by_reference = parameter.passing != Passing::Value;
            let chained = match &options.latency {
                None => quote!(::core::option::Option::None),
                Some(latency) => quote_spanned! {at(latency.span())=>
                    ::core::option::Option::Some((
                        ::std::boxed::Box::new(move |queue| {
                            #private::sample_chained::<#ty, #result>(queue, |#input| #call)
                        }),
                        #private::link_cycles::<#ty, #result>(),
                    ))
                },
            };
            if by_reference {
                quote!({
                    #make_runtime
                    let max_calls = #private::max_calls_of(&|#input: &#ty| #call);
                    #collected.by_reference_with::<#ty>(
                        ::std::boxed::Box::new(move |queue| #private::sample(queue, |#input| #call)),
                        max_calls,
                    )
                })
            } else {
                // Latency takes a closure of its own, so what is captured is shared by both.
                let shared = function
                    .arg(options)
                    .filter(|_| options.latency.is_some())
                    .filter(|arg| arg.passing == Passing::Value);
                let chained = match shared {
                    Some(_) => quote!({ let #arg = ::core::clone::Clone::clone(&#arg); #chained }),
                    None => chained,
                };
                quote!({
                    #make_runtime
                    let max_calls = #private::max_calls_of(&|#input: #ty| #call);
                    let chained: ::core::option::Option<(#private::Sample<#ty>, f64)> = #chained;
                    #collected.by_value_with(
                        ::std::boxed::Box::new(move |queue| #private::sample(queue, |#input| #call)),
                        chained,
                        max_calls,
                    )
                })
            }
        }
        _ => match function.arg(options) {
            Some(parameter) if parameter.passing == Passing::Value && !function.is_async => {
                quote!(#private::with_arg(::core::clone::Clone::clone(&#arg), #name))
            }
            _ => {
                let call = called(quote!(#passed_arg));
                let hidden = function.arg(options).filter(|parameter| parameter.passing != Passing::Value);
                let hidden = hidden.map(|_| quote!(let #arg = #private::black_box(#arg);));
                quote!({
                    #make_runtime
                    #private::plain(move || { #hidden #call })
                })
            }
        },
    };
    let Some(parameter) = function.arg(options) else {
        return quote!(cases.one(prefix, || #target););
    };
    let (method, ty, values, size) = args(private, options, parameter, false);
    // With inputs these have been counted; without, what is counted is of the argument.
    let target = if options.inputs.is_some() {
        target
    } else {
        options.counters.iter().fold(target, |target, Given { key, value }| {
            let kind = counted(private, key);
            let amount = quote_spanned!(at(value::span(value, key.span()))=> #private::amount(&#arg, #value));
            quote!(#private::counted(#target, #kind, #amount))
        })
    };
    quote!(cases.#method::<#ty>(prefix, #values, #size, |#arg| #target);)
}

/// The function with its parameters, where they are not found out by themselves.
fn callee(function: &Function) -> TokenStream {
    let name = &function.name;
    let parameters: Vec<&Ident> = function.generics.parameters.iter().map(|generic| &generic.name).collect();
    if parameters.is_empty() { quote!(#name) } else { quote!(#name::<#(#parameters),*>) }
}

/// The method that adds a case for each argument, the type of the arguments, the arguments and their size.
fn args(
    private: &TokenStream,
    options: &Options,
    parameter: &Input,
    has_bencher: bool,
) -> (Ident, TokenStream, TokenStream, TokenStream) {
    let method = match (parameter.passing == Passing::Value, has_bencher) {
        (true, false) => "args",
        (true, true) => "args_with_bencher",
        (false, false) => "args_ref",
        (false, true) => "args_ref_with_bencher",
    };
    let values = options.args.as_ref().map(|Given { key, value }| {
        // The span of the type makes the compiler point at the parameter where the values do not suit it.
        quote_spanned!(at(value::span(value, key.span()))=> #value)
    });
    let size = match &options.complexity {
        Some(complexity) => quote_spanned!(at(complexity.span())=>
            |arg| ::core::option::Option::Some(#private::Size::size(arg))),
        None => quote!(|_| ::core::option::Option::None),
    };
    (Ident::new(method, at(parameter.span)), parameter.item(), quote!(#values), size)
}
