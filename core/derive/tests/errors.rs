//! What a model reads when arguments are wrong, and texts that are no JSON object's.
mod common;

use barewire::json::Raw;
use barewire::{Args, BadArgs, FromArgs, Items, ToolInput};
use common::{Colour, Point};

#[derive(ToolInput)]
#[allow(dead_code)]
struct Lamp<'a> {
    #[arg(rename = "brightness")]
    level: u8,
    #[arg(range = 5..)]
    least: Option<i64>,
    #[arg(range = ..=9)]
    most: Option<i64>,
    #[arg(range = 1..)]
    positive: Option<u64>,
    huge: Option<u64>,
    #[arg(range = 0.0..0.5)]
    part: Option<f64>,
    #[arg(range = ..1.0)]
    below: Option<f32>,
    #[arg(min_length = 3)]
    long: Option<&'a str>,
    #[arg(max_length = 1)]
    letter: Option<&'a str>,
    #[arg(min_length = 2, max_length = 2)]
    two: Option<&'a str>,
    colour: Option<Colour>,
    on: Option<bool>,
    point: Option<Point>,
    triple: Option<[i8; 3]>,
    #[arg(items = 1..=2, range = 0..=1)]
    bits: Option<Items<'a, u8>>,
    #[arg(items = ..=2)]
    few: Option<Items<'a, u8>>,
    points: Option<Items<'a, Point>>,
}

#[derive(ToolInput)]
struct Nothing {}

fn wrong<T: for<'m> FromArgs<'m>>(text: &str) -> String {
    let mut text = text.as_bytes().to_vec();
    let Err(bad) = Args::from_json(&mut text).unwrap().decode::<T>() else { panic!("taken") };
    bad.to_string()
}

#[track_caller]
fn lamp(text: &str, sentence: &str) {
    let mut text = text.as_bytes().to_vec();
    let Err(bad) = Args::from_json(&mut text).unwrap().decode::<Lamp<'_>>() else { panic!("taken") };
    assert_eq!(bad.to_string(), sentence);
}

