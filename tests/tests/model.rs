//! Every interleaving of bounded scripts, held against a naive model.

use barewire::Era;
use barewire_tests::model::server::{self, Ask, Cuts, MODERN, Script};
use barewire_tests::model::{Broken, Count, client};

const LEGACY: &str = "2025-06-18";
const ALL: usize = usize::MAX;

fn server_scripts() -> Vec<Script> {
    let mut all = vec![
        Script::new("deferred, cancelled, end", MODERN)
            .room(1, 512, 256)
            .cuts(Cuts::Both)
            .ask(Ask::Later, "1")
            .cancel("1")
            .ask(Ask::Now, "2")
            .ends(),
        Script::new("the same, 64 bytes out", MODERN)
            .room(1, 512, 64)
            .tight()
            .drains(&[7, ALL])
            .cuts(Cuts::Middle)
            .ask(Ask::Later, "1")
            .cancel("1")
            .ask(Ask::Now, "2")
            .ends(),
        Script::new("duplicate ids", LEGACY)
            .room(2, 256, 128)
            .drains(&[11, ALL])
            .ask(Ask::Later, "1")
            .ask(Ask::Later, "1")
            .ask(Ask::Ping, "1")
            .cancel("1")
            .ask(Ask::Now, "1")
            .ends(),
        Script::new("streams", LEGACY)
            .room(2, 256, 64)
            .tight()
            .drains(&[13, ALL])
            .ask(Ask::Slow, "1")
            .ask(Ask::Later, "2")
            .cancel("1")
            .cancel("2")
            .ask(Ask::Ping, "3")
            .ends(),
        Script::new("between polls", LEGACY)
            .room(2, 256, 128)
            .between()
            .ask(Ask::Later, "1")
            .ask(Ask::Mute, "2")
            .cancel("1")
            .ask(Ask::Unknown, "3")
            .ends()
            .resets(),
        Script::new("reset", MODERN)
            .room(2, 512, 256)
            .cuts(Cuts::Middle)
            .ask(Ask::Later, "1")
            .ask(Ask::Slow, "2")
            .ask(Ask::Later, "3")
            .cancel("3")
            .ask(Ask::Discover, "4")
            .resets()
            .ends(),
        Script::new("progress", LEGACY)
            .room(1, 256, 128)
            .drains(&[50, ALL])
            .ask(Ask::Progress, "1")
            .ask(Ask::LaterStream, "2")
            .cancel("1")
            .cancel("2")
            .changes()
            .ends(),
        Script::new("list", LEGACY)
            .room(1, 256, 128)
            .drains(&[100, ALL])
            .ask(Ask::Later, "1")
            .ask(Ask::List, "3")
            .changes()
            .resets()
            .ends(),
        Script::new("noise", LEGACY)
            .room(1, 256, 128)
            .answers_noise()
            .cuts(Cuts::Middle)
            .ask(Ask::Long, "1")
            .ask(Ask::Junk, "0")
            .ask(Ask::Forgotten, "2")
            .ask(Ask::Fail, "3")
            .ends(),
        Script::new("three slots", LEGACY)
            .room(3, 256, 128)
            .ask(Ask::Later, "1")
            .ask(Ask::Later, "2")
            .ask(Ask::Later, "3")
            .ask(Ask::Later, "4")
            .cancel("2")
            .cancel("4")
            .ask(Ask::Open, "\"again\"")
            .ends(),
        Script::new("busy", LEGACY)
            .room(1, 256, 128)
            .busy()
            .ask(Ask::Later, "1")
            .ask(Ask::Later, "2")
            .cancel("2")
            .ask(Ask::Now, "3")
            .ends(),
        Script::new("batch", "2025-03-26")
            .room(2, 512, 128)
            .drains(&[19, ALL])
            .batch(&[
                (Ask::Later, "1"),
                (Ask::Ping, "2"),
                (Ask::Stream, "3"),
                (Ask::Later, "4"),
                (Ask::Later, "5"),
            ])
            .cancel("1")
            .batch(&[(Ask::Mute, "6"), (Ask::Unknown, "7")])
            .changes()
            .ends(),
    ];
    if is_deep() {
        all.extend(deep_server_scripts());
    }
    all
}

