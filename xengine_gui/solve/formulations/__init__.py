"""The models of papers, as `FORMULATIONS.md` writes them; the only package that imports Pyomo."""
