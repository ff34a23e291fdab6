//! The random generator that shuffles inputs and varies sample sizes, and that benchmarks can make their inputs with.

use std::hash::{BuildHasher, RandomState};
use std::time::SystemTime;

/// A stream of random numbers that is the same for the same seed, for inputs of benchmarks: RomuDuoJr, which takes a
/// multiplication, a subtraction and a rotation for 64 bits. It is not for cryptography.
///
/// The streams equal those of the generator in martinus/nanobench for C++ with the same seeds. A copy would repeat the numbers of
/// the original, so it takes an explicit `clone`.
///
/// Sources: M. Overton, "Romu: Fast Nonlinear Pseudo-Random Number Generators Providing High Quality", 2020,
/// <https://arxiv.org/abs/2002.11331>; for the seeds, G. Steele, D. Lea and C. Flood, "Fast Splittable Pseudorandom Number
/// Generators", OOPSLA 2014.
///
/// # Examples
///
/// ```
/// use nanobench::{Rng, nanobench};
///
/// fn keys() -> Vec<u32> {
///     let mut rng = Rng::new(123);
///     (0..1000).map(|_| rng.bounded(1_000_000)).collect()
/// }
///
/// #[nanobench(inputs = keys(), by = |key| if *key < 1000 { "small" } else { "large" })]
/// fn digits(key: u32) -> usize {
///     key.to_string().len()
/// }
///
/// nanobench::main!();
/// ```
#[derive(Clone, Debug)]
pub struct Rng {
    x: u64,
    y: u64,
}

impl Rng {
    /// A generator whose stream is determined by `seed`.
    ///
    /// ```
    /// let mut rng = nanobench::Rng::new(123);
    /// assert_eq!(rng.next_u64(), 0x1ed9_1085_e82e_5faf);
    /// ```
    pub fn new(seed: u64) -> Self {
        let mut state = seed;
        let mut rng = Self { x: split_mix(&mut state), y: split_mix(&mut state) };
        // The first outputs still resemble the state.
        for _ in 0..10 {
            rng.next_u64();
        }
        rng
    }

    /// A generator with another stream each time, seeded from the time and from the random keys of the standard library's hash
    /// maps. Print its [`state`](Self::state) to be able to repeat what it led to.
    ///
    /// ```
    /// use nanobench::Rng;
    ///
    /// assert_ne!(Rng::random().next_u64(), Rng::random().next_u64());
    /// ```
    pub fn random() -> Self {
        Self::new(RandomState::new().hash_one(SystemTime::now()))
    }

    /// What [`from_state`](Self::from_state) goes on from.
    pub fn state(&self) -> [u64; 2] {
        [self.x, self.y]
    }

    /// A generator that goes on where another was when it was asked for its [`state`](Self::state).
    ///
    /// # Panics
    ///
    /// If both numbers are zero: no generator gets there, and nothing but zeros would follow.
    ///
    /// ```
    /// use nanobench::Rng;
    ///
    /// let mut rng = Rng::random();
    /// let mut again = Rng::from_state(rng.state());
    /// assert_eq!(again.next_u64(), rng.next_u64());
    /// ```
    pub fn from_state(state: [u64; 2]) -> Self {
        assert!(state != [0, 0], "a generator in the state [0, 0] makes nothing but zeros: use `Rng::new` for a seed");
        let [x, y] = state;
        Self { x, y }
    }

    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let x = self.x;
        self.x = self.y.wrapping_mul(15_241_094_284_759_029_579);
        self.y = self.y.wrapping_sub(x).rotate_left(27);
        x
    }

    /// A number from 0 up to but not including `range`; 0 if `range` is 0.
    ///
    /// It is the upper half of the product of `range` and 32 random bits, which is much faster than a remainder. Unless `range`
    /// is a power of two, some numbers come up more often than others: the probability of each is off by less than 2^-32, which
    /// is a share of less than `range` in 2^32 of itself.
    ///
    /// Source: D. Lemire, "Fast Random Integer Generation in an Interval", ACM Transactions on Modeling and Computer Simulation
    /// 29, 2019, without the rejection that removes the bias.
    ///
    /// ```
    /// let mut rng = nanobench::Rng::new(123);
    /// assert_eq!([(); 3].map(|()| rng.bounded(1000)), [906, 963, 488]);
    /// ```
    #[inline]
    pub fn bounded(&mut self, range: u32) -> u32 {
        let bits = self.next_u64() & 0xffff_ffff;
        ((bits * u64::from(range)) >> 32) as u32
    }

    /// A number from 0 up to but not including 1, with 52 random bits.
    ///
    /// ```
    /// let mut rng = nanobench::Rng::new(123);
    /// let fahrenheit = -40.0 + 140.0 * rng.uniform01();
    /// assert!((-40.0..100.0).contains(&fahrenheit));
    /// ```
    #[inline]
    pub fn uniform01(&mut self) -> f64 {
        f64::from_bits((0x3ff << 52) | (self.next_u64() >> 12)) - 1.0
    }

    /// Puts `items` in random order, each order as likely as any other but for the bias of [`bounded`](Self::bounded).
    ///
    /// Source: R. Durstenfeld, "Algorithm 235: Random Permutation", Communications of the ACM 7, 1964.
    ///
    /// # Panics
    ///
    /// If there are 2^32 items or more.
    ///
    /// ```
    /// let mut digits = [0, 1, 2, 3, 4, 5, 6, 7];
    /// nanobench::Rng::new(123).shuffle(&mut digits);
    /// assert_eq!(digits, [3, 1, 0, 4, 5, 2, 6, 7]);
    /// ```
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for length in (2..=items.len()).rev() {
            let range = u32::try_from(length).expect("fewer than 2^32 items are shuffled");
            items.swap(length - 1, self.bounded(range) as usize);
        }
    }
}

