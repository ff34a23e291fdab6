//! What does decoding UTF-8 cost when one, two, three and four bytes a character are mixed, and when they are not?
//!
//! The texts have 64 characters each. In a text of one script every character takes the same path; in a mixed one the
//! decoder cannot know the next width.

use nanobench::nanobench;
use nanobench_examples::random_numbers;

const CHARACTERS: usize = 64;

const SCRIPTS: [(&str, &[char]); 4] = [
    ("latin", &['a', 'e', 'n', 't', ' ', '.']),
    ("greek", &['α', 'ε', 'ν', 'τ', 'ο', 'ς']),
    ("kana", &['あ', 'い', 'う', 'え', 'お', 'ん']),
    ("emoji", &['🦀', '🚀', '🎉', '🔥', '🌍', '🧪']),
];

/// Thirty texts of each script, and as many in which any character may be of any script.
fn texts() -> Vec<String> {
    let mut random = random_numbers();
    let mut below = |limit: usize| (random.next().unwrap_or_default() % limit as u64) as usize;
    let mut texts = Vec::new();
    for script in 0..=SCRIPTS.len() {
        for _ in 0..30 {
            let text = (0..CHARACTERS).map(|_| {
                let (_, characters) = SCRIPTS[if script < SCRIPTS.len() { script } else { below(SCRIPTS.len()) }];
                characters[below(characters.len())]
            });
            texts.push(text.collect());
        }
    }
    texts
}

/// The only script of a text, or `mixed`.
fn script(text: &str) -> &'static str {
    let only = SCRIPTS.iter().find(|(_, characters)| text.chars().all(|c| characters.contains(&c)));
    only.map_or("mixed", |(name, _)| name)
}

#[nanobench(inputs = texts(), by = |text| script(text), unit = "char", batch = CHARACTERS)]
fn decode(text: &str) -> u32 {
    text.chars().fold(0, |sum, c| sum.wrapping_add(u32::from(c)))
}

nanobench::main!();
