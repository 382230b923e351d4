//! The page about custom transports says what the examples do, and names every check.

use barewire_testkit::checks;

const PAGE: &str = include_str!("../../../docs/custom-transport.md");

#[test]
fn its_code_is_that_of_the_examples() {
    let source = concat!(include_str!("../examples/bytes.rs"), include_str!("../examples/packets.rs"));
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let (transports, _) = PAGE.split_once("## 5.").unwrap();
    let blocks: Vec<&str> =
        transports.split("```rust\n").skip(1).map(|b| b.split("```").next().unwrap()).collect();
    assert_eq!(blocks.len(), 4);
    for line in blocks.iter().flat_map(|block| block.lines()).map(str::trim).filter(|line| !line.is_empty()) {
        let with_longer_claims = line.contains("Suite::new(");
        assert!(with_longer_claims || lines.contains(&line), "not in the examples: {line}");
    }
}

#[test]
fn it_names_every_check() {
    let (_, table) = PAGE.split_once("## 5.").unwrap();
    let (table, _) = table.split_once("## 6.").unwrap();
    let named: Vec<&str> = table
        .lines()
        .filter_map(|line| line.strip_prefix("| `"))
        .flat_map(|line| line.split(" | ").next().unwrap_or_default().split(", "))
        .map(|name| name.trim_matches('`'))
        .collect();
    let there: Vec<&str> = checks().iter().map(|check| check.name).collect();
    assert_eq!(named, there);
}
