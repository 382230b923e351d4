//! The link layer, both ends in one process, in simulated time.
#![allow(clippy::unwrap_used)]
mod common;
use barewire_serial::{Checked, Link, LinkStorage, Role};
use common::sim::{Rng, Sim};
use proptest::prelude::*;

/// Messages as a machine would write them: of all lengths, each another one.
fn messages(name: &str, n: usize, seed: u64, most: u64) -> Vec<String> {
    let mut rng = Rng::new(seed);
    (0..n)
        .map(|i| {
            let len = match rng.below(10) {
                0 => 0,
                1..7 => rng.below(most / 8 + 1),
                _ => rng.below(most + 1),
            };
            let text: String = (0..len).map(|_| char::from(b' ' + rng.below(95) as u8)).collect();
            format!("{{\"{name}\":{i},\"text\":\"{text}\"}}")
        })
        .collect()
}

fn say_all(say: &mut std::collections::VecDeque<u8>, messages: &[String]) {
    for message in messages {
        say.extend(message.as_bytes());
        say.push_back(b'\n');
    }
}

/// Everything is delivered once and in order, both ways; returns the sent and resent frames and the time.
fn exactly_once(
    (seed, one_in): (u64, u64),
    (n, most): (usize, u64),
    buffers: &mut [Vec<u8>; 4],
) -> (u32, u32, u64) {
    let [a, b, c, d] = buffers;
    let client = Link::over(Role::Client, Checked::Always, a, b).seed(seed as u32);
    let server = Link::over(Role::Server, Checked::Offer, c, d);
    let mut sim = Sim::new(client, server, 115_200).faults(seed, one_in);
    sim.latency = seed % 12;
    let (asks, answers) = (messages("ask", n, seed, most), messages("answer", n, seed + 1, most));
    say_all(&mut sim.client.say, &asks);
    sim.run(60_000, |sim| sim.client.link.is_checked()).expect("opens");
    sim.client.told.clear();
    sim.server.told.clear();
    say_all(&mut sim.server.say, &answers);
    let bytes = |m: &[String]| m.iter().map(|m| m.len() + 1).sum::<usize>();
    let (to_server, to_client) = (bytes(&asks), bytes(&answers));
    let time = sim.run(4_000_000, |sim| {
        sim.server.told.len() >= to_server
            && sim.client.told.len() >= to_client
            && sim.client.link.is_settled()
            && sim.server.link.is_settled()
    });
    assert_eq!(sim.server.lines(), asks);
    assert_eq!(sim.client.lines(), answers);
    let time = time.expect("settles");
    let (s, t) = (sim.server.link.stats(), sim.client.link.stats());
    (s.frames + t.frames, s.resent + t.resent, time)
}

fn buffers(rx: usize, tx: usize) -> [Vec<u8>; 4] {
    [vec![0; rx], vec![0; tx], vec![0; rx], vec![0; tx]]
}

#[test]
fn delivers_everything_on_a_good_line() {
    let (_, resent, _) = exactly_once((1, 0), (200, 2000), &mut buffers(256, 1024));
    assert_eq!(resent, 0);
}

#[test]
fn delivers_everything_once_and_in_order_at_one_fault_in_1000() {
    for seed in 1..=20 {
        let (sent, resent, time) = exactly_once((seed, 1000), (100, 1000), &mut buffers(256, 1024));
        assert!(resent > 0);
        println!("seed {seed}: {sent} frames, {resent} again, {time} ms");
    }
}

#[test]
fn delivers_everything_once_and_in_order_at_one_fault_in_100() {
    for seed in 1..=20 {
        let (sent, resent, time) = exactly_once((seed, 100), (40, 600), &mut buffers(256, 1024));
        println!("seed {seed}: {sent} frames, {resent} again, {time} ms");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// Any buffers that are large enough, any faults.
    #[test]
    fn delivers_everything_whatever_the_buffers(
        seed in 1u64..1_000_000,
        one_in in prop_oneof![Just(0u64), 60u64..5000],
        sizes in prop::array::uniform4(96usize..600),
        n in 1usize..25,
    ) {
        exactly_once((seed, one_in), (n, 300), &mut sizes.map(|size| vec![0; size]));
    }
}

const INITIALIZE: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}\n";

