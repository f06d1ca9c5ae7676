"""POET: paging beside recomputation, for little energy by a deadline, written down in `POET.md`."""
