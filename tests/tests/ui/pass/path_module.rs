//! A module from a file elsewhere.

#[path = "../registered.rs"]
mod registered;

#[path = "../elsewhere.rs"]
mod inner;

fn main() {
    assert_eq!(registered::count(), 1);
    assert!(registered::entry("elsewhere").file.ends_with("elsewhere.rs"));
    assert!(registered::entry("elsewhere").module_path.ends_with("::inner"));
}
