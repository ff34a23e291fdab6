use nanobench::nanobench;

#[nanobench(consts = [])]
fn zeros<const N: usize>() -> [u8; N] {
    [0; N]
}

fn main() {}
