"""Tests of the pages and components in a real browser."""
