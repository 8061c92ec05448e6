"""The README's script does what the README says, run as it stands there."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"
LONGEST_SCRIPT = 30


def test_the_script_polls_a_simulator_through_the_public_settings(tmp_path: Path) -> None:
    (script,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert len(script.splitlines()) <= LONGEST_SCRIPT
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(tmp_path)},
        capture_output=True,
        encoding="utf-8",
        timeout=90,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.split("$ inbox-loop poll --json")
    assert "Asked before the first run" in second
    assert "Asked afterwards" in second
    report = json.loads(second.strip().splitlines()[0])
    assert (report["created"], report["api_calls"], report["quota_units"]) == (0, 1, 2)
    assert first.count("$ inbox-loop") == 3