fn deep_server_scripts() -> Vec<Script> {
    vec![
        Script::new("deep: eras mixed, two sizes of writes", LEGACY)
            .room(2, 512, 64)
            .tight()
            .drains(&[23, ALL])
            .cuts(Cuts::Both)
            .ask(Ask::Later, "1")
            .ask(Ask::Progress, "2")
            .cancel("2")
            .ask(Ask::LaterStream, "3")
            .cancel("1")
            .ask(Ask::Unknown, "3")
            .changes()
            .ends(),
        // No stream here: an application that resumes one where there is no room, again and again, goes round by itself.
        Script::new("deep: three slots, between polls", LEGACY)
            .room(3, 256, 128)
            .between()
            .ask(Ask::Later, "1")
            .ask(Ask::Later, "2")
            .ask(Ask::Forgotten, "3")
            .cancel("1")
            .ask(Ask::Mute, "1")
            .ends()
            .resets()
            .changes(),
        Script::new("deep: byte by byte", LEGACY)
            .room(1, 256, 64)
            .tight()
            .drains(&[1, ALL])
            .ask(Ask::Later, "1")
            .cancel("1")
            .ask(Ask::Ping, "2")
            .ends(),
    ]
}

/// Explores all scripts, and prints what that covered.
fn all<S>(scripts: Vec<S>, name: fn(&S) -> &'static str, check: fn(&S) -> Result<Count, Broken>) {
    let mut sum = Count::default();
    for script in &scripts {
        match check(script) {
            Ok(count) => {
                println!("  {}: {count}", name(script));
                sum = sum.and(count);
            }
            Err(broken) => panic!("{}: {broken}", name(script)),
        }
    }
    println!("  all {} scripts: {sum}", scripts.len());
}

/// A deeper bound than the one of every day.
fn is_deep() -> bool {
    std::env::var_os("MODEL_DEEP").is_some()
}

#[test]
fn servers() {
    println!("servers:");
    all(server_scripts(), |s| s.name, server::check);
}

#[test]
fn clients() {
    println!("clients:");
    all(client_scripts(), |s| s.name, client::check);
}

