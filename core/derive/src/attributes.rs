//! What `#[arg]`, `#[input]` and `#[tool]` say.
use crate::names::Case;
use proc_macro2::Span;
use syn::parse::ParseStream;
use syn::spanned::Spanned as _;
use syn::{
    Attribute, Error, Expr, Lit, LitBool, LitInt, LitStr, Path, Result, Token, Type, meta::ParseNestedMeta,
};

/// `#[arg(…)]` on a field or a word.
#[derive(Default)]
pub(crate) struct Arg {
    pub(crate) rename: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) default: Option<Expr>,
    pub(crate) rules: Rules,
}

/// What narrows a type.
#[derive(Default)]
pub(crate) struct Rules {
    pub(crate) range: Option<Bounds>,
    pub(crate) items: Option<Bounds>,
    pub(crate) min_length: Option<LitInt>,
    pub(crate) max_length: Option<LitInt>,
    pub(crate) format: Option<LitStr>,
}

/// `1..=10`, either end open.
pub(crate) struct Bounds {
    pub(crate) min: Option<Number>,
    pub(crate) max: Option<Number>,
    pub(crate) inclusive: bool,
    pub(crate) span: Span,
}

/// A number as it is written.
pub(crate) struct Number {
    pub(crate) negative: bool,
    pub(crate) lit: Lit,
}

/// `#[input(…)]`
#[derive(Default)]
pub(crate) struct Input {
    pub(crate) rename_all: Option<Case>,
    pub(crate) open: bool,
    pub(crate) core: Option<Path>,
}

/// `#[tool(…)]` on a variant or the enum.
#[derive(Default)]
pub(crate) struct ToolAttributes {
    pub(crate) name: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) schema: Option<LitStr>,
    pub(crate) output: Option<Type>,
    pub(crate) rename_all: Option<Case>,
    pub(crate) open: bool,
    pub(crate) core: Option<Path>,
    /// Builders of `Tool` that take a text.
    pub(crate) texts: Vec<(&'static str, LitStr)>,
    /// Builders of `Tool` that take a flag.
    pub(crate) flags: Vec<(&'static str, LitBool)>,
}

impl Arg {
    pub(crate) fn parse(attributes: &[Attribute]) -> Result<Self> {
        let mut arg = Self::default();
        each(attributes, "arg", |meta| {
            let key = key(&meta);
            match key.as_str() {
                "rename" => once(&mut arg.rename, &meta, meta.value()?.parse()?),
                "description" => once(&mut arg.description, &meta, meta.value()?.parse()?),
                "default" => once(&mut arg.default, &meta, meta.value()?.parse()?),
                "range" => once(&mut arg.rules.range, &meta, Bounds::parse(meta.value()?)?),
                "items" => once(&mut arg.rules.items, &meta, Bounds::parse(meta.value()?)?),
                "min_length" => once(&mut arg.rules.min_length, &meta, meta.value()?.parse()?),
                "max_length" => once(&mut arg.rules.max_length, &meta, meta.value()?.parse()?),
                "format" => once(&mut arg.rules.format, &meta, meta.value()?.parse()?),
                _ => Err(meta.error(
                    "`arg` takes range, items, min_length, max_length, format, default, rename, description",
                )),
            }
        })?;
        Ok(arg)
    }

    /// A word has a name and nothing else.
    pub(crate) fn parse_word(attributes: &[Attribute]) -> Result<Option<LitStr>> {
        let mut rename = None;
        each(attributes, "arg", |meta| match key(&meta).as_str() {
            "rename" => once(&mut rename, &meta, meta.value()?.parse()?),
            _ => Err(meta.error("a variant takes `rename` alone")),
        })?;
        Ok(rename)
    }
}

impl Input {
    pub(crate) fn parse(attributes: &[Attribute]) -> Result<Self> {
        let mut input = Self::default();
        each(attributes, "input", |meta| match key(&meta).as_str() {
            "rename_all" => once(&mut input.rename_all, &meta, Case::parse(&meta.value()?.parse()?)?),
            "crate" => once(&mut input.core, &meta, path(&meta.value()?.parse()?)?),
            "open" => {
                input.open = true;
                Ok(())
            }
            _ => Err(meta.error("`input` takes rename_all, open, crate")),
        })?;
        Ok(input)
    }
}

impl ToolAttributes {
    /// Those of a variant.
    pub(crate) fn parse(attributes: &[Attribute]) -> Result<Self> {
        let mut tool = Self::default();
        each(attributes, "tool", |meta| {
            let key = key(&meta);
            let flag =
                ["read_only", "destructive", "idempotent", "open_world"].into_iter().find(|f| *f == key);
            let text =
                ["title", "output_schema", "icons", "task_support", "meta"].into_iter().find(|t| *t == key);
            if let Some(flag) = flag {
                let yes = LitBool::new(true, meta.path.span());
                let value = if meta.input.peek(Token![=]) { meta.value()?.parse()? } else { yes };
                tool.flags.push((flag, value));
                return Ok(());
            }
            if let Some(text) = text {
                tool.texts.push((text, meta.value()?.parse()?));
                return Ok(());
            }
            match key.as_str() {
                "name" => once(&mut tool.name, &meta, meta.value()?.parse()?),
                "description" => once(&mut tool.description, &meta, meta.value()?.parse()?),
                "schema" => once(&mut tool.schema, &meta, meta.value()?.parse()?),
                "output" => once(&mut tool.output, &meta, meta.value()?.parse()?),
                "rename_all" => once(&mut tool.rename_all, &meta, Case::parse(&meta.value()?.parse()?)?),
                "open" => {
                    tool.open = true;
                    Ok(())
                }
                _ => Err(meta.error(
                    "`tool` takes name, title, description, read_only, destructive, idempotent, open_world, output, \
                     output_schema, schema, icons, task_support, meta, rename_all, open",
                )),
            }
        })?;
        Ok(tool)
    }

    /// Those of the enum.
    pub(crate) fn parse_all(attributes: &[Attribute]) -> Result<Self> {
        let mut tool = Self::default();
        each(attributes, "tool", |meta| match key(&meta).as_str() {
            "rename_all" => once(&mut tool.rename_all, &meta, Case::parse(&meta.value()?.parse()?)?),
            "crate" => once(&mut tool.core, &meta, path(&meta.value()?.parse()?)?),
            _ => {
                Err(meta
                    .error("on the enum `tool` takes rename_all and crate; the rest belongs to a variant"))
            }
        })?;
        Ok(tool)
    }
}

impl Bounds {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let span = input.span();
        let min = Number::parse(input)?;
        let inclusive = input.peek(Token![..=]);
        if inclusive {
            input.parse::<Token![..=]>()?;
        } else if input.peek(Token![..]) {
            input.parse::<Token![..]>()?;
        } else {
            return Err(Error::new(span, "write a range of numbers, such as 0..=100"));
        }
        let max = Number::parse(input)?;
        if min.is_none() && max.is_none() {
            return Err(Error::new(span, "a range has at least one end"));
        }
        Ok(Self { min, max, inclusive, span })
    }
}

