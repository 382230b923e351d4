//! Calls that do not end by themselves.

use super::handshake::{CLIENT, client};
use crate::bench::{Bench, Halt};
use barewire::Era;
use barewire_stdio::{CallError, Options};
use core::time::Duration;

pub(crate) fn cancellation(bench: &mut Bench<'_>) -> Result<String, Halt> {
    let mut session = bench.open()?;
    let peer = &mut session.peer;
    for n in 0..8 {
        let name = format!("job {n}");
        let job = peer.call("hang", &name);
        let runs = peer.call("await", &format!("{name} runs"));
        peer.answer(runs).map_err(|what| format!("a call was made, and whether it runs: {what}"))?;
        peer.cancel(job);
        let cancelled = peer.call("await", &format!("{name} cancelled"));
        peer.answer(cancelled).map_err(|what| {
            format!("a running call was cancelled and the server did not hear of it: {what}")
        })?;
    }
    peer.echo("still here").map_err(|what| format!("after 8 cancelled calls: {what}"))?;
    Ok("8 calls".to_owned())
}

pub(crate) fn deadlines(bench: &mut Bench<'_>) -> Result<String, Halt> {
    const DEADLINE: Duration = Duration::from_millis(250);
    let (tries, patience) = bench.tries();
    let mut said = Halt::Failed(String::new());
    for _ in 0..tries {
        let (client, _server) = match client(bench, &CLIENT.era(Era::Legacy), patience) {
            Ok(open) => open,
            Err(halt) => {
                said = halt;
                continue;
            }
        };
        let call =
            client.call_with("hang", r#"{"text":"past the deadline"}"#, Options::new().timeout(DEADLINE));
        match call {
            Err(CallError::TimedOut { .. }) => {}
            Err(error) => {
                said = Halt::Failed(format!(
                    "a call that is never answered ended otherwise than by its deadline: {error}"
                ));
                continue;
            }
            Ok(_) => return Err(Halt::Failed("a call that is never answered was answered".to_owned())),
        }
        let after = (0..tries.min(5)).find_map(|_| client.call("echo", r#"{"text":"on time"}"#).ok());
        match after {
            Some(result) if result.text() == "on time" => return Ok(format!("{DEADLINE:?} of silence")),
            Some(result) => {
                return Err(Halt::Failed(format!(
                    "after a deadline a call was answered with {:?}",
                    result.text()
                )));
            }
            None => {
                said = Halt::Failed("after a call had passed its deadline, no other was answered".to_owned());
            }
        }
    }
    Err(said)
}
