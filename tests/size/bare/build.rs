//! No start files, no libraries: what is not in the program is nowhere.
fn main() {
    for arg in ["-nostartfiles", "-nostdlib", "-static", "-Wl,--gc-sections", "-Wl,--no-undefined"] {
        println!("cargo:rustc-link-arg-bins={arg}");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
