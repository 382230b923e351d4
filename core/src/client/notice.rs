//! Notifications. One that does not decode is told as a fault and dropped: it never ends anything.
use super::Listed;
use super::decode::place as place_of;
use super::lend::Step;
use super::machine::Client;
use super::message::wire_id;
use super::slot::own_mut;
use crate::json::{Kind, Raw};
use crate::machine::mem::Span;
use crate::mcp::Level;
use crate::rpc::{Envelope, Fault};

impl Client<'_> {
    #[inline(never)]
    pub(super) fn notice(&mut self, place: Span, envelope: &Envelope) -> Step {
        let bytes = self.rx.bytes();
        let method = envelope.content.shifted(place.start);
        let params = envelope.params.map(|p| p.shifted(place.start));
        let name = Raw::trusted(method.of(bytes));
        let json = params.map(|p| Raw::trusted(p.of(bytes)));
        let get = |key: &str| json.and_then(|p| p.get(key)).filter(|v| !v.is_null());
        let text = |key: &str| get(key).filter(|v| v.kind() == Kind::String).map(|v| place_of(bytes, v));
        let step = if name.is("notifications/progress") {
            let token = get("progressToken").and_then(wire_id);
            let (done, total) = (get("progress").and_then(Raw::as_f64), get("total").and_then(Raw::as_f64));
            match (get("progressToken"), done) {
                (Some(_), Some(done)) => {
                    let message = text("message");
                    token
                        .and_then(|(wire, _)| self.progress(wire, done, total, message))
                        .unwrap_or(Step::Again)
                }
                _ => Step::Fault(Fault::WrongShape, place),
            }
        } else if name.is("notifications/message") {
            // `data` may be null, but must be there.
            match (text("level"), json.and_then(|p| p.get("data"))) {
                (Some(level), Some(data)) => Step::Log {
                    level: Level::read(Raw::trusted(level.of(bytes))),
                    name: level,
                    logger: text("logger"),
                    data: place_of(bytes, data),
                },
                _ => Step::Fault(Fault::WrongShape, place),
            }
        } else if name.is("notifications/tools/list_changed") {
            Step::Changed(Listed::Tools)
        } else if name.is("notifications/prompts/list_changed") {
            Step::Changed(Listed::Prompts)
        } else if name.is("notifications/resources/list_changed") {
            Step::Changed(Listed::Resources)
        } else if name.is("notifications/resources/updated") {
            text("uri").map_or(Step::Fault(Fault::WrongShape, place), Step::Updated)
        } else if name.is("notifications/cancelled") {
            // What it asked is answered already.
            Step::Again
        } else {
            Step::Notified { method, params }
        };
        self.next_message();
        step
    }

    /// Of a request that is over, or that did not want it, it is no news: races are normal.
    fn progress(&mut self, wire: u32, done: f64, total: Option<f64>, message: Option<Span>) -> Option<Step> {
        let of = self.waiting(wire)?;
        let now = self.now;
        let own = self.slots.of(of).and_then(own_mut).filter(|own| own.progress)?;
        own.goes_on(now);
        Some(Step::Progress { of, done, total, message })
    }
}
