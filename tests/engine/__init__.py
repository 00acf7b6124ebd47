"""Tests of the engine: hand-worked cases pin the reference, the reference pins the engine."""
