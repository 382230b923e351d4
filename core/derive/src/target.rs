//! The type that something is derived for.
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{format_ident, quote};
use syn::{DeriveInput, Error, GenericParam, Ident, Lifetime, Path, Result, parse_quote};

/// The type, its one lifetime, and where the core is.
pub(crate) struct Target<'i> {
    pub(crate) name: &'i Ident,
    lifetime: Option<&'i Lifetime>,
    core: Path,
}

impl<'i> Target<'i> {
    pub(crate) fn new(item: &'i DeriveInput, core: Option<Path>) -> Result<Self> {
        let mut lifetime = None;
        for parameter in &item.generics.params {
            match parameter {
                GenericParam::Lifetime(it) if lifetime.is_none() => lifetime = Some(&it.lifetime),
                GenericParam::Lifetime(it) => {
                    return Err(Error::new_spanned(
                        it,
                        "arguments borrow from one message: use one lifetime",
                    ));
                }
                other => {
                    return Err(Error::new_spanned(
                        other,
                        "a schema is constant text: use no type parameters",
                    ));
                }
            }
        }
        Ok(Self { name: &item.ident, lifetime, core: core.unwrap_or_else(|| parse_quote!(::barewire)) })
    }

    pub(crate) fn core(&self) -> &Path {
        &self.core
    }

    /// The module of what derived code calls.
    pub(crate) fn derived(&self) -> TokenStream {
        let core = &self.core;
        quote!(#core::derived)
    }

    /// The lifetime of the message.
    pub(crate) fn message(&self) -> Lifetime {
        self.lifetime.cloned().unwrap_or_else(|| parse_quote!('message))
    }

    /// The type, for an `impl<'message>`.
    pub(crate) fn ty(&self) -> TokenStream {
        let name = self.name;
        self.lifetime.map_or_else(|| quote!(#name), |lifetime| quote!(#name<#lifetime>))
    }

    /// `impl<'a> Trait for Type<'a>`, without a lifetime if it has none.
    pub(crate) fn plain_impl(&self, of: &TokenStream) -> TokenStream {
        let (ty, generics) = (self.ty(), self.lifetime.map(|lifetime| quote!(<#lifetime>)));
        quote!(impl #generics #of for #ty)
    }
}

/// The place of the user's tokens for the derive's own: an error in these is shown there, but lints know whose they are.
pub(crate) fn place(of: Span) -> Span {
    Span::call_site().located_at(of)
}

/// The same tokens at another place.
pub(crate) fn at(span: Span, tokens: TokenStream) -> TokenStream {
    tokens
        .into_iter()
        .map(|mut token| {
            token.set_span(span);
            token
        })
        .collect()
}

/// The same tokens, all lifetimes `'static`: a constant can't depend on a parameter.
pub(crate) fn forever(tokens: TokenStream) -> TokenStream {
    let mut after_quote = false;
    tokens
        .into_iter()
        .map(|token| {
            let is_name = core::mem::take(&mut after_quote);
            match token {
                TokenTree::Group(group) => {
                    let mut all = proc_macro2::Group::new(group.delimiter(), forever(group.stream()));
                    all.set_span(group.span());
                    TokenTree::Group(all)
                }
                TokenTree::Ident(name) if is_name => format_ident!("static", span = name.span()).into(),
                token => {
                    after_quote = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '\'');
                    token
                }
            }
        })
        .collect()
}
