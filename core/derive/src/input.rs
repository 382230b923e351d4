//! `#[derive(ToolInput)]`
use crate::arg::Argument;
use crate::attributes::{Arg, Input};
use crate::kind::Kind;
use crate::names::{Case, about, doc, quoted, unique};
use crate::pieces::Pieces;
use crate::target::{Target, at, place};
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DataEnum, DeriveInput, Error, Field, Fields, Ident, Result};

pub(crate) fn derive(item: &DeriveInput) -> Result<TokenStream> {
    let input = Input::parse(&item.attrs)?;
    let target = Target::new(item, input.core.clone())?;
    let about = about(&doc(&item.attrs));
    match &item.data {
        Data::Struct(data) => match &data.fields {
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                around(&target, &fields.unnamed[0], &about)
            }
            Fields::Unnamed(fields) => Err(Error::new_spanned(
                fields,
                "arguments have names: use named fields, or one value without",
            )),
            fields => object(&target, fields, &input, &about),
        },
        Data::Enum(data) => words(&target, data, &input, doc(&item.attrs)),
        Data::Union(data) => Err(Error::new_spanned(data.union_token, "a union can't be read from JSON")),
    }
}

/// The members of an object: a struct's, or those of a tool's variant.
pub(crate) struct Members<'i> {
    fields: Vec<&'i Field>,
    arguments: Vec<Argument>,
    /// Without braces and description.
    pub(crate) body: Pieces,
    /// A constant `&'static Shape`.
    pub(crate) shape: TokenStream,
}

impl<'i> Members<'i> {
    pub(crate) fn new(
        fields: &'i Fields,
        case: Option<Case>,
        open: bool,
        target: &Target<'_>,
    ) -> Result<Self> {
        let derived = target.derived();
        let case = case.unwrap_or(Case::Verbatim);
        if fields.len() > 32 {
            return Err(Error::new_spanned(fields, "more than 32 arguments: no model fills them all"));
        }
        let (mut arguments, mut named, mut required) = (Vec::new(), Vec::new(), Vec::new());
        let mut errors: Option<Error> = None;
        for field in fields {
            match member(field, case, target) {
                Ok((name, span, is_required, argument)) => {
                    if is_required {
                        required.push(quoted(&name));
                    }
                    named.push((name, span));
                    arguments.push(argument);
                }
                Err(error) => match &mut errors {
                    Some(all) => all.combine(error),
                    None => errors = Some(error),
                },
            }
        }
        if let Some(errors) = errors {
            return Err(errors);
        }
        unique(named.iter().map(|(name, span)| (name.as_str(), *span)), "arguments")?;

        let mut body = Pieces::text("\"type\":\"object\"");
        for (i, ((name, _), argument)) in named.iter().zip(&arguments).enumerate() {
            body.push(if i == 0 { ",\"properties\":{" } else { "," });
            body.push(&format!("{}:", quoted(name)));
            body.append(argument.schema.clone());
        }
        if !named.is_empty() {
            body.push("}");
        }
        if !required.is_empty() {
            body.push(&format!(",\"required\":[{}]", required.join(",")));
        }
        if !open {
            body.push(",\"additionalProperties\":false");
        }
        let table = named.iter().zip(&arguments).map(|((name, _), Argument { shape, need, .. })| {
            quote!(#derived::Field { name: #name, shape: #shape, need: #need })
        });
        let shape = quote!(&#derived::Shape {
            expected: "an object",
            of: #derived::Of::Object(&[#(#table),*], #open),
        });
        Ok(Self { fields: fields.iter().collect(), arguments, body, shape })
    }

    pub(crate) fn len(&self) -> usize {
        self.arguments.len()
    }

