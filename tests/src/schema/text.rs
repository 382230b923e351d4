//! The rules for the bytes of one message: compact, no null and no key twice outside of user data.
//!
//! A small recursive reader of its own, so that nothing of what is tested takes part in the judgement.

/// Members whose values belong to the user: anything may stand in them. In `_meta` only the values do.
const USER: [&str; 9] = [
    "arguments",
    "structuredContent",
    "inputSchema",
    "outputSchema",
    "requestedSchema",
    "data",
    "experimental",
    "extensions",
    "inputResponses",
];

/// Reads one message and gives its outermost members, key and raw value.
pub(crate) fn members(text: &str) -> Result<Vec<(String, &str)>, String> {
    let mut walk = Walk { text, at: 0, path: Vec::new() };
    if walk.peek() != Some(b'{') {
        return Err("is no object".into());
    }
    let members = walk.object(Whose::Ours)?;
    if walk.at == text.len() { Ok(members) } else { Err(walk.wrong("text after the message")) }
}

/// Reads an array and gives its elements, raw; inside of them nothing is judged yet.
pub(crate) fn elements(text: &str) -> Result<Vec<&str>, String> {
    let mut walk = Walk { text, at: 0, path: Vec::new() };
    let elements = walk.array(Whose::User)?;
    if walk.at == text.len() { Ok(elements) } else { Err(walk.wrong("text after the array")) }
}

/// Who answers for a value.
#[derive(Clone, Copy, PartialEq)]
enum Whose {
    /// The protocol's own.
    Ours,
    /// `_meta`: an object, whose values are the user's.
    Meta,
    /// The user's.
    User,
}

struct Walk<'a> {
    text: &'a str,
    at: usize,
    path: Vec<String>,
}

impl<'a> Walk<'a> {
    fn value(&mut self, whose: Whose) -> Result<&'a str, String> {
        let start = self.at;
        match self.peek() {
            Some(b'{') => drop(self.object(whose)?),
            _ if whose == Whose::Meta => return Err(self.wrong("_meta is no object")),
            Some(b'[') => drop(self.array(whose)?),
            Some(b'"') => drop(self.string()?),
            Some(b'n') if whose == Whose::Ours && self.path != ["id"] => {
                return Err(self.wrong("null outside of user data"));
            }
            Some(b'n' | b't' | b'f' | b'-' | b'0'..=b'9') => self.scalar(),
            _ => return Err(self.wrong("no value")),
        }
        Ok(&self.text[start..self.at])
    }

    fn object(&mut self, whose: Whose) -> Result<Vec<(String, &'a str)>, String> {
        let mut members: Vec<(String, &'a str)> = Vec::new();
        self.take(b'{')?;
        self.space(whose)?;
        while self.peek() != Some(b'}') {
            if !members.is_empty() {
                self.take(b',')?;
                self.space(whose)?;
            }
            let key = self.string()?;
            self.space(whose)?;
            self.take(b':')?;
            self.space(whose)?;
            if whose != Whose::User && members.iter().any(|(known, _)| *known == key) {
                return Err(self.wrong(&format!("the key {key:?} stands twice")));
            }
            let inner = match whose {
                Whose::Ours if key == "_meta" => Whose::Meta,
                Whose::Ours if !USER.contains(&key.as_str()) => Whose::Ours,
                _ => Whose::User,
            };
            self.path.push(key.clone());
            members.push((key, self.value(inner)?));
            self.path.pop();
            self.space(whose)?;
        }
        self.take(b'}')?;
        Ok(members)
    }

    fn array(&mut self, whose: Whose) -> Result<Vec<&'a str>, String> {
        let mut elements = Vec::new();
        self.take(b'[')?;
        self.space(whose)?;
        while self.peek() != Some(b']') {
            if !elements.is_empty() {
                self.take(b',')?;
                self.space(whose)?;
            }
            self.path.push(elements.len().to_string());
            elements.push(self.value(whose)?);
            self.path.pop();
            self.space(whose)?;
        }
        self.take(b']')?;
        Ok(elements)
    }

    fn string(&mut self) -> Result<String, String> {
        let start = self.at;
        self.take(b'"')?;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.at += 2,
                Some(0x20..) => self.at += 1,
                _ => return Err(self.wrong("a control character in a string, or its end is missing")),
            }
        }
        self.at += 1;
        let body = self.text.get(start..self.at).ok_or_else(|| self.wrong("a cut escape"))?;
        // Lone surrogates cannot be decoded; as a key they are told apart by their escapes.
        Ok(serde_json::from_str(body).unwrap_or_else(|_| body.to_owned()))
    }

    fn scalar(&mut self) {
        let end = |byte: &u8| b",]} \t\r\n".contains(byte);
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().position(end).unwrap_or(rest.len());
    }

    fn space(&mut self, whose: Whose) -> Result<(), String> {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            if whose != Whose::User {
                return Err(self.wrong("white space between tokens"));
            }
            self.at += 1;
        }
        Ok(())
    }

    fn take(&mut self, byte: u8) -> Result<(), String> {
        if self.peek() != Some(byte) {
            return Err(self.wrong(&format!("not {:?}", char::from(byte))));
        }
        self.at += 1;
        Ok(())
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn wrong(&self, what: &str) -> String {
        format!("{what} at byte {} (in {:?})", self.at, self.path.join("."))
    }
}
