//! What only the operating system knows: signals, process groups, the terminal's width, closing a standard stream.
//!
//! All of the command's unsafe code is here. Elsewhere than on Unix these are no-ops or constants.

#[cfg(unix)]
pub(crate) use unix::{
    Signals, close_stdin, close_stdout, kill_group, signal_group, stdin, stdout, terminal_width, wait_exit,
};

#[cfg(not(unix))]
pub(crate) use other::{
    Signals, close_stdin, close_stdout, kill_group, signal_group, stdin, stdout, terminal_width, wait_exit,
};

/// The signals that end a session, with their names.
#[cfg(unix)]
const ENDING: [(i32, &str); 4] =
    [(libc::SIGINT, "INT"), (libc::SIGTERM, "TERM"), (libc::SIGHUP, "HUP"), (libc::SIGQUIT, "QUIT")];

#[cfg(unix)]
#[expect(unsafe_code, reason = "signals and descriptors have no safe interface in std")]
mod unix {
    use core::mem::ManuallyDrop;
    use core::sync::atomic::{AtomicI32, Ordering};
    use std::fs::File;
    use std::io::{self, Read};
    use std::os::fd::{FromRawFd, IntoRawFd};

    use super::ENDING;

    /// The writing end of the pipe that the handler writes to.
    static PIPE: AtomicI32 = AtomicI32::new(-1);

    /// Signals as bytes to read: the handler only writes the signal's number into a pipe.
    pub(crate) struct Signals(File);

    impl Signals {
        /// Catches the ending signals from now on; one that is ignored (as `nohup` does) stays ignored.
        pub(crate) fn catch() -> io::Result<Self> {
            let (read, write) = io::pipe()?;
            PIPE.store(write.into_raw_fd(), Ordering::SeqCst);
            for (signal, _) in ENDING {
                // SAFETY: both structs are plain data that the calls fill; the handler is async-signal-safe.
                unsafe {
                    let mut old: libc::sigaction = core::mem::zeroed();
                    if libc::sigaction(signal, core::ptr::null(), &mut old) == 0
                        && old.sa_sigaction == libc::SIG_IGN
                    {
                        continue;
                    }
                    let mut new: libc::sigaction = core::mem::zeroed();
                    let handler: extern "C" fn(i32) = on_signal;
                    new.sa_sigaction = handler as libc::sighandler_t;
                    new.sa_flags = libc::SA_RESTART;
                    libc::sigemptyset(&mut new.sa_mask);
                    if libc::sigaction(signal, &new, core::ptr::null_mut()) != 0 {
                        return Err(io::Error::last_os_error());
                    }
                }
            }
            // SAFETY: the descriptor is ours and open; the file takes it over.
            Ok(Self(unsafe { File::from_raw_fd(read.into_raw_fd()) }))
        }

        /// Waits for the next signal: its number and its name.
        pub(crate) fn wait(&mut self) -> Option<(i32, &'static str)> {
            let mut byte = [0];
            self.0.read_exact(&mut byte).ok()?;
            ENDING.into_iter().find(|(signal, _)| *signal == i32::from(byte[0]))
        }
    }

    extern "C" fn on_signal(signal: i32) {
        let byte = [signal as u8];
        // SAFETY: write(2) is async-signal-safe, and errno is put back.
        unsafe {
            let errno = *errno();
            libc::write(PIPE.load(Ordering::SeqCst), byte.as_ptr().cast(), 1);
            *self::errno() = errno;
        }
    }

