//! Writes images, audio and other bytes of a result to files, under names that are safe and new.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The longest stem that a file gets.
const STEM: usize = 60;

/// Writes `bytes` into `folder`, under a name made of the tool's name, a number and the type. Nothing is overwritten.
pub(crate) fn save(folder: &Path, tool: &str, mime: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    for number in 1..=10_000 {
        let path = folder.join(format!("{}-{number}.{}", stem(tool), extension(mime)));
        match File::create_new(&path) {
            Ok(mut file) => {
                file.write_all(bytes)?;
                return Ok(path);
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(ErrorKind::AlreadyExists, "the folder is full of such files"))
}

/// Letters, digits, `-` and `_`: no path, no hidden file, no name that a system keeps for itself.
fn stem(tool: &str) -> String {
    let clean: String = tool
        .chars()
        .take(STEM)
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' })
        .collect();
    let clean = clean.trim_matches('-');
    // The number that follows keeps `con` and its like from being devices.
    if clean.is_empty() { "result".into() } else { clean.into() }
}

fn extension(mime: &str) -> &'static str {
    let kind = mime.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    match kind.as_str() {
        "image/png" => "png",
        "image/jpeg" | "image/jpg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "image/bmp" => "bmp",
        "audio/wav" | "audio/x-wav" | "audio/wave" => "wav",
        "audio/mpeg" | "audio/mp3" => "mp3",
        "audio/ogg" => "ogg",
        "audio/flac" => "flac",
        "audio/aac" => "aac",
        "application/pdf" => "pdf",
        "application/json" => "json",
        "application/zip" => "zip",
        "text/plain" => "txt",
        "text/html" => "html",
        "text/csv" => "csv",
        _ => "bin",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe() {
        for (tool, expected) in [
            ("../../etc/passwd", "etc-passwd"),
            (".hidden", "hidden"),
            ("获取", "result"),
            ("a b\u{0}c", "a-b-c"),
            ("", "result"),
            ("get_chart", "get_chart"),
        ] {
            assert_eq!(stem(tool), expected, "{tool:?}");
        }
        assert!(stem(&"x".repeat(500)).len() <= STEM);
        assert_eq!(extension("image/PNG; q=1"), "png");
        assert_eq!(extension("../x"), "bin");
    }

    #[test]
    fn nothing_is_overwritten() {
        let folder = std::env::temp_dir().join(format!("barewire-save-{}", std::process::id()));
        let first = save(&folder, "t", "image/png", b"1").unwrap();
        let second = save(&folder, "t", "image/png", b"2").unwrap();
        assert_ne!(first, second);
        assert_eq!((fs::read(first).unwrap(), fs::read(second).unwrap()), (b"1".to_vec(), b"2".to_vec()));
        fs::remove_dir_all(folder).unwrap();
    }
}