fn pair<'b>(storage: &'b mut [LinkStorage<256, 512>; 2], client: Checked, server: Checked) -> Sim<'b> {
    let [a, b] = storage;
    let client = Link::new(Role::Client, client, a).seed(7);
    let mut sim = Sim::new(client, Link::new(Role::Server, server, b), 115_200);
    // The server's hello passes.
    for _ in 0..5 {
        sim.step();
    }
    sim.client.restarted = 0;
    sim
}

fn storage() -> [LinkStorage<256, 512>; 2] {
    [LinkStorage::new(), LinkStorage::new()]
}

/// Opens a plain session, then a checked one.
fn upgrade(sim: &mut Sim<'_>) {
    sim.client.say(INITIALIZE);
    sim.run(1000, |sim| sim.server.lines().len() == 1).unwrap();
    sim.server.say("{\"id\":1,\"result\":{}}\n");
    sim.run(1000, |sim| sim.client.lines().len() == 1).unwrap();
    sim.client.link.open();
    sim.run(1000, |sim| sim.client.link.is_checked() && sim.server.link.is_checked()).unwrap();
    assert_eq!((sim.client.checked, sim.server.checked), (1, 1));
}

#[test]
fn switches_in_the_middle_of_a_session() {
    let mut storage = storage();
    let mut sim = pair(&mut storage, Checked::Offer, Checked::Offer);
    sim.client.say(INITIALIZE);
    sim.run(1000, |sim| sim.server.lines().len() == 1).unwrap();
    // The server is in the middle of a plain message when it is asked, and more of them wait.
    let (first, second) =
        (format!("{{\"a\":\"{}\"}}", "x".repeat(300)), format!("{{\"b\":\"{}\"}}", "y".repeat(300)));
    sim.server.say(&format!("{first}\n{second}\n"));
    sim.run(1000, |sim| sim.client.told.len() > 30).unwrap();
    sim.client.link.open();
    sim.client.say("{\"c\":1}\n");
    sim.run(1000, |sim| sim.server.lines().len() == 2 && sim.client.lines().len() == 2).unwrap();
    assert_eq!(sim.client.lines(), [first, second]);
    assert_eq!(sim.server.lines()[1], "{\"c\":1}");
    assert!(sim.client.link.is_checked() && sim.server.link.is_checked());
    assert_eq!(sim.server.new_clients, 0);
}

#[test]
fn stays_plain_with_an_end_that_never_checks() {
    let mut storage = storage();
    let mut sim = pair(&mut storage, Checked::Never, Checked::Offer);
    sim.client.link.open();
    sim.client.say("{\"c\":1}\n{\"c\":2}\n");
    sim.server.say("{\"s\":1}\n{\"s\":2}\n");
    sim.run(1000, |sim| sim.server.lines().len() == 2 && sim.client.lines().len() >= 3).unwrap();
    let lines = sim.client.lines();
    assert!(lines[0].starts_with("~h"), "the hello is noise to it: {lines:?}");
    assert_eq!(lines[1..], ["{\"s\":1}", "{\"s\":2}"]);
}

#[test]
fn a_client_finishes_its_plain_message_before_it_switches() {
    let mut storage = storage();
    let mut sim = pair(&mut storage, Checked::Offer, Checked::Offer);
    let long = format!("{{\"c\":\"{}\"}}", "z".repeat(300));
    sim.client.say(&format!("{long}\n{{\"d\":1}}\n"));
    sim.run(1000, |sim| sim.server.told.len() > 30).unwrap();
    sim.client.link.open();
    sim.run(1000, |sim| sim.server.lines().len() == 2).unwrap();
    assert_eq!(sim.server.lines(), [long, "{\"d\":1}".into()]);
    assert!(sim.client.link.is_checked());
}

#[test]
fn goes_back_to_plain_if_nobody_answers() {
    let mut storage = storage();
    let mut sim = pair(&mut storage, Checked::Offer, Checked::Never);
    sim.client.link.open();
    sim.client.say("{\"c\":1}\n");
    sim.run(20_000, |sim| sim.server.lines().iter().any(|l| l == "{\"c\":1}")).unwrap();
    assert!(sim.client.link.is_plain());
}

#[test]
fn a_server_that_restarts_is_noticed_by_its_hello() {
    let (mut storage, mut again) = (storage(), LinkStorage::<256, 512>::new());
    let mut sim = pair(&mut storage, Checked::Offer, Checked::Offer);
    upgrade(&mut sim);
    sim.client.say("{\"id\":2}\n{\"id\":3}\n{\"id\":4}\n");
    for _ in 0..3 {
        sim.step();
    }
    sim.server = common::sim::End::new(Link::new(Role::Server, Checked::Offer, &mut again));
    let time = sim.run(1000, |sim| sim.client.restarted > 0).unwrap();
    println!("{time} ms");
    assert!(time < 20, "{time} ms");
    assert!(sim.client.link.is_plain());
}

