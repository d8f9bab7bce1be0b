//! Certified enclosures of an expression's value, at rising precision.
