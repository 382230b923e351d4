//! Runs every transcript on a core of the default features alone, under an allocator that counts.
#[path = "../../../../src/alloc.rs"]
mod alloc;
#[allow(dead_code, unused_imports, unreachable_pub)]
#[path = "../../../../src/transcript/mod.rs"]
mod transcript;

use transcript::{How, Matrix, REVISIONS, Script, run};

#[global_allocator]
static ALLOCATOR: alloc::Counting = alloc::Counting;

fn main() -> Result<(), String> {
    let before = alloc::count();
    drop(std::hint::black_box(Vec::<u8>::with_capacity(1)));
    assert_eq!(alloc::count(), before + 1, "the allocator counts");
    let folder = Script::folder();
    let matrix = Matrix::read(&folder)?;
    let mut runs = 0;
    for revision in REVISIONS {
        for name in matrix.runs(revision) {
            let script = Script::read(&folder, name, revision)?;
            for chunk in [usize::MAX, 64, 7, 1] {
                let said = run(&script, &How { chunk, write: chunk, ..How::WHOLE })?;
                if said.allocations != 0 {
                    return Err(format!("{name} ({revision}): {} allocations", said.allocations));
                }
                runs += 1;
            }
        }
    }
    println!("{runs} runs of {} transcripts without an allocation", matrix.rows.len());
    Ok(())
}
