//! The grammar of RFC 8259 as a table: what each byte means in each state.

/// What is expected.
// States around which white space may stand come first, and of those the ones that expect a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum State {
    /// Before the text.
    Start,
    /// `[` came: a value or the end.
    FirstElement,
    /// A value must come.
    Value,
    /// `{` came: a key or the end.
    FirstKey,
    /// A key must come.
    Key,
    /// A key came.
    Colon,
    /// A value in a container came.
    After,
    /// The text is over.
    Done,
    Str,
    Escape,
    /// So many hexadecimal digits are missing.
    Hex4,
    Hex3,
    Hex2,
    Hex1,
    /// So many continuation bytes are missing.
    Tail3,
    Tail2,
    Tail1,
    /// What follows these is bounded further: no longer form than needed, no surrogate, nothing over U+10FFFF.
    AfterE0,
    AfterEd,
    AfterF0,
    AfterF4,
    /// What of a word came.
    T,
    Tr,
    Tru,
    F,
    Fa,
    Fal,
    Fals,
    N,
    Nu,
    Nul,
    Minus,
    Zero,
    Int,
    Dot,
    Fraction,
    E,
    ESign,
    Exponent,
    /// Over the limit of depth.
    Skim,
    /// A fault was met.
    NotJson,
    NotUtf8,
}

impl State {
    pub(super) fn takes_space(self) -> bool {
        self <= Self::Done
    }

    pub(super) fn wants_value(self) -> bool {
        self <= Self::Value
    }

    /// What `byte` does here.
    pub(super) fn on(self, byte: u8) -> To {
        let start = STARTS.get(self as usize).map_or(0, |start| usize::from(*start));
        let mut rules = RULES.get(start..).unwrap_or_default().iter();
        rules.find(|rule| rule.low <= byte && byte <= rule.high).map_or(To::Syntax, |rule| rule.to)
    }
}

/// What a byte does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum To {
    Go(State),
    /// A string begins.
    Text,
    /// A key begins.
    Key,
    /// A string or a key ends.
    Quote,
    /// A container is opened, or closed.
    Open,
    Close,
    Comma,
    Colon,
    /// A word ends with this byte.
    End,
    /// A number ended before this byte.
    Over,
    /// The same brackets, which are only counted.
    SkimOpen,
    SkimClose,
    Syntax,
    Utf8,
}

#[derive(Clone, Copy)]
struct Rule {
    low: u8,
    high: u8,
    to: To,
}

const fn one(byte: u8, to: To) -> Rule {
    Rule { low: byte, high: byte, to }
}

const fn any(low: u8, high: u8, state: State) -> Rule {
    Rule { low, high, to: To::Go(state) }
}

const fn go(byte: u8, state: State) -> Rule {
    any(byte, byte, state)
}

const fn rest(to: To) -> Rule {
    Rule { low: 0, high: 0xff, to }
}

