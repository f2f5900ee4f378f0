"""A profile in a folder of this machine, opened by a Chromium of our own.

Cookies and storage stay in the folder. One browser uses it at a time: a second one is refused,
by Chromium's own lock and by what runs here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, Playwright
from playwright.sync_api import Error as PlaywrightError

from worker.browser.launch import launch_failure, launch_settings
from worker.browser.options import BrowserOptions, as_chromium
from worker.browser.providers import profile_lock
from worker.browser.providers.provider import OpenedProfile, Within
from worker.browser.providers.spec import LOCAL, ProfileSpec
from worker.browser.scratch_folder import ScratchFolder
from worker.browser.way_out import behind
from worker.errors import ProviderError
from worker.system import process_tree

DEATH_SECONDS = 4.0
# Pages fill the window, however large a person makes it, and no bar says that a program steers it.
FOR_PERSON = {"no_viewport": True, "ignore_default_args": ["--enable-automation"]}
FIXED_SIZES = frozenset({"viewport", "screen"})


class LocalProvider:
    """Starts a Chromium in `spec.folder`, with `spec.proxy`."""

    def __init__(self, options: BrowserOptions) -> None:
        self._options = options
        # Playwright's own timeout explains more than a killed browser does: it goes first.
        self.open_seconds = options.launch_timeout_seconds + 5.0
        self._left: dict[int | str, str] = {}

    def open(self, playwright: Playwright, spec: ProfileSpec) -> OpenedProfile:
        """Launch a persistent context; raises ProviderError, or LaunchFailed without Chromium."""
        folder = _folder_of(spec)
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            profile_lock.make_sure_unused(folder, str(spec), LOCAL)
        except OSError as error:
            raise ProviderError(
                f"{spec}: {folder} cannot be used ({error.strerror}); make it a writable folder",
                provider=LOCAL,
                kind="refused",
            ) from error
        context = self._launch(playwright, spec, folder)
        found = profile_lock.browsers_using(folder)
        return OpenedProfile(spec, context, context.browser, found[0] if found else None)

    def close(self, opened: OpenedProfile, within: Within) -> None:
        """Close the context, which writes the profile down, and end whatever is left."""
        within(opened.context.close)
        if opened.browser is not None:
            within(opened.browser.close)
        self._left[opened.spec.profile_id] = f"{opened.spec}: its browser did not end"
        within(lambda: self._end(opened))

    def kill(self, opened: OpenedProfile) -> None:
        """Kill Chromium's process group."""
        if opened.process is not None:
            process_tree.kill_group(opened.process)

    def give_up(self) -> None:
        """Do nothing: a launch has its own limit."""

    def stop(self, spec: ProfileSpec) -> str | None:
        """Kill the browsers of this machine that use the folder; raises ProviderError."""
        folder = _folder_of(spec)
        users = profile_lock.browsers_using(folder)
        for user in users:
            if not process_tree.kill_group(user):
                process_tree.kill(user)
        if not process_tree.wait_dead(users, DEATH_SECONDS):
            raise ProviderError(
                f"{spec}: process {users[0].pid} in {folder} does not end; end it by hand",
                provider=LOCAL,
                kind="already_running",
            )
        if users and profile_lock.is_locked_here(folder):
            profile_lock.remove_lock(folder)
        self._left.pop(spec.profile_id, None)
        pids = ", ".join(str(user.pid) for user in users)
        return f"ended process {pids}, a browser in {folder}" if users else None

    def left_running(self, spec: ProfileSpec) -> str | None:
        """Say so when the browser's processes did not end."""
        return self._left.get(spec.profile_id)

    def _launch(self, playwright: Playwright, spec: ProfileSpec, folder: Path) -> BrowserContext:
        # A cleaner may have removed it since the worker began; some Chromiums die without it.
        ScratchFolder(self._options.tmp_dir).make()
        options = as_chromium(self._options)
        if spec.proxy is not None:
            options = behind(options, (spec.proxy.host,))
        settings = launch_settings(options)
        if spec.proxy is not None:
            settings["proxy"] = spec.proxy.as_playwright()
        if spec.face is not None:
            settings = spec.face.put_on(settings)
        if self._options.for_person:
            settings = _for_person(settings)
        try:
            context = playwright.chromium.launch_persistent_context(folder, **settings)
        except PlaywrightError as error:
            # A browser that came too late may live on.
            self.stop(spec)
            raise launch_failure(str(error), options) from error
        if self._options.for_person:
            # Without a listener the driver answers dialogs, before anybody has seen them.
            context.on("dialog", lambda _: None)
        return context

    def _end(self, opened: OpenedProfile) -> None:
        if opened.process is not None:
            members = process_tree.group_members(opened.process)
            # Chromium writes its last cookies after it has answered that it closes.
            if not process_tree.wait_dead(members, DEATH_SECONDS / 2):
                self.kill(opened)
            if not process_tree.wait_dead(members, DEATH_SECONDS / 2):
                return
        self._left.pop(opened.spec.profile_id, None)


def _folder_of(spec: ProfileSpec) -> Path:
    if spec.folder is None:
        raise ProviderError(
            f"{spec} has no folder: give a local profile one", provider=LOCAL, kind="refused"
        )
    return spec.folder.resolve()


def _for_person(settings: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in settings.items() if name not in FIXED_SIZES}
    return kept | FOR_PERSON
