//! What this process holds: memory, threads, descriptors (Linux; elsewhere nothing is known of them).

use core::time::Duration;
use std::fs;
use std::time::Instant;

/// Resident bytes of a process, this one if it is not named.
pub(super) fn resident(pid: Option<u32>) -> Option<u64> {
    let name = pid.map_or_else(|| "self".to_owned(), |pid| pid.to_string());
    let status = fs::read_to_string(format!("/proc/{name}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().trim_end_matches("kB").trim().parse::<u64>().ok().map(|kilo| kilo << 10)
}

/// Threads and descriptors by name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Census {
    threads: Vec<String>,
    files: Vec<String>,
}

impl Census {
    pub(super) fn take() -> Option<Self> {
        let entries = |folder: &str| fs::read_dir(folder).ok().map(Iterator::flatten);
        let comm = |entry: fs::DirEntry| fs::read_to_string(entry.path().join("comm")).ok();
        let mut threads: Vec<String> = entries("/proc/self/task")?.filter_map(comm).collect();
        let link = |entry: fs::DirEntry| fs::read_link(entry.path()).ok();
        let files = entries("/proc/self/fd")?.filter_map(link);
        let kind = |path: std::path::PathBuf| {
            let text = path.to_string_lossy().into_owned();
            text.split(':').next().unwrap_or_default().to_owned()
        };
        // The folder that is being read is one of them.
        let mut files: Vec<String> = files.map(kind).filter(|name| !name.starts_with("/proc/")).collect();
        threads.sort();
        files.sort();
        Some(Self { threads, files })
    }

    /// Waits until no more is held than then.
    pub(super) fn settled(&self, patience: Duration) -> Result<(), String> {
        let until = Instant::now() + patience;
        loop {
            let Some(now) = Self::take() else { return Ok(()) };
            let (threads, files) = (more(&self.threads, &now.threads), more(&self.files, &now.files));
            if threads.is_empty() && files.is_empty() {
                return Ok(());
            }
            if Instant::now() > until {
                return Err(format!("left over: the threads {threads:?}, the descriptors {files:?}"));
            }
            // A thread is there a moment longer than what it does.
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(super) fn counts(&self) -> (usize, usize) {
        (self.threads.len(), self.files.len())
    }
}

/// What is in `now` beyond `before`, with its number.
fn more(before: &[String], now: &[String]) -> Vec<String> {
    let mut before = before.to_vec();
    let mut more = Vec::new();
    for one in now {
        match before.iter().position(|other| other == one) {
            Some(at) => drop(before.swap_remove(at)),
            None => more.push(one.trim().to_owned()),
        }
    }
    more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_over_is_told() {
        let all = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(more(&all(&["a", "b"]), &all(&["b", "a"])), all(&[]));
        assert_eq!(more(&all(&["a", "b"]), &all(&["a", "a", "b", "c"])), all(&["a", "c"]));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_that_stays_is_found() {
        let before = Census::take().unwrap();
        assert!(resident(None).unwrap() > 1 << 16);
        let (tell, told) = std::sync::mpsc::channel::<()>();
        let thread =
            std::thread::Builder::new().name("left".into()).spawn(move || told.recv().is_err()).unwrap();
        // Other tests run beside this one: only the name says which it is.
        let error = before.settled(Duration::from_millis(300)).unwrap_err();
        assert!(error.contains("left"), "{error}");
        drop(tell);
        thread.join().unwrap();
    }
}
