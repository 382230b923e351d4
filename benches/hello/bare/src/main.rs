//! A program of the standard library alone that waits for the end of its input, like a server that is asked nothing.

fn main() -> std::io::Result<()> {
    std::io::copy(&mut std::io::stdin(), &mut std::io::stdout()).map(drop)
}
