//! No start files, no libraries.
fn main() {
    let target = std::env::var("TARGET").unwrap_or_default();
    let args: &[&str] = if target.contains("linux") {
        &["-nostartfiles", "-nostdlib", "-static", "-Wl,--gc-sections", "-Wl,--no-undefined"]
    } else {
        &["--gc-sections", "--no-undefined"]
    };
    for arg in args {
        println!("cargo:rustc-link-arg-bins={arg}");
    }
    println!("cargo:rerun-if-changed=build.rs");
}
