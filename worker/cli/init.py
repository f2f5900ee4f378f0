"""`launcher.py init`: make a folder a project, or write a task file; nothing is overwritten."""

from __future__ import annotations

import getpass
import keyword
import re
import shlex
import sys
from pathlib import Path

import click

from worker import __version__
from worker.cli.output import tell, tell_text
from worker.errors import UsageError
from worker.installation import INSTALLED, checkout, command_name, named_project
from worker.project import FILE, project_dir
from worker.tasks import registry

TEMPLATES = Path(__file__).parent / "templates"
# A task file of such a name would hide the module from everything else, or be hidden by it.
TAKEN_NAMES = sys.stdlib_module_names | {
    *("worker", "nightshift", "launcher", "playwright", "pytest"),
}
FIRST_TASK = "product"
TASKS_FOLDER = "tasks"
# What each flag adds: the template, and where it goes.
EXTRAS = {
    "docker": {
        "docker/Dockerfile": "Dockerfile",
        "docker/compose.yaml": "compose.yaml",
        "docker/seccomp.json": "seccomp.json",
        "docker/dockerignore": ".dockerignore",
    },
    "systemd": {"systemd/nightshift.service": "nightshift.service"},
    "cron": {"cron/nightshift.cron": "nightshift.cron"},
}

Files = dict[Path, str]


@click.command("init")
@click.argument("name", required=False)
@click.option("--docker", is_flag=True, help="Also a Dockerfile and a compose.yaml with MySQL.")
@click.option("--systemd", is_flag=True, help="Also a unit file for systemd.")
@click.option("--cron", is_flag=True, help="Also a line for cron.")
def init(name: str | None, **extras: bool) -> None:
    """Make this folder a project; with NAME, write a commented task file NAME.py and its test.

    A project has nightshift.toml, a first task with its test, and a .gitignore. In a project that
    is there, --docker, --systemd and --cron add their files.
    """
    wanted = [extra for extra, is_wanted in extras.items() if is_wanted]
    if name is None:
        _make_project(project_dir(), wanted)
    elif wanted:
        raise UsageError(f"--{wanted[0]} is for a project, not for a task file; leave {name} out")
    else:
        _write_task(name)


def _make_project(folder: Path, wanted: list[str]) -> None:
    if folder == checkout():
        raise UsageError("this is Nightshift's own folder; name another one with --project DIR")
    is_there = (folder / FILE).exists()
    if is_there and not wanted:
        raise UsageError(
            f"{folder / FILE} exists already; add a task: {command_name()} init my_shop"
        )
    files = {} if is_there else _project_files(folder)
    for extra in wanted:
        files |= _extra_files(folder, extra)
    _write(files)
    if not is_there:
        _ignore(folder / ".gitignore")
    if "docker" in wanted:
        _make_room_for_wheels(folder)
    written = ", ".join(str(path.relative_to(folder)) for path in files)
    tell_text(f"wrote {written}" + ("" if is_there else _next_in_project()))


def _project_files(folder: Path) -> Files:
    toml = (TEMPLATES / "project" / FILE).read_text(encoding="utf-8")
    tasks = folder / TASKS_FOLDER
    return {folder / FILE: toml, **_task_files(FIRST_TASK, tasks, is_in_project=True)}


def _extra_files(folder: Path, extra: str) -> Files:
    project, command = str(folder), _absolute_command(folder)
    if extra == "cron":
        # Cron takes a % for the end of the line.
        project, words = (
            text.replace("%", r"\%") for text in (shlex.quote(project), shlex.join(command))
        )
    else:
        project, words = project.replace("%", "%%"), " ".join(map(_for_systemd, command))
    return {
        folder / name: (TEMPLATES / "project" / template)
        .read_text(encoding="utf-8")
        .replace("PROJECT", project)
        .replace("User=USER", f"User={getpass.getuser()}")
        .replace("COMMAND", words)
        for template, name in EXTRAS[extra].items()
    }


def _for_systemd(word: str) -> str:
    text = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{text}"' if set(word) & set(" \\\"'") else text


def _absolute_command(folder: Path) -> list[str]:
    """Name the command so that a program without our PATH can start it in that project."""
    script = Path(sys.executable).parent / INSTALLED
    if script.exists():
        return [str(script)]
    root = checkout()
    if root is None:
        return [sys.executable, "-m", "nightshift"]
    return [sys.executable, f"{root}/launcher.py", "--project", str(folder)]


