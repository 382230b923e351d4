//! Schema text of which some is known only to the compiler: what other types say of themselves.
use crate::target::Target;
use proc_macro2::TokenStream;
use quote::quote;

/// Text in pieces.
#[derive(Clone, Default)]
pub(crate) struct Pieces(Vec<Piece>);

#[derive(Clone)]
enum Piece {
    Text(String),
    /// An expression that is a constant `&str`.
    Constant(TokenStream),
}

impl Pieces {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self(vec![Piece::Text(text.into())])
    }

    pub(crate) fn push(&mut self, text: &str) {
        if let Some(Piece::Text(last)) = self.0.last_mut() {
            last.push_str(text);
        } else if !text.is_empty() {
            self.0.push(Piece::Text(text.into()));
        }
    }

    pub(crate) fn constant(&mut self, expression: TokenStream) {
        self.0.push(Piece::Constant(expression));
    }

    pub(crate) fn append(&mut self, other: Self) {
        for piece in other.0 {
            match piece {
                Piece::Text(text) => self.push(&text),
                constant => self.0.push(constant),
            }
        }
    }

    /// Whether it is surely empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|piece| matches!(piece, Piece::Text(text) if text.is_empty()))
    }

    /// A constant expression of type `&'static str`.
    pub(crate) fn expression(&self, target: &Target<'_>) -> TokenStream {
        let derived = target.derived();
        match self.0.as_slice() {
            [] => quote!(""),
            [Piece::Text(text)] => quote!(#text),
            pieces => {
                let pieces = pieces.iter().map(|piece| match piece {
                    Piece::Text(text) => quote!(#text),
                    Piece::Constant(expression) => expression.clone(),
                });
                quote!({
                    const PIECES: &[&str] = &[#(#pieces),*];
                    const BYTES: &[u8] = &#derived::joined::<{ #derived::length(PIECES) }>(PIECES);
                    #derived::text(BYTES)
                })
            }
        }
    }
}
