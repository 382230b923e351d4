//! Getting the machine's own messages out, and settling what was lent.
use super::Source;
use super::jobs::{Data, Job, Part, Say, To, What};
use super::list::write_list;
use super::slot::Open;
use super::state::Server;
use crate::json::Sink as _;
use crate::machine::slots::State;
use crate::mcp::Refusal;
use crate::rpc::Code;

impl Server<'_> {
    /// Writes as much of the machine's own message as fits; true if none is left.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn run_job(&mut self) -> bool {
        let Some(job) = &self.line.job else { return true };
        let config = self.config.get();
        let line = self.rx.bytes().get(self.base()..).unwrap_or(&[]);
        let say = Say { config, line, around: self.line.around() };
        let done = match &job.what {
            What::Tools { part, .. } => {
                let table = match config.rest().tools {
                    Source::Table(table) => Some(table),
                    _ => None,
                };
                // Only the application knows a dynamic source's tools; the tail is the machine's own.
                if table.is_some() || matches!(part, Part::Tail { .. }) {
                    let mut out = self.tx.lend_piece();
                    write_list(&mut out, &mut self.line, &say, &mut |i| table?.get(i).copied());
                }
                matches!(self.line.job, Some(Job { what: What::Done, .. }))
            }
            What::Done => true,
            what => {
                let slot = job.to.slot().and_then(|slot| self.slots.at(slot));
                let id = match job.to {
                    To::Nobody if self.session.omits_id() => None,
                    To::Nobody => Some(&b"null"[..]),
                    To::Message(id) => Some(id.of(line)),
                    To::Slot(_) => slot.as_ref().map(|slot| slot.id.get()),
                };
                let mut out = self.tx.lend_piece();
                let begun = out.begin(self.line.at);
                say.job(&mut out, what, id, slot.as_deref());
                let (done, written) = out.end_piece(begun);
                out.commit();
                self.line.at = self.line.at.wrapping_add(written);
                if done {
                    self.line.answered();
                }
                done
            }
        };
        if done {
            self.ended();
        }
        done
    }

    /// The job is out: what it was about is over.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn ended(&mut self) {
        let Some(job) = self.line.job.take() else { return };
        self.line.at = 0;
        match job.to.slot() {
            Some(slot) => {
                if self.line.streaming == Some(slot) {
                    self.line.streaming = None;
                }
                // Of a doomed one the application is still to be told.
                if let Some(slot) = self.slots.at(slot).filter(|slot| slot.state != State::Doomed) {
                    slot.free();
                }
            }
            None if matches!(job.what, What::Changed) => {}
            None => self.next_message(),
        }
    }

    /// The time is over: a result that is half on the wire ends as an error, so that what follows it is whole.
    pub(super) fn cut_stream(&mut self) {
        let Some(index) = self.line.streaming.take() else { return };
        let Some(open) = self.slots.at(index).and_then(Open::of) else { return };
        open.own.is_error = true;
        let at = open.own.head_written();
        self.line.more = false;
        self.line.start(To::Slot(index), What::Tail);
        self.line.at = at;
    }

    pub(super) fn is_dynamic(&self) -> bool {
        matches!(self.config.get().rest().tools, Source::Dynamic)
    }

    /// Whatever is still lent ends here.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn settle(&mut self) {
        if core::mem::take(&mut self.line.lent_list) {
            self.settle_list();
        }
        let Some(slot) = self.line.lent.take() else { return };
        self.tx.roll_back();
        let streaming = self.line.streaming == Some(slot);
        if streaming {
            self.fail_stream(slot);
        } else {
            self.line.start(To::Slot(slot), What::Error { why: Refusal::NoAnswer, data: Data::None });
        }
        self.run_job();
    }

    // A function of its own: the reply's room would be in the frame of whatever else settles.
    #[inline(never)]
    fn fail_stream(&mut self, slot: u16) {
        if let Some(reply) = self.lend(slot) {
            reply.fail(Code::INTERNAL, "");
        }
    }

    /// The application did not answer `List`: an error, or the end of what is half written.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn settle_list(&mut self) {
        let Some(Job { to, what: What::Tools { version, part, item, until } }) = self.line.job else {
            return;
        };
        if part == Part::Items && self.line.at == 0 {
            let what = What::Tools { version, part: Part::Tail { more: false }, item, until };
            self.line.job = Some(Job { to, what });
            return;
        }
        if part != Part::Head || self.line.at > 0 {
            // A tool that was given before is half on the wire: nothing but a line feed can end that.
            let mut out = self.tx.lend_piece();
            if !out.put(b"\n") {
                let end = out.end();
                out.roll_back(end);
            }
            out.commit();
        }
        self.line.start(to, What::Error { why: Refusal::NoList, data: Data::None });
    }
}
