//! No transcript makes the server allocate, however it is cut up.

use barewire_tests::alloc::{Counting, count};
use barewire_tests::transcript::{How, Matrix, REVISIONS, Script, run};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn no_transcript_allocates() {
    let before = count();
    drop(std::hint::black_box(Vec::<u8>::with_capacity(1)));
    assert_eq!(count(), before + 1, "the allocator counts");
    let folder = Script::folder();
    let matrix = Matrix::read(&folder).unwrap_or_else(|e| panic!("{e}"));
    let mut runs = 0;
    for revision in REVISIONS {
        for name in matrix.runs(revision) {
            let script = Script::read(&folder, name, revision).unwrap_or_else(|e| panic!("{e}"));
            for chunk in [usize::MAX, 7] {
                let how = How { chunk, write: chunk, ..How::WHOLE };
                let said = run(&script, &how).unwrap_or_else(|e| panic!("{name}: {e}"));
                assert_eq!(said.allocations, 0, "{name} ({revision}, {how:?})");
                runs += 1;
            }
        }
    }
    println!("{runs} runs without an allocation");
}
