//! A device that uses the tools of a host.
use barewire::{BadArgs, Fields, FromArgs, ServerConfig, Tool};
use barewire_stdio::{Fail, Serve, ToolResult};
use firmware_host::{Board, Image};
use std::net::Shutdown;
use std::sync::{Mutex, mpsc};

static TOOLS: &[Tool<'static>] = &[
    Tool::new("get_setpoint", "The temperature that is wanted.", r#"{"type":"object"}"#).read_only(),
    Tool::new("report", "What was measured and done.", r#"{"type":"object"}"#),
];
static CONFIG: ServerConfig<'static> = ServerConfig::new("house", "1.0.0").tools(TOOLS);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Report {
    /// Tenths of a degree.
    measured: i64,
    heating: bool,
}

impl<'m> FromArgs<'m> for Report {
    fn from_args(mut fields: Fields<'m>) -> Result<Self, BadArgs> {
        let mut report = Self { measured: 0, heating: false };
        while let Some((key, value)) = fields.next() {
            match key {
                "degrees" => report.measured += 10 * value.i64("degrees")?,
                "tenths" => report.measured += value.i64("tenths")?,
                "heating" => report.heating = value.bool("heating")?,
                _ => {}
            }
        }
        Ok(report)
    }
}

/// Serves the device until it has reported so often; gives the reports.
fn serve(board: &Board, reports: usize) -> Vec<Report> {
    let line = board.socket();
    line.set_read_timeout(None).unwrap();
    let (seen, told) = mpsc::channel();
    let seen = Mutex::new(seen);
    let server = std::thread::spawn({
        let (read, write) = (line.try_clone().unwrap(), line.try_clone().unwrap());
        move || {
            Serve::new(&CONFIG).run_over(read, write, |call| match call.name() {
                "get_setpoint" => Ok(ToolResult::text("20.5")),
                _ => {
                    let report = call.decode::<Report>().map_err(Fail::from)?;
                    let _ = seen.lock().unwrap().send(report);
                    Ok(ToolResult::text("noted"))
                }
            })
        }
    });
    let reports = told.iter().take(reports).collect();
    line.shutdown(Shutdown::Read).unwrap();
    let _ = server.join();
    reports
}

#[test]
fn asks_and_reports() {
    let board = Board::silent(Image::Client);
    let report = |measured, heating| Report { measured, heating };
    let expected =
        [report(195, true), report(200, true), report(205, false), report(200, true), report(205, false)];
    assert_eq!(serve(&board, 5), expected);
}