#[test]
fn sentences() {
    let value = |member: &str, sentence: &str| lamp(&format!(r#"{{"brightness":1,{member}}}"#), sentence);
    lamp("{}", "`brightness` is missing; it must be an integer from 0 to 255");
    lamp(r#"{"brightness":"high"}"#, r#"`brightness` must be an integer from 0 to 255; got "high""#);
    lamp(r#"{"brightness":null}"#, "`brightness` must be an integer from 0 to 255; got null");
    lamp(r#"{"brightness":256}"#, "`brightness` must be an integer from 0 to 255; got 256");
    lamp(r#"{"brightness":{}}"#, "`brightness` must be an integer from 0 to 255; got an object");
    lamp(r#"{"brightness":[1]}"#, "`brightness` must be an integer from 0 to 255; got a list");
    value(r#""least":4"#, "`least` must be an integer, at least 5; got 4");
    value(r#""most":10"#, "`most` must be an integer, at most 9; got 10");
    value(r#""positive":0"#, "`positive` must be an integer, at least 1; got 0");
    value(r#""huge":-1"#, "`huge` must be an integer from 0 to 18446744073709551615; got -1");
    value(r#""huge":1e300"#, "`huge` must be an integer from 0 to 18446744073709551615; got 1e300");
    value(r#""part":0.5"#, "`part` must be a number from 0 to below 0.5; got 0.5");
    value(r#""below":1"#, "`below` must be a number, below 1; got 1");
    value(r#""long":"ab""#, r#"`long` must be a string of at least 3 characters; got "ab""#);
    value(r#""letter":"ab""#, r#"`letter` must be a string of at most 1 character; got "ab""#);
    value(r#""two":"a""#, r#"`two` must be a string of 2 characters; got "a""#);
    value(r#""colour":"pink""#, r#"`colour` must be one of "red", "light-green", "b\"lue\\"; got "pink""#);
    value(r#""on":1"#, "`on` must be true or false; got 1");
    value(r#""point":3"#, "`point` must be an object; got 3");
    value(r#""point":{"x":1}"#, "`point.y` is missing; it must be an integer from -32768 to 32767");
    value(r#""point":{"x":11,"y":1}"#, "`point.x` must be an integer from -10 to 10; got 11");
    value(r#""point":{"z":1}"#, r#"`point` has no "z"; it has `x`, `y`"#);
    value(r#""triple":[1,2]"#, "`triple` must be a list of 3 items; got a list");
    value(r#""triple":[1,2,128]"#, "`triple[2]` must be an integer from -128 to 127; got 128");
    value(r#""bits":[]"#, "`bits` must be a list of 1 to 2 items; got a list");
    value(r#""bits":[0,2]"#, "`bits[1]` must be an integer from 0 to 1; got 2");
    value(r#""few":[1,2,3]"#, "`few` must be a list of at most 2 items; got a list");
    value(r#""points":{}"#, "`points` must be a list; got an object");
    value(
        r#""points":[{"x":1,"y":1},{"x":1,"y":"\u00e9"}]"#,
        r#"`points[1].y` must be an integer from -32768 to 32767; got "\u00e9""#,
    );
    assert_eq!(wrong::<Nothing>(r#"{"a":1}"#), r#"the tool takes no "a"; it takes nothing"#);
    assert_eq!(wrong::<Point>(r#"{"x":1,"Y":1}"#), r#"the tool takes no "Y"; it takes `x`, `y`"#);
}

/// Long values are cut, but not within a character.
#[test]
fn long_values() {
    let got = |value: &str| {
        let sentence = wrong::<Point>(&format!(r#"{{"x":{value}}}"#));
        sentence.strip_prefix("`x` must be an integer from -10 to 10; got ").unwrap().to_owned()
    };
    assert_eq!(got(r#""twenty-two characters""#), r#""twenty-two characters""#);
    assert_eq!(got(r#""more than twenty-two characters""#), "\"more than twenty-two ch…");
    assert_eq!(got("\"aaaaaaaaaaaaaaaaaaaaaa\u{1f600}\""), "\"aaaaaaaaaaaaaaaaaaaaaa…");
    assert_eq!(got("\"aaaaaaaaaaaaaaaaaaa\u{1f600}bb\""), "\"aaaaaaaaaaaaaaaaaaa\u{1f600}…");
    assert_eq!(got(&format!("{}1", "9".repeat(40))), format!("{}…", "9".repeat(24)));
}

/// Far down a list the index is not told.
#[test]
fn far_down() {
    #[derive(ToolInput)]
    struct Long<'a> {
        #[allow(dead_code)]
        all: Items<'a, bool>,
    }
    for (at, said) in [(0, "0"), (9, "9"), (10, "10"), (254, "254"), (255, "…"), (300, "…")] {
        let mut text = format!("{{\"all\":[{}1]}}", "true,".repeat(at)).into_bytes();
        let Err(bad) = Args::from_json(&mut text).unwrap().decode::<Long<'_>>() else { panic!() };
        assert_eq!(bad.to_string(), format!("`all[{said}]` must be true or false; got 1"));
        assert_eq!((bad.field, bad.expected), ("all", "true or false"));
    }
}

/// The same errors are equal, others are not.
#[test]
fn equality() {
    let bad =
        |text: &str| Args::from_json(&mut text.as_bytes().to_vec()).unwrap().decode::<Point>().unwrap_err();
    assert_eq!(bad(r#"{"x":11}"#), bad(r#"{"x":11}"#));
    assert_ne!(bad(r#"{"x":11}"#), bad(r#"{"x":12}"#));
    assert_ne!(bad(r#"{"x":11}"#), BadArgs::new("x", "an integer from -10 to 10"));
}

/// Names are compared after unescaping; of a doubled member the last counts; white space is nothing.
#[test]
fn notations() {
    let mut text = b" { \"\\u0078\" : 1 , \"x\" : 2.0 , \"y\" : 3e0 } ".to_vec();
    let point: Point = Args::from_json(&mut text).unwrap().decode().unwrap();
    assert_eq!(point, Point { x: 2, y: 3 });

    #[derive(ToolInput)]
    #[input(open)]
    struct Open<'a> {
        any: Raw<'a>,
        names: Items<'a, &'a str>,
    }
    let mut text = br#"{"other":{"any":1},"any":null,"names":[ "a\n" , "\u00e9" ]}"#.to_vec();
    let open: Open<'_> = Args::from_json(&mut text).unwrap().decode().unwrap();
    assert!(open.any.is_null());
    assert_eq!((open.names.len(), open.names.is_empty()), (2, false));
    assert_eq!(open.names.collect::<Vec<_>>(), ["a\n", "é"]);
}

/// With an allocator there are owned types.
#[test]
fn owned() {
    #[derive(ToolInput)]
    struct Owned {
        name: String,
        #[arg(default = "none")]
        unit: String,
        #[arg(items = 1..)]
        points: Vec<Point>,
    }
    let mut text = br#"{"name":"a\"","points":[{"x":1,"y":2}]}"#.to_vec();
    let owned: Owned = Args::from_json(&mut text).unwrap().decode().unwrap();
    assert_eq!((owned.name.as_str(), owned.unit.as_str()), ("a\"", "none"));
    assert_eq!(owned.points, [Point { x: 1, y: 2 }]);
    assert_eq!(
        wrong::<Owned>(r#"{"name":"a","points":[]}"#),
        "`points` must be a list of at least 1 item; got a list"
    );
}
