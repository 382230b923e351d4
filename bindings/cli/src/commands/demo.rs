//! `barewire demo`: a whole session with the sample weather server, over real pipes, every packet explained.

use std::io::{self, Write};

use barewire_stdio::Options;

use super::connect::{Connect, Session, call_failure};
use super::record::Show;
use crate::capture::{Event, Stream};
use crate::failure::Failure;
use crate::far::Far;
use crate::packets::view::{Look, View};

/// What to try afterwards; `{own}` is this program, as it was started.
const NEXT: &str = "   Where is the model? Nowhere: MCP ends here. A host puts the tools into its model's prompt, and calls what it picks.
   Next:
     {own} list -- YOUR SERVER
     {own} call get_alerts state=TX -- {own} serve weather
     {own} tap --log io.jsonl -- YOUR SERVER
     {own} explain io.jsonl
";

/// Runs the demo on stdout.
pub(crate) fn run(mut connect: Connect, look: Look, json: bool) -> Result<i32, Failure> {
    let own =
        std::env::current_exe().map_err(|error| Failure::io("can't find this program's own file", &error))?;
    connect.far = Far::Command(vec![own.into_os_string(), "serve".into(), "weather".into()]);
    let out: Box<dyn Write + Send> = Box::new(io::stdout());
    let show = if json { Show::Json(out) } else { Show::Words(View::new(look), out) };
    let shown = ["barewire", "serve", "weather"].map(String::from).to_vec();
    let session = connect.start(look.table, show, shown)?;
    let talked = talk(&session).map(|()| 0);
    session.record.event(Event::Eof(Stream::C2s));
    let code = session.conclude(talked, json)?;
    if !json && code == 0 {
        let own = std::env::args().next().unwrap_or_else(|| "barewire".into());
        io::stdout().write_all(NEXT.replace("{own}", &own).as_bytes()).map_err(Failure::stdout)?;
    }
    Ok(code)
}

fn talk(session: &Session) -> Result<(), Failure> {
    session.peer.list_tools().map_err(|error| call_failure(error, "tools/list"))?;
    session
        .peer
        .call("get_alerts", r#"{"state":"TX"}"#, Options::new())
        .map_err(|error| call_failure(error, "tools/call get_alerts"))?;
    Ok(())
}