fn client_scripts() -> Vec<client::Script> {
    use client::{Answer, Kind, Script};
    vec![
        Script::new("two in flight", Era::Legacy, LEGACY)
            .room(2, 256, 256)
            .cuts()
            .ask(Kind::Call, Answer::Good)
            .cancels()
            .again()
            .ask(Kind::Call, Answer::Error)
            .cancels()
            .ends(),
        Script::new("64 bytes out", Era::Legacy, LEGACY)
            .room(1, 256, 160)
            .drains(&[31, ALL])
            .ask(Kind::Call, Answer::Good)
            .cancels()
            .ask(Kind::Other, Answer::Invalid)
            .extra(r#"{"jsonrpc":"2.0","id":"ping","method":"ping"}"#)
            .ends(),
        Script::new("pages", Era::Legacy, LEGACY)
            .room(2, 256, 256)
            .ask(Kind::List, Answer::Pages(1))
            .cancels()
            .ask(Kind::Call, Answer::Long)
            .ends()
            .resets(),
        Script::new("clocks", Era::Legacy, LEGACY)
            .room(2, 256, 256)
            .ticks(3)
            .ask(Kind::Call, Answer::Good)
            .limit(50)
            .again()
            .ask(Kind::Call, Answer::Never)
            .limit(80)
            .cancels(),
        Script::new("auto, legacy server", Era::Auto, LEGACY)
            .room(1, 512, 512)
            .ticks(2)
            .ask(Kind::Call, Answer::Good)
            .ends()
            .resets(),
        Script::new("modern", Era::Auto, MODERN)
            .room(2, 512, 512)
            .cuts()
            .ticks(1)
            .ask(Kind::Call, Answer::Good)
            .cancels()
            .limit(50)
            .ask(Kind::Other, Answer::Error)
            .ends()
            .resets(),
        Script::new("between polls", Era::Legacy, LEGACY)
            .room(2, 256, 256)
            .between()
            .ask(Kind::Call, Answer::Good)
            .cancels()
            .ask(Kind::Call, Answer::Error)
            .ends()
            .resets(),
    ]
}

/// Machines that make a mistake are found, each by the property that it breaks.
#[test]
fn wrong_servers_are_found() {
    use barewire_tests::model::Property as P;
    use server::Mistake as M;
    let script = Script::new("wrong", LEGACY)
        .room(1, 256, 256)
        .drains(&[40, ALL])
        .ask(Ask::Later, "1")
        .cancel("1")
        .ask(Ask::Later, "2")
        .ends();
    let plain = Script::new("plain", LEGACY).room(1, 256, 256).ask(Ask::Later, "1").ask(Ask::Later, "2");
    for mistake in M::ALL {
        let expected = match mistake {
            M::None => None,
            M::Twice => Some(P::Once),
            M::Loses | M::HidesCancel => Some(P::Answered),
            M::AnswersCancelled => Some(P::Cancelled),
            M::CancelsTwice => Some(P::Once),
            M::SaysAfterClosed | M::TellsAfterClosed => Some(P::Closed),
            M::CallsTwice => Some(P::Told),
            M::Busy | M::Deadlock => Some(P::Progress),
            M::LyingUntil => Some(P::Until),
            M::KeepsSlot => Some(P::Slots),
            M::CutsLine | M::Garbles => Some(P::Lines),
            M::Rewrites => Some(P::Shown),
            M::Refuses | M::Forgets => Some(P::Refused),
        };
        // A cancellation, or the end of the time, would show another side of these first.
        let is_plain = matches!(mistake, M::KeepsSlot | M::Refuses | M::Forgets);
        let script = if is_plain { &plain } else { &script };
        let found = server::check_wrong(script, mistake).err();
        println!(
            "{mistake:?}: {}",
            found.as_ref().map_or("nothing".into(), |b| format!("{:?}: {}", b.property, b.what))
        );
        assert_eq!(found.map(|b| b.property), expected, "{mistake:?}");
    }
}

/// The same for clients.
#[test]
fn wrong_clients_are_found() {
    use barewire_tests::model::Property as P;
    use client::{Answer, Kind, Mistake as M};
    let script = client::Script::new("wrong", Era::Legacy, LEGACY)
        .room(2, 256, 256)
        .ticks(1)
        .ask(Kind::Call, Answer::Good)
        .cancels()
        .limit(50)
        .ask(Kind::Call, Answer::Good)
        .ends();
    for mistake in M::ALL {
        let expected = match mistake {
            M::None => None,
            M::EndsTwice => Some(P::Once),
            M::HidesEnd => Some(P::Answered),
            M::Mixes | M::Hurries => Some(P::Told),
            M::EndsGivenUp | M::KeepsCancel => Some(P::Cancelled),
            M::TellsAfterClosed => Some(P::Closed),
            M::HidesUntil | M::LyingUntil => Some(P::Until),
            M::Busy => Some(P::Progress),
            M::Refuses => Some(P::Refused),
        };
        let found = client::check_wrong(&script, mistake).err();
        println!(
            "{mistake:?}: {}",
            found.as_ref().map_or("nothing".into(), |b| format!("{:?}: {}", b.property, b.what))
        );
        assert_eq!(found.map(|b| b.property), expected, "{mistake:?}");
    }
}

/// The exploration itself runs with checked arithmetic, in the core (`core/tests/checks.rs`) and here.
#[test]
#[should_panic(expected = "attempt to add with overflow")]
fn arithmetic_is_checked() {
    let _ = std::hint::black_box(std::hint::black_box(u8::MAX) + 1);
}
