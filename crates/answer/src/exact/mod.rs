//! Canonical forms, which prove that two expressions are the same.
