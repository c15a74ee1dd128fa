//! Looking at a tab: the usable elements of the viewport, with ids that stay, in pictures whose labels hide nothing.
//!
//! | file | contents |
//! |---|---|
//! | `element` | what is known of an element |
//! | `discover` | finding the elements, in all frames at once |
//! | `ids` | ids of elements |
//! | `redraw` | elements that a page has drawn anew |
//! | `paging` | which elements are labelled together |
//! | `ready` | whether the page is drawn far enough |
//! | `draw` | boxes and labels |
//! | `look` | a look: elements, and the picture of one page of them |
//! | `preview` | one element before it is used |
//! | `controls` | carousels and sliders |
//!
//! Only what a person sees is listed: not what is outside the viewport, covered, transparent, or behind a modal dialog. The
//! page is not changed: the picture is captured first, everything else is drawn into it.
//!
//! The candidates are those of the snapshot, so roles, names and closed shadow roots are the same;
//! `script/highlight.js` adds scrollable and hoverable elements, leaves out wrappers, and gives each element a key: the
//! shortest unique selector without classes, texts and states (`script/element-key.js`). Points of each element are
//! tested in its own document and in all documents around its frame. Pages are filled greedily in reading order. After
//! the capture some elements are measured again, and the capture is repeated if too many have moved.

mod controls;
mod discover;
mod draw;
mod element;
mod ids;
mod look;
mod paging;
mod preview;
mod ready;
mod redraw;

pub use element::{ElementType, Hint, Setting, Use, VisibleElement};
pub(super) use ids::Ids;
pub use ids::{IdMatch, matching};
pub use look::{Look, LookOptions, Picture};
pub use preview::{Binding, Bound, Preview};
pub use ready::Readiness;
pub use redraw::Presence;
