//! `#[derive(Tools)]`
use crate::attributes::ToolAttributes;
use crate::input::{Members, slot};
use crate::names::{Case, doc, unique};
use crate::pieces::Pieces;
use crate::target::{Target, at, forever, place};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Error, Fields, Ident, Result, Type, Variant};

pub(crate) fn derive(item: &DeriveInput) -> Result<TokenStream> {
    let all = ToolAttributes::parse_all(&item.attrs)?;
    let target = Target::new(item, all.core.clone())?;
    let Data::Enum(data) = &item.data else {
        return Err(Error::new_spanned(target.name, "`Tools` is for an enum with a variant for each tool"));
    };
    let case = all.rename_all.unwrap_or(Case::Snake);
    let mut tools = Vec::new();
    let mut errors: Option<Error> = None;
    for variant in &data.variants {
        match Entry::new(variant, case, &target) {
            Ok(tool) => tools.push(tool),
            Err(error) => match &mut errors {
                Some(all) => all.combine(error),
                None => errors = Some(error),
            },
        }
    }
    if let Some(errors) = errors {
        return Err(errors);
    }
    if tools.is_empty() {
        return Err(Error::new_spanned(target.name, "there is no tool: add a variant"));
    }
    unique(tools.iter().map(|tool| (tool.name.as_str(), tool.span)), "tools")?;
    Ok(implement(&tools, &target))
}

/// A variant.
struct Entry<'i> {
    variant: &'i Ident,
    name: String,
    span: Span,
    /// An expression of type `Tool<'static>`.
    tool: TokenStream,
    /// An expression of type `Entry`.
    entry: TokenStream,
    /// How many slots it takes, and what it makes of them.
    slots: usize,
    construct: TokenStream,
    /// Statements that must hold while compiling.
    asserts: TokenStream,
}

