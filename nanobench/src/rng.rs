//! The random generator that shuffles inputs and varies sample sizes: RomuDuoJr, small and much faster than what is timed.
//!
//! Source: Mark A. Overton, "Romu: Fast Nonlinear Pseudo-Random Number Generators Providing High Quality", 2020,
//! <https://arxiv.org/abs/2002.11331>. Seeds are spread with SplitMix64: Steele, Lea and Flood, "Fast Splittable
//! Pseudorandom Number Generators", OOPSLA 2014.

/// A stream of random numbers that is the same for the same seed.
#[derive(Clone, Debug)]
pub(crate) struct Rng {
    x: u64,
    y: u64,
}

impl Rng {
    /// A generator whose stream is determined by `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        let mut state = seed;
        let mut rng = Self { x: split_mix(&mut state), y: split_mix(&mut state) };
        // The first outputs still resemble the state.
        for _ in 0..10 {
            rng.next();
        }
        rng
    }

    /// The next 64 random bits.
    pub(crate) fn next(&mut self) -> u64 {
        let x = self.x;
        self.x = self.y.wrapping_mul(15_241_094_284_759_029_579);
        self.y = self.y.wrapping_sub(x).rotate_left(27);
        x
    }

    /// A number from 0 up to but not including `range`, by a multiplication rather than a division; the bias is below
    /// `range` in 2^32.
    pub(crate) fn bounded(&mut self, range: u32) -> u32 {
        let bits = self.next() & 0xffff_ffff;
        ((bits * u64::from(range)) >> 32) as u32
    }

    /// A number from 0 up to but not including 1, with 52 random bits.
    pub(crate) fn uniform01(&mut self) -> f64 {
        f64::from_bits((0x3ff << 52) | (self.next() >> 12)) - 1.0
    }

    /// Puts `items` in random order, each order as likely as any other.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for length in (2..=items.len()).rev() {
            let range = u32::try_from(length).expect("at most 2^32 items are shuffled");
            items.swap(length - 1, self.bounded(range) as usize);
        }
    }
}

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

    #[test]
    fn streams_equal_those_of_the_reference_implementation() {
        let first_four = |seed| {
            let mut rng = Rng::new(seed);
            [(); 4].map(|()| rng.next())
        };
        assert_eq!(
            first_four(0),
            [0xa7c4_5111_ce04_ee51, 0xb233_94f3_7a2b_2e16, 0x8a1c_4e76_add7_024a, 0x3888_050a_e21b_4790]
        );
        assert_eq!(
            first_four(123),
            [0x1ed9_1085_e82e_5faf, 0x241f_15a8_f6c1_cc0b, 0xb90f_9c37_7cf7_6464, 0x4129_bd1c_7435_390c]
        );
        assert_eq!(
            first_four(u64::MAX),
            [0x933a_5341_01dc_4966, 0x2365_4e08_5966_9709, 0x46e1_8b99_b95d_1a61, 0x66c4_0011_ce96_436e]
        );
    }

    #[test]
    fn bounded_and_uniform_numbers_equal_those_of_the_reference_implementation() {
        let mut rng = Rng::new(123);
        assert_eq!([(); 6].map(|()| rng.bounded(1000)), [906, 963, 488, 453, 708, 323]);
        let mut rng = Rng::new(1);
        assert_eq!([(); 3].map(|()| rng.uniform01()), [0.5883770471180616, 0.7756789327805862, 0.3044949798909695]);
    }

    #[test]
    fn shuffles_equal_those_of_the_reference_implementation() {
        for (seed, expected) in [(0, "27015436"), (1, "16754230"), (123, "31045267"), (u64::MAX, "13765420")] {
            let mut digits: Vec<char> = ('0'..'8').collect();
            Rng::new(seed).shuffle(&mut digits);
            assert_eq!(digits.into_iter().collect::<String>(), expected, "seed {seed}");
        }
    }
}
