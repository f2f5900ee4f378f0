"""Whether an ordinary user may make what Chromium's sandbox is made of; a test without it skips."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence

import pytest

NOBODY = 65534
# All of it, as Chromium does: some kernels allow an empty user namespace, and nothing inside it.
TRIAL = ("unshare", "--user", "--map-root-user", "--pid", "--net", "--fork", "true")


def require(trial: Sequence[str] = TRIAL) -> None:
    """Skip the test where there are none, with the reason; on CI that is a failure.

    Or nobody would ever notice that the sandbox is looked at nowhere.
    """
    if (why := obstacle(trial)) is None:
        return
    if os.environ.get("CI") == "true":
        pytest.fail(f"{why}: CI has to look at the sandbox")
    pytest.skip(why)


def obstacle(trial: Sequence[str] = TRIAL) -> str | None:
    """Say what keeps an ordinary user from them; root tries as nobody."""
    if shutil.which(trial[0]) is None:
        return f"there is no {trial[0]} to try user namespaces with"
    who = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    done = subprocess.run(trial, **who, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None
    return f"no user namespaces for an ordinary user: {done.stderr.strip()}"
