"""Which features of Chromium are off and on: Playwright's own lists, and what makes pages cheaper.

Of several lists of one kind Chromium heeds only the last, so ours have to be whole. A test holds
them against those of the installed Playwright.
"""

from __future__ import annotations

from collections.abc import Sequence

PLAYWRIGHTS_OFF = (
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsUpgrades",
    "HttpsFirstBalancedModeAutoEnable",
    "LensOverlay",
    "MediaRouter",
    "PaintHolding",
    "ThirdPartyStoragePartitioning",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "TcpPortRandomizationWin",
    "OptimizationHints",
    "NetworkTimeServiceQuerying",
    "AimEnabled",
    "PreconnectToSearch",
    "msForceBrowserSignIn",
    "msEdgeUpdateLaunchServicesPreferredVersion",
)
# A new frame host for every document: a page of the same site costs 66 ms of CPU without, 88 ms
# with it (measured). Sites are in processes of their own either way.
OURS_OFF = ("RenderDocument",)

PLAYWRIGHTS_ON = ("CDPScreenshotNewSurface", "SkipListAccountsWithoutGaiaCookies")
# The network service as a thread of the browser's own process: a page costs 3 ms of 70 less
# (measured). On Linux it has no sandbox, so as a process it would keep nothing from anybody.
OURS_ON = ("NetworkServiceInProcess2",)

OFF, ON = "--disable-features=", "--enable-features="


def arguments(given: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the lists of features with those among `given` arguments, and the other arguments."""
    lists = []
    for switch, names in ((OFF, PLAYWRIGHTS_OFF + OURS_OFF), (ON, PLAYWRIGHTS_ON + OURS_ON)):
        more = [each.removeprefix(switch) for each in given if each.startswith(switch)]
        lists.append(switch + ",".join((*names, *more)))
    return lists, [each for each in given if not each.startswith((OFF, ON))]
