//! Answers of the usual form are found by comparing bytes, others by walking through their members: both must tell the same. A space behind the
//! result's bracket sends an answer down the other road.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::arithmetic_side_effects, clippy::std_instead_of_core, clippy::alloc_instead_of_core)]
mod client_support;
use barewire::json::Raw;
use barewire::{ClientConfig, Era, Storage};
use client_support::{call, open};

static AUTO: ClientConfig<'static> = ClientConfig::new("t", "1");
static LEGACY: ClientConfig<'static> = ClientConfig::new("t", "1").era(Era::Legacy);

fn told(config: &'static ClientConfig<'static>, result: &str) -> Vec<String> {
    let mut storage = Storage::new();
    let (mut client, mut log) = open(config, &mut storage);
    call(&mut client, "x");
    log.drain(&mut client);
    log.line(&mut client, &format!("{{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{result}}}"));
    log.told()
}

fn both_roads(result: &str) {
    assert!(Raw::new(result).is_some(), "{result}");
    let spaced = result.replacen('{', "{ ", 1);
    for config in [&AUTO, &LEGACY] {
        assert_eq!(told(config, result), told(config, &spaced), "{result}");
    }
}

#[test]
fn all_combinations() {
    let heads =
        ["", r#""resultType":"complete","#, r#""resultType":"input_required","#, r#""isError":true,"#];
    let blocks = [
        "",
        r#"{"type":"text","text":"a"}"#,
        r#"{"type":"text","text":""}"#,
        r#"{"type":"text","text":"a\"b\\"}"#,
        r#"{"type":"text","text":"\u00e9\ud83d\ude00 é"}"#,
        r#"{"type":"text","text":null}"#,
        r#"{"type":"text","text":"a","text":"b"}"#,
        r#"{"type":"text","text":"a","type":"image"}"#,
        r#"{"type":"text","text":"a" }"#,
        r#"{"type":"text","text": "a"}"#,
        r#"{"type":"image","data":"AA==","mimeType":"i"}"#,
    ];
    let tails = [
        "",
        r#","isError":false"#,
        r#","isError":true,"structuredContent":{"a":1}"#,
        r#","isError":"no""#,
        r#" , "_meta" : {"a":1} "#,
        r#","content":null"#,
        r#","content":[]"#,
        r#","content":[{"type":"text","text":"other"}]"#,
        r#","content":{}"#,
        r#","resultType":"unknown""#,
        r#","resultType":"input_required","requestState":"s""#,
        r#","nextCursor":"c""#,
    ];
    for head in heads {
        for (i, first) in blocks.iter().enumerate() {
            let second = blocks[(i * 3 + 1) % blocks.len()];
            for content in
                [(*first).to_owned(), format!("{first},{second}"), format!(" {first}"), format!("{first} ")]
            {
                let content = content.trim_start_matches(',').trim_end_matches(',');
                for tail in tails {
                    both_roads(&format!("{{{head}\"content\":[{content}]{tail}}}"));
                }
            }
        }
    }
}

#[test]
fn every_byte_changed() {
    let usual = br#"{"resultType":"complete","content":[{"type":"text","text":"a\n"},{"type":"text","text":"b"}],"isError":true}"#;
    for at in 1..usual.len() - 1 {
        for byte in [b'"', b'\\', b',', b'x', b'}', b']', b' ', b'0'] {
            let mut changed = usual.to_vec();
            changed[at] = byte;
            // What is no JSON is the scanner's, and told with its line.
            if let Some(result) = std::str::from_utf8(&changed).ok().filter(|text| Raw::new(text).is_some()) {
                both_roads(result);
            }
        }
    }
}
