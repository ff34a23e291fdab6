//! The tests of what a person sees are in `tests/`, and the programs that they run in `fixtures/`.
