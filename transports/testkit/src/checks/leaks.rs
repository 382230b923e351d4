//! Threads and descriptors of this process (Linux).

use core::time::Duration;
use std::{collections::BTreeMap, fs, thread, time::Instant};

/// What there was at one moment, by what names it for good.
pub(crate) struct Census {
    threads: BTreeMap<String, String>,
    files: BTreeMap<String, String>,
}

impl Census {
    /// `None`: this system does not tell.
    pub(crate) fn take() -> Option<Self> {
        let mut threads = BTreeMap::new();
        for entry in fs::read_dir("/proc/self/task").ok()?.flatten() {
            if let Ok(name) = fs::read_to_string(entry.path().join("comm")) {
                threads.insert(entry.file_name().to_string_lossy().into_owned(), name.trim_end().to_owned());
            }
        }
        let mut files = BTreeMap::new();
        for entry in fs::read_dir("/proc/self/fd").ok()?.flatten() {
            if let Ok(target) = fs::read_link(entry.path()) {
                let target = target.to_string_lossy().into_owned();
                // The folder that is being read.
                if !target.starts_with("/proc/") {
                    files.insert(format!("{} {target}", entry.file_name().to_string_lossy()), target);
                }
            }
        }
        Some(Self { threads, files })
    }

    /// Waits until nothing is left that was not there before; else says what is.
    pub(crate) fn settled(&self, patience: Duration) -> Result<(), String> {
        let until = Instant::now() + patience;
        loop {
            let Some(now) = Self::take() else { return Ok(()) };
            let threads: Vec<&str> = fresh(&self.threads, &now.threads);
            let files: Vec<&str> = fresh(&self.files, &now.files);
            if threads.is_empty() && files.is_empty() {
                return Ok(());
            }
            if Instant::now() >= until {
                return Err(format!(
                    "{} threads ({}) and {} descriptors ({}) are left",
                    threads.len(),
                    some(&threads),
                    files.len(),
                    some(&files)
                ));
            }
            // Threads end a moment after the last thing that they do.
            thread::sleep(Duration::from_millis(5));
        }
    }
}

fn fresh<'a>(before: &BTreeMap<String, String>, now: &'a BTreeMap<String, String>) -> Vec<&'a str> {
    now.iter().filter(|(key, _)| !before.contains_key(*key)).map(|(_, name)| &**name).collect()
}

fn some(names: &[&str]) -> String {
    let mut some: Vec<&str> = names.iter().copied().take(4).collect();
    if names.is_empty() {
        some.push("none");
    }
    if names.len() > 4 {
        some.push("…");
    }
    some.join(", ")
}
