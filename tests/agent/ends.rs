//! How runs end and go on: questions, stops, pauses, limits, panics, restarts.
