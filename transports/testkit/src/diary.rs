//! Which messages passed, in what order.

/// The ids of the lines that passed: the first number called so in the head of each.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    head: Vec<u8>,
    ids: Vec<u64>,
}

impl Ids {
    pub(crate) fn see(&mut self, bytes: &[u8]) {
        const HEAD: usize = 64;
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = HEAD - self.head.len();
            self.head.extend_from_slice(&part[..part.len().min(room)]);
            if part.ends_with(b"\n") {
                self.ids.extend(id(&self.head));
                self.head.clear();
            }
        }
    }

    pub(crate) fn list(&self) -> String {
        let ids: Vec<String> = self.ids.iter().map(u64::to_string).collect();
        ids.join(",")
    }
}

fn id(head: &[u8]) -> Option<u64> {
    const KEY: &[u8] = b"\"id\":";
    let at = head.windows(KEY.len()).position(|window| window == KEY)?;
    let digits = &head[at + KEY.len()..];
    let end = digits.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len());
    core::str::from_utf8(&digits[..end]).ok()?.parse().ok()
}
