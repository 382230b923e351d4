//! Names on the wire, descriptions, and text as JSON.
use proc_macro2::Span;
use syn::{Attribute, Error, Expr, ExprLit, Lit, LitStr, Meta, Result};

/// How the names of fields and variants are changed, as serde has it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Case {
    Verbatim,
    Lower,
    Upper,
    Pascal,
    Camel,
    Snake,
    ScreamingSnake,
    Kebab,
    ScreamingKebab,
}

impl Case {
    pub(crate) fn parse(name: &LitStr) -> Result<Self> {
        Ok(match name.value().as_str() {
            "lowercase" => Self::Lower,
            "UPPERCASE" => Self::Upper,
            "PascalCase" => Self::Pascal,
            "camelCase" => Self::Camel,
            "snake_case" => Self::Snake,
            "SCREAMING_SNAKE_CASE" => Self::ScreamingSnake,
            "kebab-case" => Self::Kebab,
            "SCREAMING-KEBAB-CASE" => Self::ScreamingKebab,
            _ => {
                return Err(Error::new(
                    name.span(),
                    "`rename_all` is one of lowercase, UPPERCASE, PascalCase, camelCase, snake_case, \
                     SCREAMING_SNAKE_CASE, kebab-case, SCREAMING-KEBAB-CASE",
                ));
            }
        })
    }

    /// The name of a variant, which is written in PascalCase.
    pub(crate) fn variant(self, name: &str) -> String {
        match self {
            Self::Verbatim | Self::Pascal => name.into(),
            Self::Lower => name.to_ascii_lowercase(),
            Self::Upper => name.to_ascii_uppercase(),
            Self::Camel => {
                let mut chars = name.chars();
                chars.next().map(|c| c.to_ascii_lowercase()).into_iter().chain(chars).collect()
            }
            Self::Snake => {
                let mut snake = String::new();
                for (i, c) in name.char_indices() {
                    if i > 0 && c.is_uppercase() {
                        snake.push('_');
                    }
                    snake.push(c.to_ascii_lowercase());
                }
                snake
            }
            Self::ScreamingSnake => Self::Snake.variant(name).to_ascii_uppercase(),
            Self::Kebab => Self::Snake.variant(name).replace('_', "-"),
            Self::ScreamingKebab => Self::ScreamingSnake.variant(name).replace('_', "-"),
        }
    }

    /// The name of a field, which is written in snake_case.
    pub(crate) fn field(self, name: &str) -> String {
        match self {
            Self::Verbatim | Self::Lower | Self::Snake => name.into(),
            Self::Upper | Self::ScreamingSnake => name.to_ascii_uppercase(),
            Self::Pascal => {
                let words = name.split('_').map(|word| {
                    let mut chars = word.chars();
                    chars.next().map(|c| c.to_ascii_uppercase()).into_iter().chain(chars).collect::<String>()
                });
                words.collect()
            }
            Self::Camel => Self::Camel.variant(&Self::Pascal.field(name)),
            Self::Kebab => name.replace('_', "-"),
            Self::ScreamingKebab => Self::ScreamingSnake.field(name).replace('_', "-"),
        }
    }
}

/// The doc comment, its lines kept, without the space that each begins with; empty if there is none.
pub(crate) fn doc(attributes: &[Attribute]) -> String {
    let mut lines = Vec::new();
    for attribute in attributes {
        if let Meta::NameValue(meta) = &attribute.meta
            && meta.path.is_ident("doc")
            && let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = &meta.value
        {
            let text = text.value();
            lines.extend(
                text.lines().map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned()),
            );
            if text.is_empty() {
                lines.push(String::new());
            }
        }
    }
    lines.join("\n").trim().to_owned()
}

/// A JSON string.
pub(crate) fn quoted(text: &str) -> String {
    let mut json = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            '\n' => json.push_str("\\n"),
            '\t' => json.push_str("\\t"),
            c if c < ' ' => json.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => json.push(c),
        }
    }
    json.push('"');
    json
}

/// `,"description":"…"`, or nothing.
pub(crate) fn about(description: &str) -> String {
    if description.is_empty() { String::new() } else { format!(",\"description\":{}", quoted(description)) }
}

/// Refuses a name that was there before.
pub(crate) fn unique<'n>(names: impl Iterator<Item = (&'n str, Span)>, what: &str) -> Result<()> {
    let mut seen: Vec<&str> = Vec::new();
    for (name, span) in names {
        if seen.contains(&name) {
            return Err(Error::new(span, format!("two {what} are named `{name}`")));
        }
        seen.push(name);
    }
    Ok(())
}
