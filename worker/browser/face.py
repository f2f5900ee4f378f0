"""What sites see of a browser: time zone, languages, user agent, client hints, viewport, screen.

Most of it holds for the whole process: its environment and flags reach every page and worker. What
flags cannot say, the client hints and the locale, Playwright tells each of them before its first
request, completed by `driver_preload.js`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from worker.browser.browser_version import EDGE, BrowserVersion, version_of
from worker.browser.options import BrowserOptions

PRELOAD = Path(__file__).with_name("driver_preload.js")

# Since version 101 Chrome names its system in one of these ways only, and its major version alone.
SYSTEMS = {
    "linux": "X11; Linux x86_64",
    "windows": "Windows NT 10.0; Win64; x64",
    "macos": "Macintosh; Intel Mac OS X 10_15_7",
}
# Common screens, by size.
SCREENS = (
    *((1280, 800), (1366, 768), (1440, 900), (1536, 864), (1600, 900), (1680, 1050)),
    *((1920, 1080), (2560, 1440), (3840, 2160)),
)
# By how many pixels Chromium tells scripts that a window is higher than its viewport (measured).
BARS_HEIGHT = 131


@dataclass(frozen=True, slots=True)
class Face:
    """The face of one profile; `version` is the major version that it shows."""

    timezone: str
    locale: str
    system: str
    viewport: tuple[int, int]
    version: int

    @property
    def languages(self) -> tuple[str, ...]:
        """What its user reads: the locale's language, and English."""
        return languages_of(self.locale)

    @property
    def user_agent(self) -> str:
        return user_agent(self.system, self.version)

    @property
    def screen(self) -> tuple[int, int]:
        return screen_of(self.viewport)

    def context_options(self) -> dict[str, Any]:
        """Say it in the words of `Browser.new_context`."""
        return {
            "user_agent": self.user_agent,
            "locale": ",".join(self.languages),
            "viewport": _size(self.viewport),
            "screen": _size(self.screen),
        }

    def put_on(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Return the settings of a persistent context's launch with this face."""
        program = Path(settings["executable_path"] or "headless_shell").name
        # The headless shell sends what it is given; the full browser adds the weights itself.
        is_shell = "headless" in program
        languages = accept_language(self.languages) if is_shell else ",".join(self.languages)
        # Of two flags with one name, Chromium heeds the last.
        flags = [
            f"--user-agent={self.user_agent}",
            f"--lang={self.locale}",
            f"--accept-lang={languages}",
        ]
        env = {**settings["env"], "TZ": self.timezone, "LANGUAGE": self.locale.replace("-", "_")}
        args = [*settings["args"], *flags]
        return {**settings, "args": args, "env": env, **self.context_options()}


def user_agent(system: str, version: int) -> str:
    """The user agent of an ordinary Chrome on a system."""
    return (
        f"Mozilla/5.0 ({SYSTEMS[system]}) AppleWebKit/537.36 (KHTML, like Gecko) "
        f"Chrome/{version}.0.0.0 Safari/537.36"
    )


def languages_of(locale: str) -> tuple[str, ...]:
    """The languages of a locale's user: de-DE, de, en."""
    return tuple(dict.fromkeys((locale, locale.partition("-")[0], "en")))


def accept_language(languages: tuple[str, ...]) -> str:
    """Write languages as Chrome does in its header: de-DE,de;q=0.9,en;q=0.8."""
    weights = ("", *(f";q=0.{9 - place}" for place in range(len(languages) - 1)))
    return ",".join(map("".join, zip(languages, weights, strict=True)))


def screen_of(viewport: tuple[int, int]) -> tuple[int, int]:
    """The smallest common screen that a window with such a viewport fits on."""
    width, height = viewport
    fitting = (size for size in SCREENS if size[0] >= width and size[1] >= height + BARS_HEIGHT)
    return next(fitting, (width, height + BARS_HEIGHT))


def ordinary_flags(options: BrowserOptions) -> list[str]:
    """Flags that keep the word "Headless" out of a Chromium for ordinary jobs."""
    version = version_of(options) if options.headless else None
    return [] if version is None else [f"--user-agent={_ordinary_agent(options, version.major)}"]


def ordinary_options(options: BrowserOptions, full_version: str) -> dict[str, Any]:
    """Likewise for each context of such a browser, by the version that the browser itself tells."""
    major = full_version.partition(".")[0]
    if not options.headless or not options.is_chromium or not major.isdigit():
        # No other browser says that it is headless.
        return {}
    return {"user_agent": _ordinary_agent(options, int(major))}


def _ordinary_agent(options: BrowserOptions, major: int) -> str:
    known = version_of(options)
    is_edge = known is not None and known.brand == EDGE
    return user_agent("linux", major) + (f" Edg/{major}.0.0.0" if is_edge else "")


def driver_environment(options: BrowserOptions, environment: dict[str, str]) -> dict[str, str]:
    """Return the driver's environment with what the preload needs."""
    known = version_of(options) or BrowserVersion("", 0, "")
    required = f'--require "{PRELOAD}"'
    return {
        **environment,
        "NODE_OPTIONS": f"{environment.get('NODE_OPTIONS', '')} {required}".strip(),
        "NIGHTSHIFT_BROWSER_VERSION": known.full,
        "NIGHTSHIFT_BROWSER_BRAND": known.brand,
    }


def _size(pixels: tuple[int, int]) -> dict[str, int]:
    return {"width": pixels[0], "height": pixels[1]}
