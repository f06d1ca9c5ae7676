"""Damaged files led by coverage: atheris (libFuzzer) changes small valid ones towards lines that were not run before.

`PYTHONPATH=.:tests python tests/coverage_fuzzing.py SECONDS` shares that time among the readers, each in a process of
its own that ends at an error that is no sentence, at 5 s for one file, and at 1 GiB. It needs `pip install atheris`,
which few platforms have, so no test runs it; `fuzzing.py` is the fuzzer that needs nothing.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from saved_programs import MODEL

SUFFIXES = (".onnx", ".json", ".graphml", ".log", ".xengine", ".pt2")
_LONGEST_BYTES = 20_000
_MOST_SECONDS, _MOST_MEBIBYTES = 5, 1024


def run(seconds: float) -> int:
    """Fuzz every reader; how many of them failed."""
    failed = 0
    for suffix in SUFFIXES:
        with tempfile.TemporaryDirectory() as name:
            corpus = Path(name) / "corpus"
            corpus.mkdir()
            words = [sys.executable, __file__, "child", suffix, name, str(corpus), f"-artifact_prefix={name}/"]
            words += [f"-max_total_time={max(1, int(seconds / len(SUFFIXES)))}", f"-timeout={_MOST_SECONDS}"]
            words += [f"-rss_limit_mb={_MOST_MEBIBYTES}", f"-max_len={_LONGEST_BYTES}", "-print_final_stats=1"]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            lines = done.stderr.splitlines()
            stats = [line.removeprefix("stat::").strip() for line in lines if line.startswith("stat::")]
            sys.stdout.write(f"{suffix}: {'; '.join(' '.join(line.split()) for line in stats)}\n")
            if done.returncode:
                failed += 1
                sys.stdout.write("\n".join(lines[-40:]) + "\n")
                for found in (p for p in Path(name).iterdir() if p.is_file() and p.suffix != suffix):
                    sys.stdout.write(f"{found.name}: {found.read_bytes()!r}\n")
        sys.stdout.flush()
    return failed


def _child(suffix: str, folder: Path, arguments: list[str]) -> None:
    import atheris  # noqa: PLC0415 - it may not be there

    with atheris.instrument_imports(include=["xengine_gui"]):
        import fuzzing  # noqa: PLC0415 - after it has been instrumented
    for place, (kind, data) in enumerate(fuzzing.seeds()):
        if kind == suffix:
            seed = json.dumps(MODEL).encode() if suffix == ".pt2" else data
            (folder / "corpus" / str(place)).write_bytes(seed)
    path = folder / f"at_work{suffix}"

    def read(data: bytes) -> None:
        path.write_bytes(fuzzing.archived(data) if suffix == ".pt2" else data)
        assert fuzzing.read(path) in {"read", "refused"}

    atheris.Setup([sys.argv[0], *arguments], read)
    atheris.Fuzz()


if __name__ == "__main__":
    if sys.argv[1] == "child":
        _child(sys.argv[2], Path(sys.argv[3]), sys.argv[4:])
    else:
        sys.exit(run(float(sys.argv[1])))
