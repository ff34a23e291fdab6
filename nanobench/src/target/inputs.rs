//! The targets that the attribute makes: of a function without inputs, and of one with inputs, by value or by reference.

use std::borrow::Borrow;
use std::fmt::{Debug, Display};

use super::*;

/// A function without inputs: pointers to what was compiled for it.
pub(crate) struct Plain {
    /// Times so many calls.
    pub(crate) sample: fn(u64) -> u64,
    /// The most calls of a sample.
    pub(crate) max_calls: u64,
}

impl Target for Plain {
    fn groups(&self) -> &Groups {
        &Groups::NoInputs
    }

    fn max_calls(&self) -> u64 {
        self.max_calls
    }

    fn sample_after(&mut self, timed: Timed, calls: u64, _order: &[u32], gate: &mut dyn FnMut()) -> u64 {
        let sample = match timed {
            Timed::Function(Mode::Throughput) => self.sample,
            Timed::Function(Mode::Latency) => panic!("{NOT_CHAINED}"),
            Timed::EmptyLoop => empty_loop_plain,
        };
        gate();
        sample(calls)
    }
}

/// The inputs of a benchmark on their way to becoming a target: first the values, then their groups, then the function.
pub struct Inputs<T> {
    values: Vec<T>,
    groups: Option<Groups>,
    amounts: Vec<Amounts>,
}

/// Times a call for each of the queue.
pub type Sample<Q> = Box<dyn Fn(&mut Vec<Q>) -> u64>;
/// The same for inputs that are lent.
type SampleLent<B> = Box<dyn for<'a> Fn(&mut Vec<&'a B>) -> u64>;

impl<T> Inputs<T> {
    /// Takes the inputs. A value that comes several times is that much more frequent.
    ///
    /// # Panics
    ///
    /// If there are none.
    pub fn new(values: impl IntoIterator<Item = T>) -> Self {
        let values: Vec<T> = values.into_iter().collect();
        assert!(!values.is_empty(), "`inputs` is empty: a benchmark needs at least one input");
        Self { values, groups: None, amounts: Vec::new() }
    }

    /// Groups the inputs by a label.
    pub fn by<L: Display>(mut self, label: impl Fn(&T) -> L) -> Self {
        self.groups = Some(Groups::labelled(self.values.len(), &|input| label(&self.values[input]).to_string()));
        self
    }

    /// Says how much of something a call does with an input.
    pub fn counted<N: Size>(mut self, counted: Counted, amount: impl Fn(&T) -> N) -> Self {
        let per_input = self.values.iter().map(|input| amount(input).size()).collect();
        self.amounts.push(Amounts { counted, per_input });
        self
    }
}

// Never inlined: one copy serves all benchmarks with the same type of input, where each would otherwise be compiled with its own.
impl<T: Clone + PartialEq + Debug + 'static> Inputs<T> {
    /// Makes a target of a function that takes its input by value; it gets a clone, made while the clock stands still.
    #[inline(never)]
    pub fn by_value(self, sample: fn(&mut Vec<T>) -> u64, max_calls: u64) -> Box<dyn Target> {
        self.by_value_with(Box::new(sample), None, max_calls)
    }

    /// The same for a function that has been compiled for latency as well.
    #[inline(never)]
    pub fn by_value_chained(
        self,
        sample: fn(&mut Vec<T>) -> u64,
        sample_chained: fn(&mut Vec<T>) -> u64,
        link_cycles: f64,
        max_calls: u64,
    ) -> Box<dyn Target> {
        self.by_value_with(Box::new(sample), Some((Box::new(sample_chained), link_cycles)), max_calls)
    }

    /// The same for loops that have captured something. What latency needs comes with the cycles of the link.
    #[inline(never)]
    pub fn by_value_with(
        self,
        sample: Sample<T>,
        chained: Option<(Sample<T>, f64)>,
        max_calls: u64,
    ) -> Box<dyn Target> {
        let (values, groups, amounts) = self.grouped();
        Box::new(ByValue { values, groups, amounts, queue: Vec::new(), sample, chained, max_calls })
    }

    /// Makes a target of a function that takes its input by reference, perhaps as what the input borrows as: `&str` for
    /// inputs of type `String`.
    #[inline(never)]
    pub fn by_reference<B: ?Sized + 'static>(self, sample: fn(&mut Vec<&B>) -> u64, max_calls: u64) -> Box<dyn Target>
    where
        T: Borrow<B>,
    {
        self.by_reference_with(Box::new(sample), max_calls)
    }

    /// The same for a loop that has captured something.
    #[inline(never)]
    pub fn by_reference_with<B: ?Sized + 'static>(self, sample: SampleLent<B>, max_calls: u64) -> Box<dyn Target>
    where
        T: Borrow<B>,
    {
        let (values, groups, amounts) = self.grouped();
        Box::new(ByReference { values, groups, amounts, sample, max_calls })
    }

    fn grouped(self) -> (Vec<T>, Groups, Vec<Amounts>) {
        let values = self.values;
        let groups = self.groups.unwrap_or_else(|| {
            Groups::distinct(values.len(), &|a, b| values[a] == values[b], &|input| format!("{:?}", values[input]))
        });
        (values, groups, self.amounts)
    }
}

struct ByValue<T> {
    values: Vec<T>,
    groups: Groups,
    amounts: Vec<Amounts>,
    queue: Vec<T>,
    sample: Sample<T>,
    /// What latency needs, and the cycles of the link; none if the function was not compiled for it.
    chained: Option<(Sample<T>, f64)>,
    max_calls: u64,
}

impl<T: Clone> Target for ByValue<T> {
    fn groups(&self) -> &Groups {
        &self.groups
    }

    fn max_calls(&self) -> u64 {
        self.max_calls
    }

    fn sample_after(&mut self, timed: Timed, _calls: u64, order: &[u32], gate: &mut dyn FnMut()) -> u64 {
        let sample: &dyn Fn(&mut Vec<T>) -> u64 = match (timed, &self.chained) {
            (Timed::Function(Mode::Throughput), _) => &*self.sample,
            (Timed::Function(Mode::Latency), Some((chained, _))) => &**chained,
            (Timed::Function(Mode::Latency), None) => panic!("{NOT_CHAINED}"),
            (Timed::EmptyLoop, _) => &empty_loop::<T>,
        };
        self.queue.extend(order.iter().map(|&input| self.values[input as usize].clone()));
        gate();
        sample(&mut self.queue)
    }

    fn link_cycles(&self) -> f64 {
        self.chained.as_ref().map_or(0.0, |(_, link_cycles)| *link_cycles)
    }

    fn amounts(&self) -> &[Amounts] {
        &self.amounts
    }
}

struct ByReference<T, B: ?Sized> {
    values: Vec<T>,
    groups: Groups,
    amounts: Vec<Amounts>,
    sample: SampleLent<B>,
    max_calls: u64,
}

impl<T: Borrow<B>, B: ?Sized> Target for ByReference<T, B> {
    fn groups(&self) -> &Groups {
        &self.groups
    }

    fn max_calls(&self) -> u64 {
        self.max_calls
    }

    fn sample_after(&mut self, timed: Timed, _calls: u64, order: &[u32], gate: &mut dyn FnMut()) -> u64 {
        assert!(timed != Timed::Function(Mode::Latency), "{NOT_CHAINED}");
        let mut queue = order.iter().map(|&input| self.values[input as usize].borrow()).collect();
        gate();
        if timed == Timed::EmptyLoop { empty_loop(&mut queue) } else { (self.sample)(&mut queue) }
    }

    fn amounts(&self) -> &[Amounts] {
        &self.amounts
    }
}