    /// Where this thread's `errno` is.
    fn errno() -> *mut i32 {
        // SAFETY: only an address is asked for.
        unsafe {
            #[cfg(any(
                target_os = "linux",
                target_os = "emscripten",
                target_os = "hurd",
                target_os = "redox"
            ))]
            return libc::__errno_location();
            #[cfg(any(target_vendor = "apple", target_os = "freebsd"))]
            return libc::__error();
            #[cfg(any(target_os = "netbsd", target_os = "openbsd", target_os = "android"))]
            return libc::__errno();
        }
    }

    /// Sends a signal to the process group of a child that leads one.
    pub(crate) fn signal_group(leader: u32, signal: i32) {
        if let Ok(group) = i32::try_from(leader)
            && group > 1
        {
            // SAFETY: kill takes plain numbers; a group that is gone gives an error, which is fine.
            unsafe { libc::kill(-group, signal) };
        }
    }

    /// Waits until a child has exited, without reaping it: its number stays taken.
    pub(crate) fn wait_exit(child: u32) {
        loop {
            // SAFETY: the struct is plain data that the call fills.
            let done = unsafe {
                let mut info: libc::siginfo_t = core::mem::zeroed();
                libc::waitid(libc::P_PID, child, &mut info, libc::WEXITED | libc::WNOWAIT) == 0
            };
            if done || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                return;
            }
        }
    }

    /// Ends a process group at once.
    pub(crate) fn kill_group(leader: u32) {
        signal_group(leader, libc::SIGKILL);
    }

    /// Standard input without std's buffer.
    pub(crate) fn stdin() -> ManuallyDrop<File> {
        // SAFETY: descriptor 0 is never closed by us, only replaced; ManuallyDrop keeps this view from closing it.
        ManuallyDrop::new(unsafe { File::from_raw_fd(0) })
    }

    /// Standard output without std's line buffer.
    pub(crate) fn stdout() -> ManuallyDrop<File> {
        // SAFETY: as for stdin.
        ManuallyDrop::new(unsafe { File::from_raw_fd(1) })
    }

    /// Closes standard input for whoever writes to it: the descriptor becomes `/dev/null`.
    pub(crate) fn close_stdin() {
        replace(0, libc::O_RDONLY);
    }

    /// Closes standard output for whoever reads it: the descriptor becomes `/dev/null`, and so stays taken.
    pub(crate) fn close_stdout() {
        replace(1, libc::O_WRONLY);
    }

    fn replace(target: i32, mode: i32) {
        // SAFETY: the path is a C string; dup2 replaces the target at once.
        unsafe {
            let null = libc::open(c"/dev/null".as_ptr(), mode | libc::O_CLOEXEC);
            if null >= 0 {
                libc::dup2(null, target);
                libc::close(null);
            }
        }
    }

    /// Columns of the terminal on stdout or stderr.
    pub(crate) fn terminal_width() -> Option<usize> {
        [1, 2].into_iter().find_map(|fd| {
            // SAFETY: the struct is plain data that the call fills.
            let size = unsafe {
                let mut size: libc::winsize = core::mem::zeroed();
                (libc::ioctl(fd, libc::TIOCGWINSZ, &mut size) == 0).then_some(size)
            };
            size.map(|size| usize::from(size.ws_col)).filter(|&columns| columns > 0)
        })
    }
}

#[cfg(not(unix))]
mod other {
    use core::mem::ManuallyDrop;
    use std::io;

    pub(crate) struct Signals;

    impl Signals {
        pub(crate) fn catch() -> io::Result<Self> {
            Ok(Self)
        }

        pub(crate) fn wait(&mut self) -> Option<(i32, &'static str)> {
            None
        }
    }

    pub(crate) fn signal_group(_leader: u32, _signal: i32) {}

    /// The end of its output tells instead.
    pub(crate) fn wait_exit(_child: u32) {}

    pub(crate) fn kill_group(_leader: u32) {}

    pub(crate) fn stdin() -> ManuallyDrop<io::Stdin> {
        ManuallyDrop::new(io::stdin())
    }

    pub(crate) fn stdout() -> ManuallyDrop<io::Stdout> {
        ManuallyDrop::new(io::stdout())
    }

    pub(crate) fn close_stdin() {}

    pub(crate) fn close_stdout() {}

    pub(crate) fn terminal_width() -> Option<usize> {
        None
    }
}
