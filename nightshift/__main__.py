"""`python -m nightshift` is the command `nightshift`."""

from worker.cli.main import installed

if __name__ == "__main__":
    installed()
