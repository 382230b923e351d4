//! Runs the soak: `soak [SECONDS]`, 600 unless said otherwise; `SOAK_SEED` names the random numbers.

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    #[cfg(unix)]
    let done = barewire_tests::soak::main(&args);
    #[cfg(not(unix))]
    let done = Err::<(), _>(format!("it needs ptys, and so Unix: {args:?}"));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(what) => {
            eprintln!("FAILED: {what}");
            ExitCode::FAILURE
        }
    }
}
