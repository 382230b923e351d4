//! Where memory is on the machine that QEMU emulates.
use std::{env, fs, path::Path};

fn main() {
    let target = env::var("TARGET").unwrap_or_default();
    let (flash, ram) = if target.starts_with("riscv32") {
        ("0x80000000, LENGTH = 1M", "0x80100000, LENGTH = 16K")
    } else {
        ("0, LENGTH = 192K", "0x20000000, LENGTH = 16K")
    };
    let out = env::var("OUT_DIR").expect("cargo sets it");
    let memory = format!("MEMORY {{ FLASH : ORIGIN = {flash}\n RAM : ORIGIN = {ram} }}\n");
    fs::write(Path::new(&out).join("memory.x"), memory).expect("the folder is cargo's");
    println!("cargo:rustc-link-search={out}");
    println!("cargo:rustc-link-search={}", env::var("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    for arg in ["-Tmemory.x", "-Tlink.x", "--nmagic", "--gc-sections", "--icf=all", "--no-undefined"] {
        println!("cargo:rustc-link-arg={arg}");
    }
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=link.x");
}
