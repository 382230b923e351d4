//! Reading base64.
use alloc::vec::Vec;

/// RFC 4648 base64, with or without padding; white space between is skipped, as MIME encoders wrap their lines.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len().div_ceil(4).saturating_mul(3));
    let (mut group, mut letters, mut padding) = (0u32, 0u8, 0u8);
    for byte in text.bytes() {
        match byte {
            b'=' if padding < 2 => padding = padding.saturating_add(1),
            b'\r' | b'\n' | b' ' | b'\t' => {}
            _ if padding > 0 => return None,
            _ => {
                group = group << 6 | u32::from(value(byte)?);
                letters = letters.saturating_add(1);
                if letters == 4 {
                    let [_, bytes @ ..] = group.to_be_bytes();
                    out.extend_from_slice(&bytes);
                    (group, letters) = (0, 0);
                }
            }
        }
    }
    let [first, second, ..] = match letters {
        0 => return Some(out),
        // A lone last letter has 6 bits and no byte.
        1 => return None,
        2 => group << 20,
        _ => group << 14,
    }
    .to_be_bytes();
    out.push(first);
    if letters == 3 {
        out.push(second);
    }
    Some(out)
}

const fn value(letter: u8) -> Option<u8> {
    Some(match letter {
        b'A'..=b'Z' => letter.wrapping_sub(b'A'),
        b'a'..=b'z' => letter.wrapping_sub(b'a').wrapping_add(26),
        b'0'..=b'9' => letter.wrapping_sub(b'0').wrapping_add(52),
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_padding_and_without() {
        assert_eq!(decode("").as_deref(), Some(&b""[..]));
        assert_eq!(decode("Zg==").as_deref(), Some(&b"f"[..]));
        assert_eq!(decode("Zg").as_deref(), Some(&b"f"[..]));
        assert_eq!(decode("Zm8=").as_deref(), Some(&b"fo"[..]));
        assert_eq!(decode("Zm9v\r\nYmE=").as_deref(), Some(&b"fooba"[..]));
        assert_eq!(decode("/+8=").as_deref(), Some(&[0xff, 0xef][..]));
        for wrong in ["Z", "Zg=a", "Zg===", "Z-g="] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
    }
}
