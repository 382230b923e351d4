//! Opening a session with the real client, in every revision.

use crate::{
    TOOLS,
    bench::{Bench, Halt, Server},
};
use barewire::{ClientConfig, Era, Version};
use barewire_stdio::{Client, Settings};

pub(crate) static CLIENT: ClientConfig<'static> = ClientConfig::new("barewire-testkit", "0.1.0");

pub(crate) fn legacy(bench: &mut Bench<'_>) -> Result<String, Halt> {
    let versions: Vec<Version> = Version::ALL.into_iter().filter(|version| !version.is_modern()).collect();
    for version in &versions {
        session(bench, &CLIENT.era(Era::Legacy).protocol_version(*version), *version)?;
    }
    Ok(format!("{} revisions", versions.len()))
}

pub(crate) fn modern(bench: &mut Bench<'_>) -> Result<String, Halt> {
    session(bench, &CLIENT.era(Era::Modern), Version::V2026_07_28)?;
    Ok(String::new())
}

fn session(bench: &mut Bench<'_>, config: &ClientConfig<'_>, version: Version) -> Result<(), Halt> {
    let (tries, _) = bench.tries();
    let mut said = String::new();
    for _ in 0..tries {
        match once(bench, config, version) {
            Ok(()) => return Ok(()),
            Err(Halt::Failed(what)) => said = what,
            Err(halt) => return Err(halt),
        }
    }
    Err(Halt::Failed(said))
}

fn once(bench: &mut Bench<'_>, config: &ClientConfig<'_>, version: Version) -> Result<(), Halt> {
    let (_, patience) = bench.tries();
    let (client, _server) = client(bench, config, patience)?;
    if client.server().protocol != version {
        return Err(Halt::Failed(format!(
            "{version} was asked for, {} was agreed on",
            client.server().protocol
        )));
    }
    let tools = client.list_tools().map_err(|error| format!("{version}: tools/list failed: {error}"))?;
    if !tools.iter().map(|tool| &*tool.name).eq(TOOLS.iter().map(|tool| tool.name)) {
        return Err(Halt::Failed(format!("{version}: tools/list gave {} other tools", tools.len())));
    }
    let result = client
        .call("echo", r#"{"text":"grüß dich"}"#)
        .map_err(|error| format!("{version}: a call failed: {error}"))?;
    if result.text() != "grüß dich" {
        return Err(Halt::Failed(format!("{version}: a call gave {:?}", result.text())));
    }
    Ok(())
}

/// The real client over a new connection, and what must live as long.
pub(crate) fn client(
    bench: &mut Bench<'_>,
    config: &ClientConfig<'_>,
    patience: core::time::Duration,
) -> Result<(Client, Server), Halt> {
    let ((read, write), server) = bench.lines()?;
    let settings = Settings::new().start_timeout(patience).timeout(patience).max_timeout(patience);
    let client = Client::over_with(read, write, config, settings).map_err(|error| {
        let version = config.protocol_version.unwrap_or(Version::V2026_07_28);
        Halt::Failed(format!("{version}: the session did not open: {error}"))
    })?;
    Ok((client, server))
}
