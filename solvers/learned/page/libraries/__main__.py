"""Fetch the pinned libraries again: ``python -m solvers.learned.page.libraries`` (needs npm)."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from solvers.learned.page.libraries import Package, altered, packages, sha512

_HERE = Path(__file__).parent


def main() -> int:
    """Fetch, check and unpack the libraries; return the number of files that differ."""
    with tempfile.TemporaryDirectory() as folder:
        for package in packages():
            _unpack(package, Path(folder))
            print(f"{package.name} {package.version}: {', '.join(package.files.values())}")
    wrong = altered()
    if wrong:
        print(f"not as pinned: {', '.join(wrong)}", file=sys.stderr)
    return len(wrong)


def _unpack(package: Package, folder: Path) -> None:
    command = ["npm", "pack", "--silent", f"{package.name}@{package.version}"]
    printed = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    archive = folder / printed.stdout.split()[-1]
    found = sha512(archive.read_bytes())
    if found != package.integrity:
        raise SystemExit(f"{archive.name} has the hash {found}; {package.integrity} is pinned.")
    with tarfile.open(archive) as members:
        for path, name in package.files.items():
            member = members.extractfile(f"package/{path}")
            assert member is not None, path
            (_HERE / name).write_bytes(member.read())


if __name__ == "__main__":
    sys.exit(main())