#[test]
fn a_server_that_restarts_is_noticed_without_its_hello() {
    let (mut storage, mut again) = (storage(), LinkStorage::<256, 512>::new());
    let mut sim = pair(&mut storage, Checked::Offer, Checked::Offer);
    upgrade(&mut sim);
    sim.server = common::sim::End::new(Link::new(Role::Server, Checked::Offer, &mut again).quiet());
    sim.lose_all();
    // The client has nothing to say, and waits.
    let time = sim.run(1000, |sim| sim.client.restarted > 0).unwrap();
    assert!(time < 500, "{time} ms");
}

#[test]
fn a_server_that_restarts_is_found_again_on_a_line_that_is_always_checked() {
    let (mut storage, mut again) = (storage(), LinkStorage::<256, 512>::new());
    let mut sim = pair(&mut storage, Checked::Always, Checked::Offer);
    sim.client.say("{\"id\":1}\n");
    sim.run(1000, |sim| sim.server.lines().len() == 1).unwrap();
    sim.server = common::sim::End::new(Link::new(Role::Server, Checked::Offer, &mut again));
    sim.run(1000, |sim| sim.client.restarted > 0).unwrap();
    sim.client.say("{\"id\":2}\n");
    sim.run(3000, |sim| sim.server.lines().len() == 1).unwrap();
    assert_eq!(sim.server.lines(), ["{\"id\":2}"]);
    assert!(sim.server.link.is_checked());
}

#[test]
fn a_client_that_restarts_is_served_anew() {
    let (mut storage, mut again) = (storage(), LinkStorage::<256, 512>::new());
    let mut sim = pair(&mut storage, Checked::Offer, Checked::Offer);
    upgrade(&mut sim);
    sim.server.say(&format!("{{\"old\":\"{}\"}}\n", "x".repeat(2000)));
    sim.client.say("{\"id\":2,");
    for _ in 0..20 {
        sim.step();
    }
    // In the middle of frames both ways.
    sim.client = common::sim::End::new(Link::new(Role::Client, Checked::Offer, &mut again).seed(8));
    sim.client.say(INITIALIZE);
    sim.run(1000, |sim| sim.server.new_clients == 1).unwrap();
    sim.server.say.clear(); // as a machine does that is reset
    sim.run(1000, |sim| sim.server.lines().iter().any(|l| l.contains("initialize"))).unwrap();
    assert!(sim.server.link.is_plain());
    sim.server.say("{\"id\":1,\"result\":{}}\n");
    sim.run(1000, |sim| sim.client.lines().iter().any(|l| l == "{\"id\":1,\"result\":{}}")).unwrap();
}

#[test]
fn a_client_that_restarts_in_checked_mode_is_served_anew() {
    let (mut storage, mut again) = (storage(), LinkStorage::<256, 512>::new());
    let mut sim = pair(&mut storage, Checked::Always, Checked::Offer);
    sim.client.say("{\"id\":1}\n{\"id\":2}\n");
    sim.run(1000, |sim| sim.server.lines().len() == 2).unwrap();
    assert_eq!(sim.server.new_clients, 1, "a client that starts in this mode has no session");
    sim.client = common::sim::End::new(Link::new(Role::Client, Checked::Always, &mut again).seed(9));
    sim.client.say("{\"id\":3}\n");
    sim.run(2000, |sim| sim.server.lines().len() == 3).unwrap();
    assert_eq!(sim.server.new_clients, 2);
}

#[test]
fn an_echoing_line_confuses_nobody() {
    for checked in [Checked::Never, Checked::Offer, Checked::Always] {
        let mut storage = storage();
        let mut sim = pair(&mut storage, checked, Checked::Offer);
        sim.echo = true;
        sim.client.say("{\"id\":1,\"method\":\"initialize\"}\n{\"id\":1,\"result\":{}}\n");
        sim.run(2000, |sim| sim.server.lines().len() >= 2).unwrap();
        sim.server.say("{\"id\":1,\"answer\":{}}\n");
        sim.run(1000, |sim| sim.client.lines().iter().any(|l| l.contains("answer"))).unwrap();
        let messages: Vec<_> = sim.client.lines().into_iter().filter(|l| l.starts_with('{')).collect();
        assert_eq!(messages, ["{\"id\":1,\"answer\":{}}"], "{checked:?}");
    }
}

