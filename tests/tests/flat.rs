//! Ten thousand tools through a window of 4 KB: all memory is lent, so none can grow.

use barewire::{
    Client, ClientConfig, ClientEvent, End, Era, Millis, Output, Server, ServerConfig, ServerEvent, Storage,
    Tool,
};

const TOOLS: usize = 10_000;
const SCHEMA: &str = r#"{"type":"object","properties":{"state":{"type":"string","description":"Two letters."}},"required":["state"]}"#;
static SERVER: ServerConfig<'static> = ServerConfig::new("many", "1").dynamic_tools().page(20).reply(512);
static CLIENT: ClientConfig<'static> = ClientConfig::new("few", "1");

#[test]
fn a_client_lists_ten_thousand_tools_through_4_kb() {
    let names: Vec<String> = (0..TOOLS).map(|n| format!("tool_{n}")).collect();
    for era in [Era::Legacy, Era::Modern] {
        let (mut up, mut down) = (Storage::<512, 512, 1>::new(), Storage::<4096, 512, 1>::new());
        let config = CLIENT.era(era);
        let (mut server, mut client) =
            (Server::new(&SERVER, up.buffers()), Client::new(&config, down.buffers()));
        let (mut listed, mut opened, mut asked) = (0, false, false);
        let ended = loop {
            match client.poll(Millis(0)) {
                Output::Event(ClientEvent::Tool { tool, .. }) => {
                    assert!(tool.is(&names[listed]), "{:?}", tool.json());
                    assert_eq!(tool.json().get("inputSchema").map(|schema| schema.as_str()), Some(SCHEMA));
                    listed += 1;
                }
                Output::Event(ClientEvent::Ended { end, .. }) => break matches!(end, End::Done { .. }),
                Output::Event(ClientEvent::Opened { .. }) => opened = true,
                // Whose the list is.
                Output::Event(ClientEvent::Meta { .. }) => {}
                Output::Send(bytes) => {
                    let n = serve(&mut server, &names, bytes);
                    client.sent(n);
                }
                Output::Wait { .. } if opened && !asked => {
                    client.list_tools(None).unwrap().send().unwrap();
                    asked = true;
                }
                Output::Wait { .. } => {
                    serve(&mut server, &names, b"");
                    let n = client.feed(server.output());
                    assert!(n > 0, "{era:?}: nothing moves after {listed} tools");
                    server.sent(n);
                }
                other => panic!("{other:?}"),
            }
        };
        assert!(ended && listed == TOOLS, "{era:?}: {listed} tools");
        assert!(client.stats().receive > 2048, "the pages were too small to mean anything");
    }
}

/// Feeds what it takes; lists, and says nothing else, until it must send or wait.
fn serve(server: &mut Server<'_>, names: &[String], bytes: &[u8]) -> usize {
    let n = server.feed(bytes);
    while let Output::Event(event) = server.poll(Millis(0)) {
        if let ServerEvent::List(list) = event {
            list.tools(|index| Some(Tool::new(names.get(index)?, "One of many.", SCHEMA)));
        }
    }
    n
}