impl<'i> Entry<'i> {
    fn new(variant: &'i Variant, case: Case, target: &Target<'_>) -> Result<Self> {
        let attributes = ToolAttributes::parse(&variant.attrs)?;
        let (core, derived) = (target.core(), target.derived());
        let (name, span) = match &attributes.name {
            Some(name) => (name.value(), name.span()),
            None => (case.variant(&variant.ident.to_string()), variant.ident.span()),
        };
        if name.is_empty()
            || name.len() > 128
            || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b))
        {
            return Err(Error::new(span, "a tool's name has 1 to 128 of A-Z a-z 0-9 _ - ."));
        }
        let description =
            attributes.description.as_ref().map_or_else(|| doc(&variant.attrs), syn::LitStr::value);
        if description.trim().is_empty() {
            let span = attributes.description.as_ref().map_or_else(|| variant.ident.span(), Spanned::span);
            return Err(Error::new(
                span,
                "a tool needs a description, which is all that a model learns of it: write a doc comment",
            ));
        }
        let mut asserts = TokenStream::new();
        let (schema, entry, slots, construct) = match &variant.fields {
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                let ty = &fields.unnamed[0].ty;
                let value = slot(0);
                if let Some(schema) = &attributes.schema {
                    let construct = quote_spanned! {place(ty.span())=>
                        (#core::FromArgs::from_args(#derived::own(#value))?)
                    };
                    (schema.to_token_stream(), quote!(Own), 1, construct)
                } else {
                    let forever = forever(ty.to_token_stream());
                    asserts.extend(object(ty, target, "a tool's arguments"));
                    let take = at(place(ty.span()), quote!(#derived::take));
                    let mut schema = Pieces::text("{");
                    schema.constant(quote_spanned!(place(ty.span())=> <#forever as #core::ToolInput>::BODY));
                    schema.push("}");
                    let shape = quote_spanned!(place(ty.span())=> <#forever as #core::ToolInput>::SHAPE);
                    (schema.expression(target), quote!(Whole(#shape)), 1, quote!((#take(#value))))
                }
            }
            Fields::Unnamed(fields) => {
                return Err(Error::new_spanned(
                    fields,
                    "arguments have names: use named fields, or one struct that derives `ToolInput`",
                ));
            }
            fields => {
                if let Some(schema) = &attributes.schema {
                    return Err(Error::new(
                        schema.span(),
                        "a hand-written schema goes with one struct that implements `FromArgs`: `Search(Query)`",
                    ));
                }
                let members = Members::new(fields, attributes.rename_all, attributes.open, target)?;
                let mut schema = Pieces::text("{");
                schema.append(members.body.clone());
                schema.push("}");
                let shape = &members.shape;
                let construct = match fields {
                    Fields::Unit => TokenStream::new(),
                    _ => members.construct(target),
                };
                (schema.expression(target), quote!(Members(#shape)), members.len(), construct)
            }
        };
        let mut tool = quote!(#core::Tool::new(#name, #description, #schema));
        if let Some(output) = &attributes.output {
            asserts.extend(object(output, target, "structured content"));
            let output = forever(output.to_token_stream());
            tool.extend(
                quote_spanned!(place(output.span())=> .output_schema(<#output as #core::ToolInput>::SCHEMA)),
            );
        }
        for (builder, text) in &attributes.texts {
            let builder = format_ident!("{builder}");
            tool.extend(quote!(.#builder(#text)));
        }
        for (builder, yes) in &attributes.flags {
            match (format_ident!("{builder}"), *builder, yes.value) {
                (builder, "read_only", true) => tool.extend(quote!(.#builder())),
                (_, "read_only", false) => {}
                (builder, ..) => tool.extend(quote!(.#builder(#yes))),
            }
        }
        // What was written by hand; the rest is right by its making.
        let hand = attributes.schema.as_ref().or_else(|| attributes.texts.first().map(|(_, text)| text));
        if let Some(hand) = hand {
            let check = at(place(hand.span()), quote!(#core::check_tools));
            asserts.extend(quote_spanned!(place(hand.span())=> #check(&[#tool]);));
        }
        let entry = quote!(#derived::Entry::#entry);
        Ok(Self { variant: &variant.ident, name, span, tool, entry, slots, construct, asserts })
    }
}

fn implement(tools: &[Entry<'_>], target: &Target<'_>) -> TokenStream {
    let (core, derived, message, ty) = (target.core(), target.derived(), target.message(), target.ty());
    let most = tools.iter().map(|tool| tool.slots).max().unwrap_or(0);
    let slots = (0..most).map(slot);
    let table = tools.iter().map(|tool| &tool.tool);
    let entries = tools.iter().map(|tool| &tool.entry);
    let asserts = tools.iter().map(|tool| &tool.asserts);
    let arms = tools.iter().enumerate().map(|(i, Entry { variant, construct, .. })| {
        let pattern = if i + 1 == tools.len() { quote!(_) } else { quote!(#i) };
        quote!(#pattern => Self::#variant #construct,)
    });
    quote! {
        #[allow(unused_qualifications)]
        const _: () = {
            const TABLE: &[#core::Tool<'static>] = {
                #(#asserts)*
                &[#(#table),*]
            };
            const ENTRIES: &[#derived::Entry] = &[#(#entries),*];
            const _: &[#core::Tool<'static>] = TABLE;
            #[automatically_derived]
            impl<#message> #core::Tools<#message> for #ty {
                const TOOLS: &'static [#core::Tool<'static>] = TABLE;

                fn read(
                    name: &str,
                    args: #core::Args<#message>,
                ) -> ::core::result::Result<Self, #core::BadCall> {
                    let mut slots = #derived::slots::<#most>();
                    let tool = #derived::begin(name, args, TABLE, ENTRIES, &mut slots)?;
                    #[allow(unused_variables)]
                    let [#(#slots),*] = slots;
                    ::core::result::Result::Ok(match tool { #(#arms)* })
                }
            }
        };
    }
}

/// Holds that a type is an object's.
fn object(ty: &Type, target: &Target<'_>, what: &str) -> TokenStream {
    let (core, derived) = (target.core(), target.derived());
    let forever = forever(ty.to_token_stream());
    let why = format!("{what} must be an object: a struct with named fields");
    quote_spanned! {place(ty.span())=>
        ::core::assert!(#derived::is_object(<#forever as #core::ToolInput>::SHAPE), #why);
    }
}
