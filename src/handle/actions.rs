//! What a person does to a page.

use std::path::PathBuf;

use super::page::Page;
use crate::page::{Act, Error, FieldValue, Locator, Outcome};

/// Actions wait until their element can be acted on, and return when what they caused has ended. Their errors are those of
/// [`act`](Page::act).
impl Page {
    /// Clicks an element.
    ///
    /// # Errors
    /// Those of [`act`](Self::act).
    pub fn click(&self, element: impl Into<Locator>) -> Result<Outcome, Error> {
        self.act(Act::click(element))
    }

    /// Clicks an element twice.
    ///
    /// # Errors
    /// Those of [`act`](Self::act).
    pub fn double_click(&self, element: impl Into<Locator>) -> Result<Outcome, Error> {
        self.act(Act::click(element).double())
    }

    /// Moves the mouse over an element.
    ///
    /// # Errors
    /// Those of [`act`](Self::act).
    pub fn hover(&self, element: impl Into<Locator>) -> Result<Outcome, Error> {
        self.act(Act::hover(element))
    }

    /// Gives an element the focus.
    ///
    /// # Errors
    /// Those of [`act`](Self::act).
    pub fn focus(&self, element: impl Into<Locator>) -> Result<Outcome, Error> {
        self.act(Act::focus(element))
    }

    /// Fills in a form field: a text, a checkbox or switch (`true`), a number, options by value or label.
    ///
    /// # Errors
    /// Those of [`act`](Self::act).
    pub fn fill(&self, field: impl Into<Locator>, value: impl Into<FieldValue>) -> Result<Outcome, Error> {
        self.act(Act::fill(field, value))
    }

    /// Types a text into an element, in place of what is in it, with key events. Use it where a page follows the keys,
    /// otherwise [`fill`](Self::fill).
    ///
    /// # Errors
    /// Those of [`act`](Self::act).
    pub fn type_(&self, element: impl Into<Locator>, text: impl Into<String>) -> Result<Outcome, Error> {
        self.act(Act::type_text(element, text))
    }

    /// Presses a key or a chord in an element: `Enter`, `Control+a`. In the focused element: `act(Act::press("Enter"))`.
    ///
    /// # Errors
    /// Those of [`act`](Self::act).
    pub fn press(&self, element: impl Into<Locator>, key: impl Into<String>) -> Result<Outcome, Error> {
        self.act(Act::press(key).on(element))
    }

    /// Chooses options of a list by value or label.
    ///
    /// # Errors
    /// Those of [`act`](Self::act).
    pub fn select<V: Into<String>>(
        &self,
        element: impl Into<Locator>,
        options: impl IntoIterator<Item = V>,
    ) -> Result<Outcome, Error> {
        self.act(Act::select(element, options))
    }

    /// Checks a checkbox, radio button or switch.
    ///
    /// # Errors
    /// Those of [`act`](Self::act).
    pub fn check(&self, element: impl Into<Locator>) -> Result<Outcome, Error> {
        self.act(Act::check(element))
    }

    /// Unchecks a checkbox or switch.
    ///
    /// # Errors
    /// Those of [`act`](Self::act).
    pub fn uncheck(&self, element: impl Into<Locator>) -> Result<Outcome, Error> {
        self.act(Act::uncheck(element))
    }

    /// Gives files to a file input, or to the one that its label is for.
    ///
    /// # Errors
    /// [`Error::PathRefused`] for files that may not be uploaded, [`Error::NotActionable`] for what is no file input or
    /// takes one file only, and those of [`act`](Self::act).
    pub fn upload(&self, element: impl Into<Locator>, files: &[PathBuf]) -> Result<(), Error> {
        let Locator { reference, locator, .. } = element.into();
        self.within(|tab, deadline| {
            let reference = tab.ref_of(reference, locator, deadline)?;
            tab.arm_chooser(files, reference.as_deref(), deadline).map(drop)
        })
    }
}
