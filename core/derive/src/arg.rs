//! One argument: its schema, its table, and how it is taken.
use crate::attributes::{Arg, Bounds, Number, Rules};
use crate::kind::Kind;
use crate::names::{about, quoted};
use crate::pieces::Pieces;
use crate::target::{Target, forever, place};
use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens as _, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Error, Lit, LitInt, LitStr, Result, Type};

/// What becomes of a field.
pub(crate) struct Argument {
    /// A value's whole schema.
    pub(crate) schema: Pieces,
    /// Without braces, description and default.
    pub(crate) body: Pieces,
    /// A constant `&'static Shape`.
    pub(crate) shape: TokenStream,
    /// A variant of `Need`.
    pub(crate) need: TokenStream,
    /// In place of an absent value.
    pub(crate) default: Option<TokenStream>,
}

impl Argument {
    pub(crate) fn new(ty: &Type, arg: &Arg, doc: &str, target: &Target<'_>) -> Result<Self> {
        let kind = Kind::of(ty)?;
        let range = Range::new(&kind, &arg.rules)?;
        let of = Of { target, rules: &arg.rules, range };
        of.check(&kind)?;

        let body = of.body(&kind, true);
        let shape = of.shape(kind.required(), true);
        let mut schema = Pieces::text("{");
        schema.append(body.clone());
        let description = arg.description.as_ref().map_or_else(|| doc.to_owned(), LitStr::value);
        match (&kind, description.is_empty()) {
            (Kind::Other(ty), true) => schema.constant(of.constant(ty, "ABOUT")),
            (_, false) if body.is_empty() => schema.push(about(&description).trim_start_matches(',')),
            _ => schema.push(&about(&description)),
        }
        let mut default = None;
        if let Some(expression) = &arg.default {
            let (json, value) = of.default(&kind, expression)?;
            schema.push(",\"default\":");
            schema.append(json);
            default = Some(value);
        }
        schema.push("}");

        let derived = target.derived();
        let need = match (&kind, &default) {
            (Kind::Option(_), _) => quote!(#derived::Need::Optional),
            (_, Some(_)) => quote!(#derived::Need::Default),
            _ => quote!(#derived::Need::Required),
        };
        Ok(Self { schema, body, shape, need, default })
    }

    pub(crate) const fn is_required(&self, kind: &Kind) -> bool {
        self.default.is_none() && !matches!(kind, Kind::Option(_))
    }
}

/// Bounds that were read for the type at hand; inclusive.
#[derive(Clone, Copy)]
enum Range {
    None,
    Int(i128, i128),
    /// The bounds as written, and whether the upper one is exclusive.
    Float(Option<f64>, Option<f64>, bool),
}

impl Range {
    fn new(kind: &Kind, rules: &Rules) -> Result<Self> {
        let Some(bounds) = &rules.range else { return Ok(Self::None) };
        match kind.leaf() {
            Kind::Int(least, greatest) => Self::integers(bounds, *least, *greatest),
            Kind::Float => {
                let min = bounds.min.as_ref().map(Number::float).transpose()?;
                let max = bounds.max.as_ref().map(Number::float).transpose()?;
                if let (Some(min), Some(max)) = (min, max)
                    && (min > max || min == max && !bounds.inclusive)
                {
                    return Err(Error::new(bounds.span, "no number is in this range"));
                }
                Ok(Self::Float(min, max, !bounds.inclusive))
            }
            Kind::Text => Err(Error::new(
                bounds.span,
                "`range` is for numbers: a string has `min_length` and `max_length`",
            )),
            Kind::Other(_) => Err(Error::new(
                bounds.span,
                "`range` needs a number type by its own name, such as `u8` or `f32`",
            )),
            other => {
                Err(Error::new(bounds.span, format!("`range` is for numbers: this is {}", other.said())))
            }
        }
    }

    fn integers(bounds: &Bounds, least: i128, greatest: i128) -> Result<Self> {
        let min = bounds.min.as_ref().map(Number::integer).transpose()?.unwrap_or(least);
        let max = bounds.max.as_ref().map(Number::integer).transpose()?;
        let max = max.map_or(greatest, |max| if bounds.inclusive { max } else { max - 1 });
        if min > max {
            return Err(Error::new(bounds.span, "no number is in this range"));
        }
        if min < least || max > greatest {
            let why = format!("the range is wider than the type, which goes from {least} to {greatest}");
            return Err(Error::new(bounds.span, why));
        }
        Ok(Self::Int(min, max))
    }
}

/// What narrows a type, and who asks.
struct Of<'a> {
    target: &'a Target<'a>,
    rules: &'a Rules,
    range: Range,
}

impl Of<'_> {
    /// Refuses rules that mean nothing here.
    fn check(&self, kind: &Kind) -> Result<()> {
        let leaf = kind.leaf();
        let said = leaf.said();
        if !matches!(leaf, Kind::Text) {
            let lengths = [&self.rules.min_length, &self.rules.max_length];
            if let Some(length) = lengths.into_iter().flatten().next() {
                return Err(Error::new(length.span(), format!("a length is for strings: this is {said}")));
            }
            if let Some(format) = &self.rules.format {
                return Err(Error::new(format.span(), format!("`format` is for strings: this is {said}")));
            }
        }
        for length in [&self.rules.min_length, &self.rules.max_length].into_iter().flatten() {
            length.base10_parse::<u32>()?;
        }
        let (min, max) = self.lengths();
        if let (Some(min), Some(max)) = (min, max)
            && min > max
        {
            let span = self.rules.max_length.as_ref().map(LitInt::span);
            return Err(Error::new(
                span.unwrap_or_else(proc_macro2::Span::call_site),
                "no string is that long",
            ));
        }
        if let Some(items) = &self.rules.items {
            if !matches!(kind.required(), Kind::Items(_)) {
                return Err(Error::new(items.span, "`items` is for lists: `Items<'a, T>`"));
            }
            Range::integers(items, 0, u32::MAX.into())?;
        }
        Ok(())
    }

    fn lengths(&self) -> (Option<u32>, Option<u32>) {
        let read = |lit: &Option<LitInt>| lit.as_ref().and_then(|lit| lit.base10_parse().ok());
        (read(&self.rules.min_length), read(&self.rules.max_length))
    }

    /// How many elements a list has; `outer` is the list of the field itself.
    fn count(&self, kind: &Kind, outer: bool) -> (u32, u32) {
        match (kind, &self.rules.items) {
            (Kind::Array(_, len), _) => (*len, *len),
            (_, Some(items)) if outer => match Range::integers(items, 0, u32::MAX.into()) {
                Ok(Range::Int(min, max)) => {
                    (u32::try_from(min).unwrap_or(0), u32::try_from(max).unwrap_or(u32::MAX))
                }
                _ => (0, u32::MAX),
            },
            _ => (0, u32::MAX),
        }
    }

    /// A constant of a type that derives `ToolInput`.
    fn constant(&self, ty: &Type, name: &str) -> TokenStream {
        let (core, name) = (self.target.core(), quote::format_ident!("{name}"));
        let ty = forever(ty.to_token_stream());
        quote_spanned!(place(ty.span())=> <#ty as #core::ToolInput>::#name)
    }

    /// The members of the schema that say what a value is.
    fn body(&self, kind: &Kind, outer: bool) -> Pieces {
        let (kind, null) = match kind {
            Kind::Option(inner) => (&**inner, true),
            kind => (kind, false),
        };
        let ty = |name: &str| {
            if null { format!("\"type\":[\"{name}\",\"null\"]") } else { format!("\"type\":\"{name}\"") }
        };
        match kind {
            Kind::Bool => Pieces::text(ty("boolean")),
            Kind::Int(least, greatest) => {
                let mut text = ty("integer");
                let (min, max) = match self.range {
                    Range::Int(min, max) => (min, max),
                    _ => (*least, *greatest),
                };
                // The outermost bounds of 64 bits: whoever keeps numbers as floats would round them.
                if min != i128::from(i64::MIN) {
                    text += &format!(",\"minimum\":{min}");
                }
                if max != i128::from(i64::MAX) && max != i128::from(u64::MAX) {
                    text += &format!(",\"maximum\":{max}");
                }
                Pieces::text(text)
            }
            Kind::Float => {
                let mut text = ty("number");
                if let Range::Float(min, max, exclusive) = self.range {
                    if let Some(min) = min {
                        text += &format!(",\"minimum\":{min}");
                    }
                    if let Some(max) = max {
                        text += if exclusive { ",\"exclusiveMaximum\":" } else { ",\"maximum\":" };
                        text += &max.to_string();
                    }
                }
                Pieces::text(text)
            }
            Kind::Text => {
                let mut text = ty("string");
                let (min, max) = self.lengths();
                if let Some(min) = min {
                    text += &format!(",\"minLength\":{min}");
                }
                if let Some(max) = max {
                    text += &format!(",\"maxLength\":{max}");
                }
                if let Some(format) = &self.rules.format {
                    text += &format!(",\"format\":{}", quoted(&format.value()));
                }
                Pieces::text(text)
            }
            Kind::Raw => Pieces::default(),
            Kind::Array(inner, _) | Kind::Items(inner) => {
                let mut pieces = Pieces::text(format!("{},\"items\":{{", ty("array")));
                pieces.append(self.body(inner, false));
                if let Kind::Other(inner) = &**inner {
                    pieces.constant(self.constant(inner, "ABOUT"));
                }
                pieces.push("}");
                let (min, max) = self.count(kind, outer);
                if min > 0 {
                    pieces.push(&format!(",\"minItems\":{min}"));
                }
                if max < u32::MAX {
                    pieces.push(&format!(",\"maxItems\":{max}"));
                }
                pieces
            }
            Kind::Other(ty) => {
                let mut pieces = Pieces::text(if null { "\"anyOf\":[{" } else { "" });
                pieces.constant(self.constant(ty, "BODY"));
                if null {
                    pieces.constant(self.constant(ty, "ABOUT"));
                    pieces.push("},{\"type\":\"null\"}]");
                }
                pieces
            }
            // `Kind::of` has none within another.
            Kind::Option(_) => Pieces::default(),
        }
    }

    /// A constant `&'static Shape`.
    fn shape(&self, kind: &Kind, outer: bool) -> TokenStream {
        let derived = self.target.derived();
        let shape = |expected: &str, of: TokenStream| quote!(&#derived::Shape { expected: #expected, of: #derived::Of::#of });
        let plain = |name: &str| {
            let (core, name) =
                (self.target.core(), syn::parse_str::<Type>(name).map(|ty| ty.into_token_stream()));
            let name = name.unwrap_or_default();
            quote!(<#name as #core::ToolInput>::SHAPE)
        };
        match kind {
            Kind::Bool => plain("bool"),
            Kind::Int(least, greatest) => match self.range {
                Range::Int(min, max) => {
                    let expected =
                        said("an integer", from(min, i64::MIN.into()), upto(max, *greatest), "from", "to");
                    if *greatest > i64::MAX.into() {
                        let (min, max) = (Literal::i128_unsuffixed(min), Literal::i128_unsuffixed(max));
                        shape(&expected, quote!(Uint(#min, #max)))
                    } else {
                        let (min, max) = (Literal::i128_unsuffixed(min), Literal::i128_unsuffixed(max));
                        shape(&expected, quote!(Int(#min, #max)))
                    }
                }
                _ => plain(&integer(*least, *greatest)),
            },
            Kind::Float => match self.range {
                Range::Float(min, max, exclusive) => {
                    let last = if exclusive { "to below" } else { "to" };
                    let expected = said(
                        "a number",
                        min.map(|n| n.to_string()),
                        max.map(|n| n.to_string()),
                        "from",
                        last,
                    );
                    let max = max.map_or(f64::MAX, |max| if exclusive { max.next_down() } else { max });
                    let min = Literal::f64_suffixed(min.unwrap_or(f64::MIN));
                    let max = Literal::f64_suffixed(max);
                    shape(&expected, quote!(Float(#min, #max)))
                }
                _ => plain("f64"),
            },
            Kind::Text => match self.lengths() {
                (None, None) => plain("&str"),
                (min, max) => {
                    let length =
                        said("a string", min.map(|n| n.to_string()), max.map(|n| n.to_string()), "of", "to");
                    let (min, max) = (min.unwrap_or(0), max.unwrap_or(u32::MAX));
                    shape(&counted(length, "character"), quote!(Text(#min, #max)))
                }
            },
            Kind::Raw => shape("any value", quote!(Any)),
            Kind::Array(inner, _) | Kind::Items(inner) => {
                let (min, max) = self.count(kind, outer);
                let expected = match (min, max) {
                    (0, u32::MAX) => "a list".into(),
                    _ => {
                        let max = Some(max).filter(|max| *max < u32::MAX);
                        let count =
                            said("a list", from(min.into(), 0), max.map(|n| n.to_string()), "of", "to");
                        counted(count, "item")
                    }
                };
                let inner = self.shape(inner, false);
                shape(&expected, quote!(List(#inner, #min, #max)))
            }
            Kind::Option(inner) => self.shape(inner, outer),
            Kind::Other(ty) => self.constant(ty, "SHAPE"),
        }
    }

    /// The default as JSON, and as an expression.
    fn default(&self, kind: &Kind, expression: &syn::Expr) -> Result<(Pieces, TokenStream)> {
        let refuse = |why: &str| Err(Error::new_spanned(expression, why));
        let number = Number::of(expression);
        match (kind, number) {
            (Kind::Bool, Some(Number { lit: Lit::Bool(yes), .. })) => {
                Ok((Pieces::text(yes.value.to_string()), yes.into_token_stream()))
            }
            (Kind::Bool, _) => refuse("the default of a bool is `true` or `false`"),
            (Kind::Int(least, greatest), Some(number)) if matches!(number.lit, Lit::Int(_)) => {
                let (min, max) = match self.range {
                    Range::Int(min, max) => (min, max),
                    _ => (*least, *greatest),
                };
                let value = number.integer()?;
                if value < min || value > max {
                    return refuse(&format!(
                        "the default is not from {min} to {max}, as the argument must be"
                    ));
                }
                Ok((Pieces::text(value.to_string()), expression.into_token_stream()))
            }
            (Kind::Int(..), _) => refuse("the default of an integer is an integer"),
            (Kind::Float, Some(number)) if matches!(number.lit, Lit::Int(_) | Lit::Float(_)) => {
                let value = number.float()?;
                if let Range::Float(min, max, exclusive) = self.range
                    && (min.is_some_and(|min| value < min)
                        || max.is_some_and(|max| value > max || exclusive && value == max))
                {
                    return refuse("the default is not in the range of the argument");
                }
                let literal = Literal::f64_unsuffixed(value.abs());
                let sign = value.is_sign_negative().then(|| quote!(-));
                Ok((Pieces::text(value.to_string()), quote!(#sign #literal)))
            }
            (Kind::Float, _) => refuse("the default of a number is a number"),
            (Kind::Text, Some(Number { lit: Lit::Str(text), negative: false })) => {
                let (min, max) = self.lengths();
                let length = u32::try_from(text.value().chars().count()).unwrap_or(u32::MAX);
                if min.is_some_and(|min| length < min) || max.is_some_and(|max| length > max) {
                    return refuse("the default is shorter or longer than the argument may be");
                }
                Ok((Pieces::text(quoted(&text.value())), quote!(#text.into())))
            }
            (Kind::Text, _) => refuse("the default of a string is a string"),
            (Kind::Other(ty), _) => {
                let syn::Expr::Path(_) = expression else {
                    return refuse("the default of this type is one of its variants, such as `Colour::Red`");
                };
                let ty = forever(ty.to_token_stream());
                let mut json = Pieces::text("\"");
                json.constant(quote_spanned!(place(expression.span())=> #ty::__word(&#expression)));
                json.push("\"");
                Ok((json, expression.into_token_stream()))
            }
            (Kind::Option(_), _) => refuse("an `Option` that is absent is `None`: it has no default"),
            (Kind::Raw | Kind::Array(..) | Kind::Items(_), _) => {
                refuse(&format!("{} has no default: use an `Option`", kind.said()))
            }
        }
    }
}

/// The type of these bounds.
fn integer(least: i128, greatest: i128) -> String {
    let sign = if least < 0 { "i" } else { "u" };
    let bits = (128 - greatest.leading_zeros()) + u32::from(least < 0);
    format!("{sign}{bits}")
}

/// A lower bound, unless it is as low as can be.
fn from(min: i128, least: i128) -> Option<String> {
    (min != least).then(|| min.to_string())
}

/// An upper bound, unless it is that of 64 bits, which nobody meant.
fn upto(max: i128, greatest: i128) -> Option<String> {
    (max < greatest || greatest < i64::MAX.into()).then(|| max.to_string())
}

/// "a list of 3 items"
fn counted(count: String, what: &str) -> String {
    let end = if count.ends_with(" 1") { "" } else { "s" };
    format!("{count} {what}{end}")
}

/// "an integer from 1 to 5", "a string of at least 3"
fn said(what: &str, min: Option<String>, max: Option<String>, first: &str, last: &str) -> String {
    let of = if first == "of" { " of" } else { "," };
    match (min, max) {
        (Some(min), Some(max)) if min == max && first == "of" => format!("{what} of {min}"),
        (Some(min), Some(max)) => format!("{what} {first} {min} {last} {max}"),
        (Some(min), None) => format!("{what}{of} at least {min}"),
        (None, Some(max)) if last == "to below" => format!("{what}, below {max}"),
        (None, Some(max)) => format!("{what}{of} at most {max}"),
        (None, None) => what.into(),
    }
}
