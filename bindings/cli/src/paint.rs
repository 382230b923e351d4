//! Colour for terminals, and the terminal's width.

use std::io::IsTerminal;

use crate::sys;

/// `--color`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
pub(crate) enum Color {
    /// When the output is a terminal and NO_COLOR is not set.
    #[default]
    Auto,
    Always,
    Never,
}

impl Color {
    /// Whether to colour what goes to `stream`.
    pub(crate) fn for_stream(self, stream: &impl IsTerminal) -> Paint {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Paint(self.decides(stream.is_terminal(), no_color, dumb))
    }

    fn decides(self, terminal: bool, no_color: bool, dumb: bool) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => terminal && !no_color && !dumb,
        }
    }
}

/// Colours text, or leaves it alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint(pub(crate) bool);

impl Paint {
    pub(crate) fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.with("31", text)
    }

    pub(crate) fn green(self, text: &str) -> String {
        self.with("32", text)
    }

    pub(crate) fn yellow(self, text: &str) -> String {
        self.with("33", text)
    }

    pub(crate) fn cyan(self, text: &str) -> String {
        self.with("36", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.0 && !text.is_empty() { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// Columns to lay out for: `COLUMNS`, else the terminal's, else 100.
pub(crate) fn width() -> usize {
    let set = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    set.or_else(sys::terminal_width).filter(|&columns| columns >= 20).unwrap_or(100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_decides() {
        assert!(Color::Auto.decides(true, false, false));
        assert!(!Color::Auto.decides(false, false, false));
        assert!(!Color::Auto.decides(true, true, false), "NO_COLOR");
        assert!(!Color::Auto.decides(true, false, true), "a dumb terminal");
        assert!(Color::Always.decides(false, true, true), "asked for");
        assert!(!Color::Never.decides(true, false, false));
    }
}