impl Number {
    fn parse(input: ParseStream<'_>) -> Result<Option<Self>> {
        let negative = input.peek(Token![-]);
        if negative {
            input.parse::<Token![-]>()?;
        }
        if input.peek(Lit) {
            return Ok(Some(Self { negative, lit: input.parse()? }));
        }
        if input.is_empty() || input.peek(Token![,]) || input.peek(Token![..]) {
            return Ok(None);
        }
        Err(input.error("write the bound as a number: a constant's value is not known here"))
    }

    /// What an expression is, if it is a number.
    pub(crate) fn of(expression: &Expr) -> Option<Self> {
        match expression {
            Expr::Lit(it) => Some(Self { negative: false, lit: it.lit.clone() }),
            Expr::Unary(it) if matches!(it.op, syn::UnOp::Neg(_)) => match &*it.expr {
                Expr::Lit(it) => Some(Self { negative: true, lit: it.lit.clone() }),
                _ => None,
            },
            _ => None,
        }
    }

    pub(crate) fn integer(&self) -> Result<i128> {
        let Lit::Int(lit) = &self.lit else {
            return Err(Error::new(self.lit.span(), "an integer belongs here"));
        };
        let value: i128 = lit.base10_parse()?;
        Ok(if self.negative { -value } else { value })
    }

    pub(crate) fn float(&self) -> Result<f64> {
        let value: f64 = match &self.lit {
            Lit::Int(lit) => lit.base10_parse()?,
            Lit::Float(lit) => lit.base10_parse()?,
            lit => return Err(Error::new(lit.span(), "a number belongs here")),
        };
        Ok(if self.negative { -value } else { value })
    }
}

/// A path in a string, as if the derive had written it: the user's lints are not meant for it.
fn path(text: &LitStr) -> Result<Path> {
    syn::parse_str(&text.value())
        .map_err(|_| Error::new(text.span(), "`crate` is a path, such as \"my::barewire\""))
}

fn each(
    attributes: &[Attribute],
    name: &str,
    mut take: impl FnMut(ParseNestedMeta<'_>) -> Result<()>,
) -> Result<()> {
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident(name)) {
        attribute.parse_nested_meta(&mut take)?;
    }
    Ok(())
}

fn key(meta: &ParseNestedMeta<'_>) -> String {
    meta.path.get_ident().map(ToString::to_string).unwrap_or_default()
}

fn once<T>(place: &mut Option<T>, meta: &ParseNestedMeta<'_>, value: T) -> Result<()> {
    if place.replace(value).is_some() {
        return Err(meta.error("this is said twice"));
    }
    Ok(())
}
