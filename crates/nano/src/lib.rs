//! The nano world: questions with an oracle, askers that cost nothing, and language models small enough to ship.
