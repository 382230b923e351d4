//! What happens on a panic: there is none, or the firmware does not link.
use core::panic::PanicInfo;

unsafe extern "C" {
    /// Exists nowhere. A firmware of your own has `panic-halt` or `panic-reset` in this place.
    fn a_panic_can_be_reached() -> !;
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    unsafe { a_panic_can_be_reached() }
}
