//! `barewire ports`: the serial ports of this computer, and what answers behind them.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;

use barewire::json::Object;
use barewire_serial::host::{Failure as Missed, OpenError, Port};
use barewire_stdio::{ServerInfo, Settings};

use super::connect::CONFIG;
use crate::args::Ports;
use crate::failure::Failure;
use crate::paint::Paint;
use crate::text::{self, columns, printable};

/// What is known of a port.
struct Row {
    path: PathBuf,
    /// What a USB device says that it is.
    product: Option<String>,
    answer: Answer,
}

enum Answer {
    /// It was not asked.
    Unknown,
    Server {
        info: ServerInfo,
        /// How many tools it lists, or why it does not.
        tools: Result<usize, Missed>,
        checked: bool,
    },
    /// The port is open, but nothing speaks MCP there.
    Silent { heard: Option<String> },
    /// It can't be opened, or there is no session with what answers.
    No(OpenError),
}

/// Shows the ports on stdout.
pub(crate) fn run(ports: &Ports, paint: Paint) -> Result<(), Failure> {
    let paths = if ports.ports.is_empty() { Port::available() } else { ports.ports.clone() };
    let asked: Vec<_> = paths
        .into_iter()
        .map(|path| {
            let port = Port::new(&path)
                .baud(ports.baud)
                .patience(ports.timeout)
                .settings(Settings::new().timeout(ports.timeout));
            let no_ask = ports.no_ask;
            (path, thread::spawn(move || if no_ask { Answer::Unknown } else { ask(port) }))
        })
        .collect();
    let rows: Vec<Row> = asked
        .into_iter()
        .map(|(path, asking)| Row {
            product: product(Path::new("/sys/class/tty"), &path),
            answer: asking.join().unwrap_or(Answer::Unknown),
            path,
        })
        .collect();
    let out = if ports.json { in_json(&rows) } else { in_words(&rows, ports, paint).into_bytes() };
    let mut stdout = io::stdout().lock();
    stdout.write_all(&out).and_then(|()| stdout.flush()).map_err(Failure::stdout)
}

fn ask(port: Port) -> Answer {
    match port.connect(&CONFIG) {
        Ok(device) => {
            let tools = device.list_tools().map(|tools| tools.len());
            let answer =
                device.server().map(|info| Answer::Server { info, tools, checked: device.is_checked() });
            device.close();
            answer.unwrap_or(Answer::Silent { heard: None })
        }
        Err(OpenError::Silent { heard, .. }) => Answer::Silent { heard },
        Err(error) => Answer::No(error),
    }
}

/// What the USB device behind a port calls itself, as far as the system tells (`sysfs`, Linux).
fn product(sysfs: &Path, port: &Path) -> Option<String> {
    let device = fs::canonicalize(sysfs.join(port.file_name()?).join("device")).ok()?;
    // The port is an interface, or a part of one, of the device that has the name.
    let name =
        device.ancestors().take(4).find_map(|folder| fs::read_to_string(folder.join("product")).ok())?;
    let name = printable(name.trim());
    (!name.is_empty()).then_some(name)
}

fn in_json(rows: &[Row]) -> Vec<u8> {
    let mut line = text::object(|o| {
        o.array("ports", |a| {
            for row in rows {
                a.object(|o| row_in_json(o, row));
            }
        });
    });
    line.push(b'\n');
    line
}

fn row_in_json(o: &mut Object<'_>, row: &Row) {
    o.str("port", &row.path.to_string_lossy());
    if let Some(product) = &row.product {
        o.str("product", product);
    }
    match &row.answer {
        Answer::Unknown => {}
        Answer::Server { info, tools, checked } => {
            o.str("state", "answers");
            o.object("server", |s| {
                s.str("name", &info.name);
                s.str("version", &info.version);
                s.str("protocol", info.protocol.as_str());
            });
            if let Ok(tools) = tools {
                o.uint("tools", u64::try_from(*tools).unwrap_or(u64::MAX));
            }
            o.bool("checked", *checked);
        }
        Answer::Silent { heard } => {
            o.str("state", "silent");
            if let Some(heard) = heard {
                o.str("heard", heard);
            }
        }
        Answer::No(error) => {
            o.str("state", state(error));
            o.str("why", &error.to_string());
        }
    }
}

const fn state(error: &OpenError) -> &'static str {
    match error {
        OpenError::NoSuchPort { .. } => "missing",
        OpenError::Busy { .. } => "busy",
        OpenError::Permission { .. } => "denied",
        OpenError::Refused { .. } => "refused",
        _ => "failed",
    }
}

fn in_words(rows: &[Row], ports: &Ports, paint: Paint) -> String {
    if rows.is_empty() {
        return "no serial port was found; is the device plugged in?\n".into();
    }
    let name = |row: &Row| printable(&row.path.to_string_lossy());
    let width = rows.iter().map(|row| columns(&name(row))).max().unwrap_or(0);
    let mut out = String::new();
    for row in rows {
        let name = name(row);
        let gap = " ".repeat(width.saturating_sub(columns(&name)));
        let product = row.product.as_ref().map(|product| format!("{product}: ")).unwrap_or_default();
        let told = match &row.answer {
            Answer::Unknown if product.is_empty() => String::new(),
            Answer::Unknown => product.trim_end_matches(": ").into(),
            Answer::Server { info, tools, checked } => {
                let tools = match tools {
                    Ok(1) => "1 tool".into(),
                    Ok(tools) => format!("{tools} tools"),
                    Err(missed) => format!("tools/list failed: {}", printable(&missed.to_string())),
                };
                let server = format!("{} {}", printable(&info.name), printable(&info.version));
                let checked = if *checked { ", checked lines" } else { "" };
                let about = format!("{}, {tools}{checked}", info.protocol.as_str());
                format!("{product}{}, {about}", paint.bold(server.trim()))
            }
            Answer::Silent { heard: None } => paint.dim(&format!(
                "{product}no answer at {} baud within {} s",
                ports.baud,
                ports.timeout.as_secs_f32()
            )),
            Answer::Silent { heard: Some(heard) } => {
                format!("{product}no MCP at {} baud; it says {:?}", ports.baud, text::shortened(heard, 60))
            }
            Answer::No(OpenError::Io { error, .. }) => paint.dim(&format!("{product}can't be used: {error}")),
            Answer::No(error) => format!("{product}{}", printable(&error.to_string())),
        };
        out += format!("{}{gap}  {told}", paint.cyan(&name)).trim_end();
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_usb_port_has_the_name_of_its_device() {
        let root = std::env::temp_dir().join(format!("barewire-sysfs-{}", std::process::id()));
        let interface = root.join("devices/usb1/1-2/1-2:1.0");
        fs::create_dir_all(root.join("tty/ttyACM0")).unwrap();
        fs::create_dir_all(root.join("tty/ttyS0")).unwrap();
        fs::create_dir_all(&interface).unwrap();
        fs::write(root.join("devices/usb1/1-2/product"), "Weather\u{1b}Box\n").unwrap();
        std::os::unix::fs::symlink(&interface, root.join("tty/ttyACM0/device")).unwrap();
        let found = ["/dev/ttyACM0", "/dev/ttyS0", "/dev/gone"]
            .map(|port| product(&root.join("tty"), Path::new(port)));
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(found, [Some("Weather\\eBox".into()), None, None]);
    }
}
