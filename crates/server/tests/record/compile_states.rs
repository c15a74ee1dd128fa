//! States of compilations: questions over a restart, revisions, failures, the routine that is saved.