#[test]
fn boot_text_without_a_line_feed_does_not_hide_what_follows() {
    let mut storage = storage();
    let mut sim = pair(&mut storage, Checked::Offer, Checked::Never);
    sim.client.read(b"ets Jun 8 2016 rst:0x1 (POWERON)\r\nboot: v1.2 [ok] ");
    sim.client.read(b"{\"id\":1,\"result\":{}}\r\nI (31) sent {\"id\":2}\n{\"id\":3}\n");
    let lines = sim.client.lines();
    assert_eq!(
        lines[1..],
        ["boot: v1.2 [ok] ", "{\"id\":1,\"result\":{}}\r", "I (31) sent {\"id\":2}", "{\"id\":3}"]
    );

    let mut storage = self::storage();
    let mut sim = pair(&mut storage, Checked::Always, Checked::Offer);
    sim.client.read(b"boot: v1.2 [ok] ");
    sim.client.say("{\"id\":1}\n");
    sim.run(1000, |sim| sim.server.lines().len() == 1).unwrap();
    assert!(sim.client.link.is_checked());
}

#[test]
fn batches_are_no_boot_text() {
    let mut storage = storage();
    let mut sim = pair(&mut storage, Checked::Offer, Checked::Never);
    sim.client.read(b"[{\"id\":1},{\"id\":2}]\n[ {\"id\":3}]\n[1.2] boot\n");
    assert_eq!(sim.client.lines(), ["[{\"id\":1},{\"id\":2}]", "[ {\"id\":3}]", "[1.2] boot"]);
}

#[test]
fn carriage_returns_of_a_tty_do_no_harm() {
    let mut storage = storage();
    let mut sim = pair(&mut storage, Checked::Offer, Checked::Offer);
    upgrade(&mut sim);
    sim.server.say("{\"id\":2}\n");
    sim.server.pump();
    let out = sim.server.write(1000);
    let translated: Vec<u8> =
        out.iter().flat_map(|b| if *b == b'\n' { vec![b'\r', b'\n'] } else { vec![*b] }).collect();
    sim.client.read(&translated);
    assert_eq!(sim.client.lines().last().unwrap(), "{\"id\":2}");
}

#[test]
fn a_machine_that_takes_nothing_stops_the_peer_but_not_its_acknowledgements() {
    let mut storage = storage();
    let mut sim = pair(&mut storage, Checked::Always, Checked::Offer);
    sim.server.stuck = true;
    let asks = messages("ask", 30, 3, 300);
    let answers = messages("answer", 30, 4, 300);
    say_all(&mut sim.client.say, &asks);
    sim.run(1000, |sim| sim.client.link.is_checked()).unwrap();
    say_all(&mut sim.server.say, &answers);
    sim.run(60_000, |sim| sim.client.lines().len() == 30).expect("the other way goes on");
    assert_eq!(sim.client.lines(), answers);
    assert!(sim.server.lines().is_empty());
    sim.server.stuck = false;
    sim.server.pump();
    let time = sim.run(60_000, |sim| sim.server.lines().len() == 30).unwrap();
    assert_eq!(sim.server.lines(), asks);
    println!("{time} ms");
}

#[test]
fn a_line_that_is_cut_for_a_while_loses_nothing() {
    let mut storage = storage();
    let mut sim = pair(&mut storage, Checked::Always, Checked::Offer);
    let asks = messages("ask", 50, 5, 500);
    say_all(&mut sim.client.say, &asks);
    for _ in 0..300 {
        sim.step();
    }
    for _ in 0..5000 {
        sim.step();
        sim.lose_all();
    }
    sim.run(60_000, |sim| sim.server.lines().len() == 50).unwrap();
    assert_eq!(sim.server.lines(), asks);
}

#[test]
fn noise_is_never_answered() {
    let mut storage = storage();
    let mut sim = pair(&mut storage, Checked::Never, Checked::Offer);
    sim.step();
    let mut rng = Rng::new(11);
    sim.server.write(10_000);
    for _ in 0..20_000 {
        let byte = [rng.below(256) as u8];
        sim.server.read(&byte);
    }
    sim.server.read(b"\n~A00000000000000\n~~~~\n~S0000000001a000oooooo\n");
    assert_eq!(sim.server.write(10_000), b"");
}
