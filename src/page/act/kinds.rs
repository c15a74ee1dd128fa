//! The actions, each described once: the enum, the table for entry points and the dispatch are made of this text.
//!
//! An entry has the `kind` and the fields of requests, the arguments of its command (`cli`) and of its tool (`tool`), and
//! the call that performs it. [`actions!`](super::spec) explains the notation.

use serde::{Deserialize, Serialize};

use super::super::{Error, Tab};
use super::Performed;
use super::pointer::Click;
use super::request::{Act, Button, Direction, Field, Locator, Modifier, MouseEvent, Point, WaitFor};
use super::spec::{ActionSpec, Described as _, command, is_among, sentence, tool};
use super::typing::Typing;
use crate::sync::Deadline;

actions! {
    perform(tab, act, deadline);

    /// Clicks an element.
    Click "click" {
        /// The element to click.
        at: Locator => flatten; cli positional(""); tool needs("Ref from a snapshot: e12"),
        /// Double-click. Default false.
        double: bool = default; cli option("Double-click"),
        /// The mouse button. Default `left`.
        button: Button = default; cli option("Mouse button [default: left]"),
        /// Modifier keys to hold.
        modifiers: Vec<Modifier> = default;
            cli option("Comma-separated keys to hold: Alt, Control, ControlOrMeta, Meta, Shift").value("KEYS"),
    }
        ; cli command("click", "Click an element")
        ; tool tool("browser_click", "Click an element. Reports what changed.")
        => tab.focused().click(act, at, Click::new(*button, *double, modifiers), deadline);

    /// Moves the mouse over an element.
    Hover "hover" {
        /// The element to hover.
        at: Locator => flatten; cli positional(""); tool needs(""),
    }
        ; cli command("hover", "Move the mouse over an element")
        ; tool tool("browser_hover", "Move the mouse over an element.")
        => tab.focused().click(act, at, Click::HOVER, deadline);

    /// Moves the focus to an element, without clicking it. Fails if the element cannot take the focus.
    Focus "focus" {
        /// The element to focus.
        at: Locator => flatten,
    }
        ; ignores input
        => tab.focused().focus_on(at, act.force, deadline);

    /// Scrolls an element into view.
    ScrollIntoView "scrollIntoView" {
        /// The element to show.
        at: Locator => flatten; cli positional(""),
    }
        ; ignores input
        ; cli command("scroll-into-view", "Scroll an element into view").alias("scrollintoview")
        => tab.focused().scroll_into_view(at, act.force, deadline);

    /// Clicks a point of the viewport.
    ClickCoords "clickCoords" {
        /// Distance from the left, in CSS pixels.
        x: f64; cli positional("Distance from the left edge of the viewport, CSS pixels"),
        /// Distance from the top, in CSS pixels.
        y: f64; cli positional("Distance from the top edge of the viewport, CSS pixels"),
        /// Double-click. Default false.
        double: bool = default; cli option("Double-click"),
        /// The mouse button. Default `left`.
        button: Button = default; cli option("Mouse button [default: left]"),
        /// Modifier keys to hold.
        modifiers: Vec<Modifier> = default;
            cli option("Comma-separated keys to hold: Alt, Control, ControlOrMeta, Meta, Shift").value("KEYS"),
    }
        ; ignores force
        ; cli command("click-coords", "Click at a position in the viewport")
        => tab.focused().click_point(act, Point { x: *x, y: *y }, Click::new(*button, *double, modifiers), deadline);

    /// Sends single mouse events.
    Mouse "mouse" {
        /// The events, in order.
        events: Vec<MouseEvent>,
    }
        ; ignores force
        => tab.focused().mouse_events(act, events, deadline);

    /// Types text into an element, or into the focused one.
    Type "type" {
        /// The field. Default: the focused element.
        at: Locator => flatten; tool needs(""),
        /// The text to type.
        text: String; tool needs("Replaces the field's content"),
        /// Press Enter afterwards. Default false.
        submit: bool = default; tool takes("Press Enter afterwards"),
        /// Wait 75 ms between characters. Default false.
        slowly: bool = default,
        /// Append instead of replacing. Default false.
        append: bool = default,
    }
        ; tool tool("browser_type", "Replace the text of a field.")
        => {
            let how = Typing { submit: *submit, slowly: *slowly, append: *append, ..Typing::of(act) };
            tab.focused().type_text(act, at, text, how, deadline)
        };

    /// Inserts text into the focused element, without key events.
    InsertText "insertText" {
        /// The text to insert.
        text: String; cli positional("Text to insert"),
    }
        ; ignores force input
        ; cli command("insert-text", "Insert text into the focused field without key events")
        => tab.focused().insert(text, deadline);

    /// Presses a key or a chord: `Enter`, `Control+a`, `Shift+ArrowDown`.
    Press "press" {
        /// The element to focus first. Default: the focused element.
        at: Locator => flatten; cli option("[default: the focused element]"),
        /// The key or chord.
        key: String; cli positional("Key or key combination: Enter, Control+a, Shift+ArrowDown");
            tool needs("Enter, Tab, Control+a, …"),
        /// How many times to press it, 1 to 1,000. Default 1.
        repeat: Option<u32> = default; cli option("Press N times [default: 1]").value("N"),
    }
        ; cli command("press", "Press a key or a key combination").alias("key")
        ; tool tool("browser_press", "Press a key in the focused element.")
        => tab.focused().press(act, at, key, repeat.unwrap_or(1), deadline);

    /// Drags from one place to another.
    Drag "drag" {
        /// The start, as a ref.
        start_ref as "startRef": Option<String> = default [regex(pattern = "^@?e?[0-9]{1,9}$")]; tool needs(""),
        /// The start, as a CSS selector.
        start_selector as "startSelector": Option<String> = default,
        /// The start, as a locator.
        start_locator as "startLocator": Option<String> = default,
        /// The start, as a point of the viewport.
        start: Option<Point> = default,
        /// The target, as a ref.
        end_ref as "endRef": Option<String> = default [regex(pattern = "^@?e?[0-9]{1,9}$")]; tool needs(""),
        /// The target, as a CSS selector.
        end_selector as "endSelector": Option<String> = default,
        /// The target, as a locator.
        end_locator as "endLocator": Option<String> = default,
        /// The target, as a point of the viewport.
        end: Option<Point> = default,
        /// Mouse moves between start and target, 1 to 1,000. Default 10.
        steps: Option<u32> = default,
        /// The frame of selectors and locators: a frame id or the ref of an iframe. Default: the top frame.
        frame_id as "frameId": Option<String> = default,
    }
        ; tool tool("browser_drag", "Drag one element onto another.")
        => tab.drag(act, deadline);

    /// Selects options of a `<select>`.
    Select "select" {
        /// The `<select>`.
        at: Locator => flatten; tool needs(""),
        /// Values or labels of the options.
        values: Vec<String>; tool needs("Values or labels of options"),
    }
        ; tool tool("browser_select", "Select options of a dropdown.")
        => tab.select(at, values, act.force, deadline);

    /// Checks a checkbox, radio button or switch.
    Check "check" {
        /// The element to check.
        at: Locator => flatten; cli positional(""),
    }
        ; cli command("check", "Check a checkbox, radio button or switch")
        => tab.tick(at, true, act, deadline);

    /// Unchecks a checkbox or switch.
    Uncheck "uncheck" {
        /// The element to uncheck.
        at: Locator => flatten; cli positional(""),
    }
        ; cli command("uncheck", "Uncheck a checkbox or switch")
        => tab.tick(at, false, act, deadline);

    /// Fills in form fields.
    Fill "fill" {
        /// The fields, in order.
        fields: Vec<Field>; tool needs(""),
        /// Press Enter in the last text field afterwards. Default false.
        submit: bool = default,
    }
        ; tool tool("browser_fill", "Fill several form fields at once.")
        => tab.fill(fields, *submit, act, deadline);

    /// Scrolls the page or a container.
    Scroll "scroll" {
        /// An element in the container to scroll. Default: the page.
        at: Locator => flatten; cli option("[default: the page]"); tool takes("Element to scroll [the page]"),
        /// The direction.
        direction: Direction; cli positional("Direction").default("down"); tool needs(""),
        /// Distance in CSS pixels. Default: most of a page.
        pixels: Option<f64> = default; cli positional("Distance, CSS pixels [default: most of the visible area]");
            tool takes("Distance [500]"),
    }
        ; cli command("scroll", "Scroll the page or an element")
        ; tool tool("browser_scroll", "Scroll the page, or the container of an element.")
        => tab.focused().scroll_by(act, at, *direction, *pixels, deadline);

    /// Waits until all given conditions hold at once.
    Wait "wait" (wanted: WaitFor)
        ; ignores input
        ; tool tool("browser_wait", "Wait until all conditions hold.").timeout("Time limit [20000]")
        => tab.wait(wanted, act, deadline);

    /// Sets the size of the viewport.
    Resize "resize" {
        /// Width in CSS pixels, 1 to 8,192.
        width: u32; cli positional("Width, CSS pixels"),
        /// Height in CSS pixels, 1 to 8,192.
        height: u32; cli positional("Height, CSS pixels"),
    }
        ; ignores force input
        ; cli command("resize", "Set the viewport size")
        => tab.resize(*width, *height, deadline);

    /// Closes the tab.
    Close "close" {}
        ; ignores force input
        => tab.close_tab(deadline);

    /// Runs JavaScript in the page.
    Evaluate "evaluate" {
        /// An expression, a function that is called with the element, or a function body. Promises are awaited.
        script as "fn": String; tool needs("Expression, statements with return, or function of the element"),
        /// The element to pass, as a ref.
        reference as "ref": Option<String> = default [regex(pattern = "^@?e?[0-9]{1,9}$")];
            tool takes("").named("ref"),
        /// The element to pass, as a locator.
        locator: Option<String> = default,
        /// The frame to run in: a frame id or the ref of an iframe. Default: the top frame.
        frame_id as "frameId": Option<String> = default; tool takes("Frame to run in"),
    }
        ; ignores input
        ; tool tool("browser_evaluate", "Run JavaScript in the page.")
        => tab.run_script(script, reference.as_deref(), frame_id.as_deref(), act, deadline);

    /// Runs several actions one after the other.
    Batch "batch" {
        /// The actions, in order; at most 100.
        actions: Vec<Act>,
        /// Stop at the first failure. Default true.
        stop_on_error as "stopOnError": Option<bool> = default,
    }
        ; ignores force input
        => Err(Error::BadRequest { problem: "a batch cannot be done in one step".to_owned() });
}
