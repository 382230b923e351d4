//! Fills the corpus: inputs and outputs of the transcripts, and captures of real traffic where they are at hand.
//!
//! usage: `corpus FOLDER [CAPTURES]`

use std::collections::BTreeSet;
use std::path::Path;
use std::{env, fs, io};

#[allow(dead_code)]
#[path = "../../../src/alloc.rs"]
mod alloc;
#[allow(dead_code, unused_imports, unreachable_pub)]
#[path = "../../../src/transcript/mod.rs"]
mod transcript;

use transcript::{How, Matrix, REVISIONS, Script, run};

fn main() -> io::Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let folder = Path::new(arguments.first().map_or("corpus", String::as_str));
    for target in ["scanner", "frame", "server", "client", "round_trip"] {
        fs::create_dir_all(folder.join(target))?;
    }
    let mut number = 0;
    let mut scripts = BTreeSet::new();
    let matrix = Matrix::read(&Script::folder()).map_err(io::Error::other)?;
    for revision in REVISIONS {
        for name in matrix.runs(revision) {
            let script = Script::read(&Script::folder(), name, revision).map_err(io::Error::other)?;
            let said = run(&script, &How::WHOLE).map_err(io::Error::other)?;
            scripts.insert((script.input(), said.out));
        }
    }
    for (input, output) in &scripts {
        put(folder, &mut number, input, output)?;
    }
    let mut captures = 0;
    if let Some(all) = arguments.get(1).and_then(|path| fs::read_dir(path).ok()) {
        for entry in all {
            let path = entry?.path();
            if path.extension().is_some_and(|e| e == "jsonl") {
                let (up, down) = capture(&fs::read_to_string(&path)?);
                put(folder, &mut number, &up, &down)?;
                captures += 1;
            }
        }
    }
    println!("{} transcripts, {captures} captures", scripts.len());
    Ok(())
}

fn put(folder: &Path, number: &mut usize, up: &[u8], down: &[u8]) -> io::Result<()> {
    *number += 1;
    let n = *number;
    // Heads: sizes of buffers, then seed and pieces.
    let write = |target: &str, head: &[u8], body: &[u8]| {
        let body = &body[..body.len().min(4096)];
        fs::write(folder.join(target).join(format!("seed-{n}")), [head, body].concat())
    };
    let pieces = [n as u8, (n * 7) as u8, (n * 13) as u8];
    write("server", &[&[0x3f][..], &pieces].concat(), up)?;
    write("client", &[&[0x0f][..], &pieces].concat(), down)?;
    write("frame", &[&[0xff][..], &pieces].concat(), up)?;
    for (i, line) in up.split(|b| *b == b'\n').chain(down.split(|b| *b == b'\n')).enumerate().take(40) {
        let body = [&pieces[..], line].concat();
        fs::write(folder.join("scanner").join(format!("seed-{n}-{i}")), &body)?;
    }
    fs::write(folder.join("round_trip").join(format!("seed-{n}")), &up[..up.len().min(512)])
}

/// Both directions of one capture.
fn capture(text: &str) -> (Vec<u8>, Vec<u8>) {
    let (mut up, mut down) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let Ok(entry) = serde_json::from_str::<serde_json::Value>(line) else { continue };
        let bytes = entry["b64"].as_str().map(decode).unwrap_or_default();
        match entry["dir"].as_str() {
            Some("c2s") => up.extend(bytes),
            Some("s2c") => down.extend(bytes),
            _ => {}
        }
    }
    (up, down)
}

fn decode(text: &str) -> Vec<u8> {
    let (mut out, mut bits, mut n) = (Vec::new(), 0u32, 0);
    for c in text.bytes() {
        let value = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => continue,
        };
        bits = bits << 6 | u32::from(value);
        n += 6;
        if n >= 8 {
            n -= 8;
            out.push((bits >> n) as u8);
        }
    }
    out
}
