//! Learning: networks that can be trained, their losses and the optimiser.
