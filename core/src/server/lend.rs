//! Lending: events that borrow from both buffers at once.
use super::config::Conf;
use super::event::{Call, Context, ServerEvent};
use super::line::Line;
use super::list::List;
use super::slot::Open;
use super::state::Server;
use super::{Args, Reply, Source};
use crate::json::{Raw, SMALL, decode, text};
use crate::machine::mem::Span;
use crate::machine::slots::{Slots, State};
use crate::machine::tx::Tx;
use crate::machine::{CallId, Output};

impl Server<'_> {
    /// Lends the reply of the call in a slot, where it left off.
    pub(super) fn lend(&mut self, index: u16) -> Option<Reply<'_>> {
        lend(&mut self.slots, &mut self.tx, &mut self.line, self.config.get(), index)
    }

    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn lend_call(&mut self, index: u16) -> Output<'_, ServerEvent<'_>> {
        let base = self.base();
        self.next_message();
        let call = &self.asked;
        let config = self.config.get();
        let reply = lend(&mut self.slots, &mut self.tx, &mut self.line, config, index);
        let Some(reply) = reply else { return Output::Wait { until: None } };
        // Name, arguments and `_meta` are disjoint parts of the message; only the arguments are decoded in place.
        let bytes = self.rx.bytes_mut().get_mut(base..).unwrap_or_default();
        let known = match config.rest().tools {
            Source::Table(table) if !SMALL => {
                call.tool.and_then(|index| table.get(usize::from(index))).map(|tool| tool.name)
            }
            _ => None,
        };
        let mut name = call.name;
        if known.is_none()
            && let [_, body @ .., _] = call.name.of_mut(bytes)
        {
            let from = call.name.start.wrapping_add(1);
            name = Span::new(from, from.wrapping_add(decode(body).len()));
        }
        let args = call.arguments;
        let (before, rest) = bytes.split_at_mut_checked(args.start).unwrap_or((&mut [], &mut []));
        let (args_bytes, after) = rest.split_at_mut_checked(args.len()).unwrap_or((&mut [], &mut []));
        let (before, after) = (&*before, &*after);
        let part = |span: Span| {
            if span.end() <= args.start {
                span.of(before)
            } else {
                Span::new(span.start.wrapping_sub(args.end()), span.end().wrapping_sub(args.end())).of(after)
            }
        };
        let name = known.unwrap_or_else(|| text(part(name)));
        let context = Context {
            version: call.ready.version,
            can: call.ready.can,
            log: call.ready.log,
            wants_progress: !reply.slot.token.get().is_empty(),
            meta: Some(call.meta).filter(|meta| meta.len() > 0).map(|meta| Raw::trusted(part(meta))),
        };
        Output::Event(ServerEvent::Call(Call { name, args: Args::new(args_bytes), reply, context }))
    }

    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn lend_list(&mut self) -> Output<'_, ServerEvent<'_>> {
        let base = self.base();
        self.line.lent_list = true;
        let message = self.rx.bytes().get(base..).unwrap_or(&[]);
        let around = self.line.around();
        let out = self.tx.lend_piece();
        Output::Event(ServerEvent::List(List {
            out,
            line: &mut self.line,
            config: self.config.get(),
            around,
            message,
        }))
    }

    pub(super) fn notified(&mut self, method: Span, params: Option<Span>) -> Output<'_, ServerEvent<'_>> {
        let mut end = 0;
        if let [_, body @ .., _] = method.of_mut(self.rx.bytes_mut()) {
            end = decode(body).len();
        }
        let bytes = self.rx.bytes();
        let body = method.of(bytes).get(1..end.wrapping_add(1)).unwrap_or(&[]);
        let params = params.map(|p| Raw::trusted(p.of(bytes))).filter(|p| !p.is_null());
        Output::Event(ServerEvent::Notified { method: text(body), params })
    }
}

fn lend<'m>(
    slots: &'m mut Slots<'_>,
    tx: &'m mut Tx<'_>,
    line: &'m mut Line,
    config: Conf<'m>,
    index: u16,
) -> Option<Reply<'m>> {
    let slot = slots.at(index)?;
    let id = CallId { slot: index, serial: slot.serial };
    let slot = Open::of(slot)?;
    let streaming = *slot.state == State::Streaming;
    if !streaming {
        *slot.state = State::Lent;
    }
    line.lent = Some(index);
    let cap = if streaming { usize::MAX } else { config.rest().reply.unwrap_or(usize::MAX) };
    let out = tx.lend(cap);
    Some(Reply { out, slot, line, config, id, content_at: 0, lost: false, pieces: false })
}
