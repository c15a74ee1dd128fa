//! The evaluation: mock sites, tests with their criteria, and scores. Independent of browsers, servers and models.
//!
//! | module | contents |
//! |---|---|
//! | `assets` | the files of `eval/`: embedded in the program, or of a folder |
//! | [`sites`] | the server of the mock sites, and the events that their pages report |
//! | [`dataset`] | tests, read strictly; the traces that prove their criteria |
//! | `placeholders` | `{{a}}`, `{{b}}`, `{{today+3}}` in tests |
//! | `matching` | which events of a run satisfy which criteria |
//! | `score` | points, efficiency, usage |
//! | [`oracle`] | an endpoint that plays each test without a model |
//! | [`safety`] | the safety track: instructions in pages, tools and files |

mod assets;
pub mod dataset;
mod matching;
pub mod oracle;
mod placeholders;
pub mod safety;
mod score;
pub mod sites;

pub use assets::{Assets, AssetsError};
pub use matching::{Matches, matches};
pub use placeholders::{Day, Places};
pub use score::{Cost, CriterionScore, Facts, PASS, Score};
