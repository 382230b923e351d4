//! Listing tools, from a table or from the application, through a transmit buffer of any size.
use super::config::Conf;
use super::jobs::{Around, Job, Part, Say, To, What};
use super::line::Line;
use crate::json::Sink as _;
use crate::machine::tx::Out;
use crate::mcp::{Tool, Version, write};

/// A list being written from the application's own source.
#[derive(Debug)]
#[must_use = "an unanswered list becomes an error at the next call on the machine"]
pub struct List<'m> {
    pub(super) out: Out<'m>,
    pub(super) line: &'m mut Line,
    pub(super) config: Conf<'m>,
    pub(super) around: Around,
    pub(super) message: &'m [u8],
}

impl core::fmt::Debug for Out<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Out").field("room", &self.room()).finish_non_exhaustive()
    }
}

impl List<'_> {
    /// Gives tool `i`, `None` past the end. Asked for from where the last piece stopped; a tool may be asked for twice, and must be
    /// the same then.
    pub fn tools<'t>(mut self, mut item: impl FnMut(usize) -> Option<Tool<'t>>) {
        self.line.lent_list = false;
        let say = Say { config: self.config, line: self.message, around: self.around };
        write_list(&mut self.out, self.line, &say, &mut item);
    }
}

/// Writes as much of the list that is `line.job` as fits. Leaves `What::Done` when all is out.
#[inline(never)]
pub(super) fn write_list<'t>(
    out: &mut Out<'_>,
    line: &mut Line,
    say: &Say<'_>,
    item: &mut dyn FnMut(usize) -> Option<Tool<'t>>,
) {
    let Some(Job { to, what: What::Tools { version, mut part, item: mut index, until } }) = line.job else {
        return;
    };
    let id = if let To::Message(id) = to { Some(id.of(say.line)) } else { None };
    let first = until.wrapping_sub(say.config.rest().page.map_or(until, usize::from));
    loop {
        let begun = out.begin(line.at);
        if part == Part::Items {
            let more = say_item(out, version, (index, index == first, index >= until), line.at == 0, item);
            // The end of a page, or of the list.
            part = more.map_or(part, |more| Part::Tail { more });
        }
        say.list(out, (id, version), part, index);
        let (done, written) = out.end_piece(begun);
        if !done {
            line.at = line.at.wrapping_add(written);
            break;
        }
        line.at = 0;
        match part {
            Part::Head => part = Part::Items,
            Part::Items => index = index.wrapping_add(1),
            Part::Tail { .. } => {
                line.job = Some(Job { to, what: What::Done });
                line.answered();
                out.commit();
                return;
            }
        }
    }
    line.job = Some(Job { to, what: What::Tools { version, part, item: index, until } });
    out.commit();
}

/// Says tool `index`; if the list or the page ends there (`past`) and nothing of the tool is said yet (`fresh`), says nothing but whether
/// there is another page. A function of its own, since the tool would lie on the stack below heads and tails too.
#[inline(never)]
fn say_item<'t>(
    out: &mut Out<'_>,
    version: Version,
    (index, first, past): (usize, bool, bool),
    fresh: bool,
    item: &mut dyn FnMut(usize) -> Option<Tool<'t>>,
) -> Option<bool> {
    let tool = item(index);
    if fresh && (past || tool.is_none()) {
        return Some(tool.is_some());
    }
    if let Some(tool) = &tool {
        let _ = (first || out.put(b",")) && write::tool(out, tool, version);
    }
    None
}
