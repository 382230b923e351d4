//! What happens on a panic: there is none, or the firmware does not link (but for the feature `halt`).
use core::panic::PanicInfo;

#[cfg(not(feature = "halt"))]
unsafe extern "C" {
    /// Exists nowhere. A firmware of your own has `panic-halt` or `panic-reset` in this place.
    fn a_panic_can_be_reached() -> !;
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    #[cfg(not(feature = "halt"))]
    unsafe {
        a_panic_can_be_reached()
    }
    #[cfg(feature = "halt")]
    loop {}
}