/// SplitMix64, which makes unlike states of like seeds.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the reference implementation, version 4.0.0, makes of a seed. Each field is from a fresh generator.
    struct Golden {
        seed: u64,
        bits: [u64; 4],
        below_1000: [u32; 6],
        uniform: [f64; 3],
        shuffled: &'static str,
    }

    #[expect(clippy::excessive_precision, reason = "the reference implementation prints 17 digits")]
    const GOLDEN: [Golden; 4] = [
        Golden {
            seed: 0,
            bits: [0xa7c4_5111_ce04_ee51, 0xb233_94f3_7a2b_2e16, 0x8a1c_4e76_add7_024a, 0x3888_050a_e21b_4790],
            below_1000: [804, 477, 679, 883, 480, 126],
            uniform: [0.65533930477797098, 0.69609957641857223, 0.53949442288816485],
            shuffled: "27015436",
        },
        Golden {
            seed: 1,
            bits: [0x969f_e0cf_16d0_f011, 0xc692_e500_7d22_0faf, 0x4df3_620c_6d8a_590f, 0xb2fd_745a_d170_64d3],
            below_1000: [89, 488, 427, 818, 720, 200],
            uniform: [0.5883770471180616, 0.77567893278058619, 0.30449497989096952],
            shuffled: "16754230",
        },
        Golden {
            seed: 123,
            bits: [0x1ed9_1085_e82e_5faf, 0x241f_15a8_f6c1_cc0b, 0xb90f_9c37_7cf7_6464, 0x4129_bd1c_7435_390c],
            below_1000: [906, 963, 488, 453, 708, 323],
            uniform: [0.12049964207852182, 0.14109931349844995, 0.72289444307986406],
            shuffled: "31045267",
        },
        Golden {
            seed: u64::MAX,
            bits: [0x933a_5341_01dc_4966, 0x2365_4e08_5966_9709, 0x46e1_8b99_b95d_1a61, 0x66c4_0011_ce96_436e],
            below_1000: [7, 349, 724, 806, 633, 17],
            uniform: [0.57510872208682517, 0.13826453880155953, 0.2768790483763619],
            shuffled: "13765420",
        },
    ];

    #[test]
    fn numbers_equal_those_of_the_reference_implementation() {
        for Golden { seed, bits, below_1000, uniform, shuffled } in GOLDEN {
            let mut rng = Rng::new(seed);
            assert_eq!([(); 4].map(|()| rng.next_u64()), bits, "seed {seed}");
            let mut rng = Rng::new(seed);
            assert_eq!([(); 6].map(|()| rng.bounded(1000)), below_1000, "seed {seed}");
            let mut rng = Rng::new(seed);
            assert_eq!([(); 3].map(|()| rng.uniform01()), uniform, "seed {seed}");
            let mut digits: Vec<char> = ('0'..'8').collect();
            Rng::new(seed).shuffle(&mut digits);
            assert_eq!(digits.into_iter().collect::<String>(), shuffled, "seed {seed}");
        }
    }

    #[test]
    fn a_stream_goes_on_from_its_state() {
        let mut rng = Rng::new(7);
        rng.next_u64();
        let state = rng.state();
        let mut clone = rng.clone();
        let mut again = Rng::from_state(state);
        assert_eq!(again.state(), state);
        for _ in 0..100 {
            let bits = rng.next_u64();
            assert_eq!([again.next_u64(), clone.next_u64()], [bits; 2]);
        }
    }

    #[test]
    #[should_panic(expected = "nothing but zeros")]
    fn a_state_without_a_stream_is_refused() {
        Rng::from_state([0, 0]);
    }

    #[test]
    fn two_random_generators_differ() {
        assert_ne!(Rng::random().state(), Rng::random().state());
    }

    #[test]
    fn bounded_numbers_are_in_range_and_cover_it() {
        let mut rng = Rng::new(1);
        assert_eq!([rng.bounded(0), rng.bounded(1)], [0, 0]);
        for range in [2, 3, 10, 100] {
            let mut counts = vec![0; range as usize];
            for _ in 0..range * 1000 {
                counts[rng.bounded(range) as usize] += 1;
            }
            // A count is Poisson with a standard deviation of 32.
            assert!(counts.iter().all(|count| (840..1160).contains(count)), "{counts:?}");
        }
        assert!((0..100).any(|_| rng.bounded(u32::MAX) > u32::MAX / 2));
    }

    #[test]
    fn uniform_numbers_are_from_0_up_to_1() {
        let mut rng = Rng::new(1);
        let numbers: Vec<f64> = (0..10_000).map(|_| rng.uniform01()).collect();
        assert!(numbers.iter().all(|number| (0.0..1.0).contains(number)));
        let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
        assert!((mean - 0.5).abs() < 0.015, "{mean}");
    }

    #[test]
    fn a_shuffle_is_a_permutation_and_each_comes_up() {
        let mut rng = Rng::new(1);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..24_000 {
            let mut items = [1, 2, 3, 4];
            rng.shuffle(&mut items);
            *counts.entry(items).or_insert(0) += 1;
        }
        assert!(counts.keys().all(|items| (1..=4).all(|item| items.contains(&item))));
        assert_eq!(counts.len(), 24);
        assert!(counts.values().all(|count| (840..1160).contains(count)), "{counts:?}");
        rng.shuffle::<u8>(&mut []);
    }
}
