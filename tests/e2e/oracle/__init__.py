"""The parts of tests/e2e/conservation."""
