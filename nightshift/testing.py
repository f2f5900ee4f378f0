"""A pytest fixture for tests of one's own tasks: `pytest_plugins = ["nightshift.testing"]`."""

from worker.testing import RunTask, nightshift_browser, run_task

__all__ = ["RunTask", "nightshift_browser", "run_task"]