def _ignore(path: Path) -> None:
    """Add what is missing to a .gitignore, at its end."""
    wanted = (TEMPLATES / "project" / "gitignore").read_text(encoding="utf-8").splitlines()
    there = path.read_text(encoding="utf-8") if path.exists() else ""
    missing = [line for line in wanted if line not in there.splitlines()]
    gap = "\n" if there and not there.endswith("\n") else ""
    path.write_text(there + gap + "".join(f"{line}\n" for line in missing), encoding="utf-8")


def _make_room_for_wheels(folder: Path) -> None:
    (folder / "wheels").mkdir(exist_ok=True)
    (folder / "wheels" / ".gitkeep").touch()
    requirements = folder / "requirements.txt"
    if requirements.exists():
        tell("requirements.txt is there; it must name nightshift[web]", err=True)
    else:
        template = TEMPLATES / "project" / "docker" / "requirements.txt"
        text = template.read_text(encoding="utf-8").replace("VERSION", __version__)
        requirements.write_text(text, encoding="utf-8")


def _next_in_project() -> str:
    return (
        "\nnext:\n"
        f'  {_command()} try {FIRST_TASK} --payload \'{{"url": "https://example.com"}}\'\n'
        f"  pytest {TASKS_FOLDER}\n"
        f"  {_command()} enqueue https://example.com --task {FIRST_TASK}\n"
        f"  {_command()}\n"
        f"  {_command()} export -o results.csv"
    )


def _write_task(name: str) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise UsageError(f"{name} cannot name a task file; use a-z, 0-9 and _, as in my_shop")
    if name in TAKEN_NAMES:
        raise UsageError(f"{name} is the name of another Python module; choose one such as my_shop")
    if registry.load(()).find(name) is not None:
        raise UsageError(f"{name} is the name of a built-in task; choose one such as my_shop")
    folder = Path()
    is_in_project = (project_dir() / FILE).exists() and (project_dir() / TASKS_FOLDER).is_dir()
    if is_in_project:
        folder = Path(TASKS_FOLDER) if project_dir() == Path.cwd() else project_dir() / TASKS_FOLDER
    files = _task_files(name, folder, is_in_project=is_in_project)
    _write(files)
    task_path, test_path = files
    flag = "" if is_in_project else f"--tasks {task_path} "
    tell_text(
        f"wrote {task_path} and {test_path}; next:\n"
        f'  {_command()} try {name} {flag}--payload \'{{"url": "https://example.com"}}\'\n'
        f"  {_pytest()} {test_path}"
    )


def _task_files(name: str, folder: Path, *, is_in_project: bool) -> Files:
    shape = "".join(part.capitalize() for part in name.split("_"))
    command = f"{_command()} try {name}" + ("" if is_in_project else f" --tasks {name}.py")
    found = {}
    for path, template in ((f"{name}.py", "task.py.txt"), (f"test_{name}.py", "test_task.py.txt")):
        text = (TEMPLATES / template).read_text(encoding="utf-8")
        text = text.replace("COMMAND try NAME --tasks NAME.py", command).replace("PATHS", _paths())
        found[folder / path] = text.replace("NAME", name).replace("SHAPE", shape)
    return found


def _paths() -> str:
    """Say where the task file and Nightshift are, if Python does not know it."""
    root = checkout()
    if root is None:
        return ""
    return (
        "import sys\nfrom pathlib import Path\n\n"
        "# Where the task file and Nightshift are, wherever pytest is called.\n"
        f"sys.path[:0] = [str(Path(__file__).parent), {str(root)!r}]\n\n"
    )


def _command() -> str:
    root = checkout()
    if command_name() == INSTALLED or root is None:
        return INSTALLED + named_project()
    return f"python {'' if Path.cwd() == root else f'{root}/'}launcher.py{named_project()}"


def _pytest() -> str:
    root = checkout()
    if command_name() == INSTALLED or root is None:
        return "pytest"
    return f"{'' if Path.cwd() == root else f'{root}/'}.venv/bin/pytest"


def _write(files: Files) -> None:
    """Write all files or, if one of them is there already, none."""
    for path in files:
        if path.exists():
            raise UsageError(f"{path} exists already, and nothing is overwritten")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


COMMANDS = [init]
