//! Strict JSON over bytes.
