//! For which processors it is certain what an instruction costs.
//!
//! Sources: the instruction tables of Agner Fog and of uops.info, and the optimisation guides of AMD and Intel. What differs
//! between the members of a family, or is not in all of these sources, counts as unknown.

/// What a chain consists of.
// Each architecture has only some of them.
#[allow(dead_code)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Instruction {
    /// Nothing: what is measured is what the loop around it costs.
    Nothing,
    /// An addition of two registers.
    Add,
    /// A rotation by a constant.
    Rotation,
    /// A multiplication of 32 bits. Those of 64 bits take four cycles on the first Zen.
    Multiplication,
    /// Multiplications that do not wait for each other, so that their number in a cycle decides.
    IndependentMultiplications,
}

/// The kind of processor that this is.
// Each architecture makes only its own kinds.
#[allow(dead_code)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Processor {
    /// AMD's Zen to Zen 4, and their relatives by Hygon: families 17h to 19h.
    Zen,
    /// AMD's Zen 5, family 1Ah, which has several multipliers.
    Zen5,
    /// Intel's Skylake to Raptor Lake and Emerald Rapids, where all cores are of one kind.
    IntelCore,
    /// Those where some cores are of another kind, or that are newer: their multipliers differ.
    OtherIntel,
    /// A 64-bit Arm processor, whichever it is.
    Arm,
    /// Something else.
    Unknown,
}

impl Processor {
    /// Whether it is certain what the instruction costs.
    pub(crate) fn is_certain_of(self, instruction: Instruction) -> bool {
        match instruction {
            Instruction::Nothing | Instruction::Add => self != Self::Unknown,
            Instruction::Rotation => !matches!(self, Self::Unknown | Self::Arm),
            Instruction::Multiplication => matches!(self, Self::Zen | Self::Zen5 | Self::IntelCore),
            Instruction::IndependentMultiplications => matches!(self, Self::Zen | Self::IntelCore),
        }
    }

    /// The processor that runs this program.
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    pub(crate) fn this() -> Self {
        let [highest_leaf, vendor @ ..] = cpuid(0);
        let [signature, ..] = cpuid(1);
        let family = ((signature >> 8) & 0xf) + ((signature >> 20) & 0xff);
        let model = ((signature >> 4) & 0xf) + ((signature >> 12) & 0xf0);
        let is_hybrid = highest_leaf >= 7 && (cpuid(7)[3] >> 15) & 1 == 1;
        let vendor: Vec<u8> = [vendor[0], vendor[2], vendor[1]].into_iter().flat_map(u32::to_le_bytes).collect();
        match (&*vendor, family, model) {
            (b"AuthenticAMD" | b"HygonGenuine", 0x17..=0x19, _) => Self::Zen,
            (b"AuthenticAMD", 0x1a, _) => Self::Zen5,
            (b"GenuineIntel", 6, model) if is_one_of_a_kind(model) && !is_hybrid => Self::IntelCore,
            (b"GenuineIntel", 6, model) if is_hybrid || is_one_of_a_kind(model) => Self::OtherIntel,
            _ => Self::Unknown,
        }
    }

    /// The processor that runs this program.
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    pub(crate) fn this() -> Self {
        if cfg!(all(target_arch = "aarch64", not(miri))) { Self::Arm } else { Self::Unknown }
    }
}

/// Skylake, Kaby, Cannon and Comet Lake, Ice, Tiger and Rocket Lake, Alder and Raptor Lake, Sapphire and Emerald Rapids.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn is_one_of_a_kind(model: u32) -> bool {
    let skylakes = [0x4e, 0x55, 0x5e, 0x66, 0x8e, 0x9e, 0xa5, 0xa6];
    let ice_lakes = [0x6a, 0x6c, 0x7d, 0x7e, 0x8c, 0x8d, 0xa7];
    let golden_coves = [0x8f, 0x97, 0x9a, 0xb7, 0xba, 0xbf, 0xcf];
    [&skylakes[..], &ice_lakes, &golden_coves].iter().any(|models| models.contains(&model))
}

/// The registers `eax`, `ebx`, `ecx` and `edx` of a leaf.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn cpuid(leaf: u32) -> [u32; 4] {
    // The function is safe in newer versions of the standard library only.
    #[allow(unused_unsafe)]
    // SAFETY: every 64-bit x86 processor has the instruction.
    let leaf = unsafe { std::arch::x86_64::__cpuid(leaf) };
    [leaf.eax, leaf.ebx, leaf.ecx, leaf.edx]
}
