"""MOCCASIN: retention intervals in constraint programming, written down in `MOCCASIN.md`."""