    /// `{ on: take(a0), level: take_or(a1, 5) }`
    pub(crate) fn construct(&self, target: &Target<'_>) -> TokenStream {
        let derived = target.derived();
        let fields = self.fields.iter().zip(&self.arguments).enumerate().map(|(i, (field, argument))| {
            let (name, span) = (&field.ident, place(field.ty.span()));
            let slot = Ident::new(&slot(i).to_string(), span);
            match &argument.default {
                Some(default) => {
                    let take_or = at(span, quote!(#derived::take_or));
                    quote_spanned!(span=> #name: #take_or(#slot, #default))
                }
                None => {
                    let take = at(span, quote!(#derived::take));
                    quote_spanned!(span=> #name: #take(#slot))
                }
            }
        });
        quote!({ #(#fields),* })
    }
}

/// What the value of the `i`th field is called.
pub(crate) fn slot(i: usize) -> Ident {
    format_ident!("value{i}")
}

fn member(field: &Field, case: Case, target: &Target<'_>) -> Result<(String, Span, bool, Argument)> {
    let arg = Arg::parse(&field.attrs)?;
    let (name, span) = match (&arg.rename, &field.ident) {
        (Some(name), _) => (name.value(), name.span()),
        (None, Some(ident)) => {
            let name = ident.to_string();
            (case.field(name.strip_prefix("r#").unwrap_or(&name)), ident.span())
        }
        (None, None) => return Err(Error::new_spanned(field, "arguments have names")),
    };
    if name.is_empty() {
        return Err(Error::new(span, "an argument's name is not empty"));
    }
    let argument = Argument::new(&field.ty, &arg, &doc(&field.attrs), target)?;
    let required = argument.is_required(&Kind::of(&field.ty)?);
    Ok((name, span, required, argument))
}

fn object(target: &Target<'_>, fields: &Fields, input: &Input, about: &str) -> Result<TokenStream> {
    let members = Members::new(fields, input.rename_all, input.open, target)?;
    let (core, derived, message, ty) = (target.core(), target.derived(), target.message(), target.ty());
    let consts = consts(target, &members.body, about, &members.shape);
    let (slots, construct, len) = ((0..members.len()).map(slot), members.construct(target), members.len());
    let slots = quote!([#(#slots),*]);
    Ok(quote! {
        #[allow(unused_qualifications)]
        const _: () = {
            #consts
            #[automatically_derived]
            impl<#message> #core::Argument<#message> for #ty {
                fn take(value: #core::Value<#message>) -> Self {
                    let #slots = #derived::members::<#len>(value, SHAPE);
                    Self #construct
                }
            }
            #[automatically_derived]
            impl<#message> #core::FromArgs<#message> for #ty {
                fn from_args(fields: #core::Fields<#message>) -> ::core::result::Result<Self, #core::BadArgs> {
                    let #slots = #derived::arguments::<#len>(fields, SHAPE)?;
                    ::core::result::Result::Ok(Self #construct)
                }
            }
        };
    })
}

/// A struct around one value is that value.
fn around(target: &Target<'_>, field: &Field, about: &str) -> Result<TokenStream> {
    let arg = Arg::parse(&field.attrs)?;
    let refused = arg.rename.as_ref().map(Spanned::span).or_else(|| arg.default.as_ref().map(Spanned::span));
    if let Some(span) = refused {
        return Err(Error::new(
            span,
            "the value has neither name nor default here: say it where the type is used",
        ));
    }
    if let kind @ (Kind::Option(_) | Kind::Raw) = Kind::of(&field.ty)? {
        let why = format!("{} has no schema of its own: use it in a field", kind.said());
        return Err(Error::new_spanned(&field.ty, why));
    }
    let argument = Argument::new(&field.ty, &arg, "", target)?;
    let (core, derived, message, ty) = (target.core(), target.derived(), target.message(), target.ty());
    let consts = consts(target, &argument.body, about, &argument.shape);
    Ok(quote! {
        #[allow(unused_qualifications)]
        const _: () = {
            #consts
            #[automatically_derived]
            impl<#message> #core::Argument<#message> for #ty {
                fn take(value: #core::Value<#message>) -> Self {
                    Self(#derived::take(value))
                }
            }
        };
    })
}

/// An enum of variants without fields is one of a few words.
fn words(
    target: &Target<'_>,
    data: &DataEnum,
    input: &Input,
    mut description: String,
) -> Result<TokenStream> {
    if input.open {
        return Err(Error::new_spanned(target.name, "`open` is for structs"));
    }
    let case = input.rename_all.unwrap_or(Case::Verbatim);
    let (mut words, mut spans, mut variants) = (Vec::new(), Vec::new(), Vec::new());
    for variant in &data.variants {
        if !matches!(variant.fields, Fields::Unit) {
            return Err(Error::new_spanned(
                &variant.fields,
                "an enum of arguments is a choice of words: its variants have no fields",
            ));
        }
        let rename = Arg::parse_word(&variant.attrs)?;
        let word =
            rename.as_ref().map_or_else(|| case.variant(&variant.ident.to_string()), syn::LitStr::value);
        let about = doc(&variant.attrs);
        if !about.is_empty() {
            description += &format!("{}{word}: {about}", if description.is_empty() { "" } else { "\n" });
        }
        spans.push(rename.map_or_else(|| variant.ident.span(), |rename| rename.span()));
        words.push(word);
        variants.push(&variant.ident);
    }
    let Some(last) = variants.last() else {
        return Err(Error::new_spanned(target.name, "an enum of arguments has at least one variant"));
    };
    unique(words.iter().map(String::as_str).zip(spans), "variants")?;

    let listed: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    let body = Pieces::text(format!("\"type\":\"string\",\"enum\":[{}]", listed.join(",")));
    let expected = match listed.as_slice() {
        [only] => only.clone(),
        several => format!("one of {}", several.join(", ")),
    };
    let (core, derived, message, ty) = (target.core(), target.derived(), target.message(), target.ty());
    let shape = quote!(&#derived::Shape { expected: #expected, of: #derived::Of::Word(WORDS) });
    let consts = consts(target, &body, &about(&description), &shape);
    let escaped = listed.iter().map(|word| &word[1..word.len() - 1]);
    let arms = variants
        .iter()
        .enumerate()
        .take(variants.len() - 1)
        .map(|(i, variant)| quote!(#i => Self::#variant,));
    let (name, all) = (target.name, &variants);
    Ok(quote! {
        #[allow(unused_qualifications)]
        const _: () = {
            const WORDS: &[&str] = &[#(#words),*];
            #consts
            #[automatically_derived]
            impl #name {
                /// For defaults.
                #[doc(hidden)]
                #[allow(dead_code)]
                pub const fn __word(&self) -> &'static str {
                    match self { #(Self::#all => #escaped),* }
                }
            }
            #[automatically_derived]
            impl<#message> #core::Argument<#message> for #ty {
                fn take(value: #core::Value<#message>) -> Self {
                    match #derived::word(value, WORDS) {
                        #(#arms)*
                        _ => Self::#last,
                    }
                }
            }
        };
    })
}

/// The constants of `ToolInput`.
fn consts(target: &Target<'_>, body: &Pieces, about: &str, shape: &TokenStream) -> TokenStream {
    let (core, derived) = (target.core(), target.derived());
    let mut schema = Pieces::text("{");
    schema.append(body.clone());
    schema.push(about);
    schema.push("}");
    let (schema, body) = (schema.expression(target), body.expression(target));
    let header = target.plain_impl(&quote!(#core::ToolInput));
    let deep = quote_spanned! {place(target.name.span())=>
        const _: () = ::core::assert!(
            #derived::depth(SHAPE) <= #derived::DEPTH,
            "these arguments nest deeper than six levels: flatten them"
        );
    };
    quote! {
        const SHAPE: &#derived::Shape = #shape;
        #deep
        #[automatically_derived]
        #header {
            const SCHEMA: &'static str = #schema;
            const BODY: &'static str = #body;
            const ABOUT: &'static str = #about;
            const SHAPE: &'static #derived::Shape = SHAPE;
        }
    }
}
