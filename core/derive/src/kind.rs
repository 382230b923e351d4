//! What the type of a field is, by how it is written.
use quote::ToTokens as _;
use syn::{Error, Expr, ExprLit, GenericArgument, Lit, PathArguments, Result, Type};

/// A type of arguments.
pub(crate) enum Kind {
    Bool,
    /// Its least and greatest value.
    Int(i128, i128),
    /// `f32` or `f64`.
    Float,
    Text,
    /// Any JSON.
    Raw,
    Option(Box<Self>),
    Array(Box<Self>, u32),
    /// `Items` or `Vec`.
    Items(Box<Self>),
    /// What derives `ToolInput`.
    Other(Box<Type>),
}

impl Kind {
    pub(crate) fn of(ty: &Type) -> Result<Self> {
        match ty {
            Type::Paren(it) => Self::of(&it.elem),
            Type::Group(it) => Self::of(&it.elem),
            Type::Reference(it) => match &*it.elem {
                Type::Path(path) if path.path.is_ident("str") && it.mutability.is_none() => Ok(Self::Text),
                Type::Slice(_) => Err(Error::new_spanned(ty, "a list is `Items<'a, T>`, or `[T; N]`")),
                _ => Err(Error::new_spanned(ty, "only strings are borrowed: `&'a str`")),
            },
            Type::Array(it) => {
                let element = Self::element(&it.elem)?;
                let Expr::Lit(ExprLit { lit: Lit::Int(len), .. }) = &it.len else {
                    return Err(Error::new_spanned(
                        &it.len,
                        "write the length as a number: the schema says it",
                    ));
                };
                match len.base10_parse()? {
                    0 => Err(Error::new_spanned(len, "a list of nothing is no argument")),
                    len => Ok(Self::Array(Box::new(element), len)),
                }
            }
            Type::Path(path) if path.qself.is_none() => Self::named(ty),
            Type::Tuple(_) => Err(Error::new_spanned(ty, "a tuple has no names: use a struct, or an array")),
            _ => Err(Error::new_spanned(ty, "a value of this type can't come in JSON")),
        }
    }

    fn named(ty: &Type) -> Result<Self> {
        let Type::Path(path) = ty else { return Ok(Self::Other(Box::new(ty.clone()))) };
        let Some(last) = path.path.segments.last() else { return Ok(Self::Other(Box::new(ty.clone()))) };
        let first_type = match &last.arguments {
            PathArguments::AngleBracketed(all) => all.args.iter().find_map(|argument| match argument {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            }),
            _ => None,
        };
        let refuse = |why: &str| Err(Error::new_spanned(ty, why));
        match (last.ident.to_string().as_str(), first_type) {
            ("bool", None) => Ok(Self::Bool),
            ("i8", None) => Ok(Self::Int(i8::MIN.into(), i8::MAX.into())),
            ("i16", None) => Ok(Self::Int(i16::MIN.into(), i16::MAX.into())),
            ("i32", None) => Ok(Self::Int(i32::MIN.into(), i32::MAX.into())),
            ("i64", None) => Ok(Self::Int(i64::MIN.into(), i64::MAX.into())),
            ("u8", None) => Ok(Self::Int(0, u8::MAX.into())),
            ("u16", None) => Ok(Self::Int(0, u16::MAX.into())),
            ("u32", None) => Ok(Self::Int(0, u32::MAX.into())),
            ("u64", None) => Ok(Self::Int(0, u64::MAX.into())),
            ("f32" | "f64", None) => Ok(Self::Float),
            ("String", None) => Ok(Self::Text),
            ("Raw", None) => Ok(Self::Raw),
            ("usize" | "isize", None) => {
                refuse("its size depends on the machine, and the schema must not: use `u32` or `i64`")
            }
            ("u128" | "i128", None) => refuse("JSON peers do not carry 128 bits: use `u64` or `i64`"),
            ("char", None) => refuse("use `&'a str` with `#[arg(min_length = 1, max_length = 1)]`"),
            ("str", None) => refuse("a string is borrowed from the message: `&'a str`"),
            ("HashMap" | "BTreeMap", _) => {
                refuse("a map has no schema: use a struct, or `Raw<'a>` for any JSON")
            }
            ("Box" | "Rc" | "Arc" | "Cow", _) => refuse("use the value itself: `&'a str`, or a struct"),
            ("Option", Some(inner)) => match Self::of(inner)? {
                Self::Option(_) => refuse("one `Option` is enough: absent and null mean the same"),
                inner => Ok(Self::Option(Box::new(inner))),
            },
            ("Items" | "Vec", Some(inner)) => Ok(Self::Items(Box::new(Self::element(inner)?))),
            _ => Ok(Self::Other(Box::new(ty.clone()))),
        }
    }

    fn element(ty: &Type) -> Result<Self> {
        match Self::of(ty)? {
            Self::Option(_) => {
                Err(Error::new_spanned(ty, "an element of a list can't be left out: no `Option` here"))
            }
            element => Ok(element),
        }
    }

    /// What narrowing applies to: inside of options and lists.
    pub(crate) fn leaf(&self) -> &Self {
        match self {
            Self::Option(inner) | Self::Array(inner, _) | Self::Items(inner) => inner.leaf(),
            leaf => leaf,
        }
    }

    /// Without the option around it.
    pub(crate) fn required(&self) -> &Self {
        match self {
            Self::Option(inner) => inner,
            other => other,
        }
    }

    /// For an error: what this is.
    pub(crate) fn said(&self) -> String {
        match self {
            Self::Bool => "a bool".into(),
            Self::Int(..) | Self::Float => "a number".into(),
            Self::Text => "a string".into(),
            Self::Raw => "any JSON".into(),
            Self::Option(_) => "an `Option`".into(),
            Self::Array(..) | Self::Items(_) => "a list".into(),
            Self::Other(ty) => format!("`{}`", ty.to_token_stream().to_string().replace(" ", "")),
        }
    }
}