/// The first rule that has the byte counts. A row without a last word goes on with those below it.
#[rustfmt::skip]
const ROWS: &[(State, &[Rule])] = &[
    (State::FirstElement, &[one(b']', To::Close)]),
    (State::Start, &[]),
    (State::Value, &[
        one(b'"', To::Text), one(b'{', To::Open), any(b'1', b'9', State::Int), one(b'[', To::Open), go(b't', State::T),
        go(b'f', State::F), go(b'n', State::N), go(b'0', State::Zero), go(b'-', State::Minus), rest(To::Syntax),
    ]),
    (State::FirstKey, &[one(b'}', To::Close)]),
    (State::Key, &[one(b'"', To::Key), rest(To::Syntax)]),
    (State::Colon, &[one(b':', To::Colon), rest(To::Syntax)]),
    (State::After, &[one(b',', To::Comma), one(b'}', To::Close), one(b']', To::Close)]),
    (State::Done, &[]),
    (State::NotJson, &[rest(To::Syntax)]),
    (State::Str, &[
        one(b'"', To::Quote), go(b'\\', State::Escape),
        any(0xc2, 0xdf, State::Tail1),
        go(0xe0, State::AfterE0), go(0xed, State::AfterEd), any(0xe1, 0xef, State::Tail2),
        go(0xf0, State::AfterF0), any(0xf1, 0xf3, State::Tail3), go(0xf4, State::AfterF4),
        Rule { low: 0, high: 0x1f, to: To::Syntax },
    ]),
    (State::NotUtf8, &[rest(To::Utf8)]),
    (State::Tail1, &[any(0x80, 0xbf, State::Str), rest(To::Utf8)]),
    (State::Tail2, &[any(0x80, 0xbf, State::Tail1), rest(To::Utf8)]),
    (State::Tail3, &[any(0x80, 0xbf, State::Tail2), rest(To::Utf8)]),
    (State::AfterE0, &[any(0xa0, 0xbf, State::Tail1), rest(To::Utf8)]),
    (State::AfterEd, &[any(0x80, 0x9f, State::Tail1), rest(To::Utf8)]),
    (State::AfterF0, &[any(0x90, 0xbf, State::Tail2), rest(To::Utf8)]),
    (State::AfterF4, &[any(0x80, 0x8f, State::Tail2), rest(To::Utf8)]),
    (State::Escape, &[
        go(b'"', State::Str), go(b'\\', State::Str), go(b'/', State::Str), go(b'b', State::Str), go(b'f', State::Str),
        go(b'n', State::Str), go(b'r', State::Str), go(b't', State::Str), go(b'u', State::Hex4), rest(To::Syntax),
    ]),
    (State::Hex4, HEX3),
    (State::Hex3, HEX2),
    (State::Hex2, HEX1),
    (State::Hex1, HEX0),
    (State::T, &[go(b'r', State::Tr), rest(To::Syntax)]),
    (State::Tr, &[go(b'u', State::Tru), rest(To::Syntax)]),
    (State::F, &[go(b'a', State::Fa), rest(To::Syntax)]),
    (State::Fa, &[go(b'l', State::Fal), rest(To::Syntax)]),
    (State::Fal, &[go(b's', State::Fals), rest(To::Syntax)]),
    (State::Tru, &[]),
    (State::Fals, &[one(b'e', To::End), rest(To::Syntax)]),
    (State::N, &[go(b'u', State::Nu), rest(To::Syntax)]),
    (State::Nu, &[go(b'l', State::Nul), rest(To::Syntax)]),
    (State::Nul, &[one(b'l', To::End), rest(To::Syntax)]),
    (State::Minus, &[go(b'0', State::Zero), any(b'1', b'9', State::Int), rest(To::Syntax)]),
    (State::Int, &[any(b'0', b'9', State::Int)]),
    (State::Zero, &[go(b'.', State::Dot), go(b'e', State::E), go(b'E', State::E), rest(To::Over)]),
    (State::Dot, &[any(b'0', b'9', State::Fraction), rest(To::Syntax)]),
    (State::Fraction, &[
        any(b'0', b'9', State::Fraction), go(b'e', State::E), go(b'E', State::E), rest(To::Over),
    ]),
    (State::E, &[go(b'+', State::ESign), go(b'-', State::ESign)]),
    (State::ESign, &[any(b'0', b'9', State::Exponent), rest(To::Syntax)]),
    (State::Exponent, &[any(b'0', b'9', State::Exponent), rest(To::Over)]),
    (State::Skim, &[
        one(b'"', To::Text), one(b'{', To::SkimOpen), one(b'[', To::SkimOpen), one(b'}', To::SkimClose),
        one(b']', To::SkimClose), rest(To::Go(State::Skim)),
    ]),
];

const HEX3: &[Rule] = &hex(State::Hex3);
const HEX2: &[Rule] = &hex(State::Hex2);
const HEX1: &[Rule] = &hex(State::Hex1);
const HEX0: &[Rule] = &hex(State::Str);

const fn hex(state: State) -> [Rule; 4] {
    [any(b'0', b'9', state), any(b'a', b'f', state), any(b'A', b'F', state), rest(To::Syntax)]
}

/// All rows one after the other.
static RULES: [Rule; count()] = rules();
/// Where the row of each state begins.
static STARTS: [u8; State::NotUtf8 as usize + 1] = starts();

// What follows runs in the compiler, and has each state once.
const _: () = assert!(ROWS.len() == STARTS.len());

#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
const fn count() -> usize {
    let (mut count, mut row) = (0, 0);
    while row < ROWS.len() {
        count += ROWS[row].1.len();
        row += 1;
    }
    count
}

#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
const fn rules() -> [Rule; count()] {
    let mut all = [rest(To::Syntax); count()];
    let (mut at, mut row) = (0, 0);
    while row < ROWS.len() {
        let mut i = 0;
        while i < ROWS[row].1.len() {
            all[at] = ROWS[row].1[i];
            (at, i) = (at + 1, i + 1);
        }
        row += 1;
    }
    all
}

#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]
const fn starts() -> [u8; State::NotUtf8 as usize + 1] {
    const NONE: u8 = 0xff;
    let mut starts = [NONE; State::NotUtf8 as usize + 1];
    let (mut at, mut row) = (0, 0);
    while row < ROWS.len() {
        let start = &mut starts[ROWS[row].0 as usize];
        assert!(*start == NONE && at < NONE as usize);
        *start = at as u8;
        at += ROWS[row].1.len();
        row += 1;
    }
    starts
}
