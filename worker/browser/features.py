"""Which features of Chromium are off: Playwright's own list, and one that makes every page dearer.

Of several `--disable-features` Chromium heeds only the last, so the list has to be whole. A test
holds it against the one of the installed Playwright.
"""

from __future__ import annotations

PLAYWRIGHTS = (
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
OURS = ("RenderDocument",)

DISABLE_FEATURES = f"--disable-features={','.join((*PLAYWRIGHTS, *OURS))}"
