//! Cleanup after a panic, and panics on purpose in tests.

use std::fmt;

/// Runs its action when a panic drops it, and does nothing otherwise. See [`on_panic`].
#[must_use = "dropped at once it does nothing"]
pub struct OnPanic<F: FnOnce()> {
    action: Option<F>,
}

/// Runs `action` when the current scope is left by a panic.
///
/// A thread that others wait for creates one before it starts to work, and publishes its end in `action`. Locks held
/// inside the scope are released by then. A second panic in `action` ends the process.
///
/// ```
/// let (send, receive) = crossbeam_channel::bounded(1);
/// let thread = cdpilot::sync::spawn("example", move || {
///     let _guard = cdpilot::sync::on_panic(|| send.send("ended").unwrap());
///     panic!("a bug");
/// })?;
/// assert_eq!(receive.recv(), Ok("ended"));
/// # drop(thread);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn on_panic<F: FnOnce()>(action: F) -> OnPanic<F> {
    OnPanic { action: Some(action) }
}

impl<F: FnOnce()> Drop for OnPanic<F> {
    fn drop(&mut self) {
        if std::thread::panicking()
            && let Some(action) = self.action.take()
        {
            action();
        }
    }
}

impl<F: FnOnce()> fmt::Debug for OnPanic<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnPanic").finish_non_exhaustive()
    }
}

/// Panics when a test requests it: when the folder `CDPILOT_TEST_FAULTS` contains a file with the name of `place`,
/// which is removed first. Does nothing in builds without debug assertions.
#[cfg(debug_assertions)]
pub fn fault_point(name: fmt::Arguments<'_>) {
    use std::path::PathBuf;
    use std::sync::OnceLock;
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let Some(folder) = FOLDER.get_or_init(|| std::env::var_os("CDPILOT_TEST_FAULTS").map(PathBuf::from)) else {
        return;
    };
    let name = name.to_string();
    if std::fs::remove_file(folder.join(&name)).is_ok() {
        // Only in debug builds, where a test requests it.
        #[allow(clippy::panic)]
        std::panic::panic_any(format!("a test requested a panic at {name}"));
    }
}

#[cfg(not(debug_assertions))]
#[inline(always)]
pub fn fault_point(_place: fmt::Arguments<'_>) {}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn the_action_runs_after_a_panic_only() {
        let ran = Cell::new(0);
        let count = || ran.set(ran.get() + 1);
        drop(on_panic(count));
        assert_eq!(ran.get(), 0);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _guard = on_panic(count);
            panic!("on purpose");
        }));
        assert!(panicked.is_err());
        assert_eq!(ran.get(), 1);
    }
}
