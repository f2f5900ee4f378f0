// Loaded by Playwright's driver before anything else (`--require`); see face.py.
//
// Playwright tells Chromium of a context's user agent with every new page, frame and worker, before
// its first request, but leaves out the brands of the client hints: Chromium then says
// "HeadlessChrome" there, and nothing at all in workers. What it leaves out is added here, from
// the user agent itself, so that both always agree. And where a context's locale is a list of
// languages, all of them go into Accept-Language, and the first alone is the locale.
"use strict";

const browser = {
  version: process.env.NIGHTSHIFT_BROWSER_VERSION || "",
  brand: process.env.NIGHTSHIFT_BROWSER_BRAND || "",
};

const PLATFORMS = { Linux: "Linux x86_64", Windows: "Win32", macOS: "MacIntel" };

// As in Chromium's components/embedder_support/user_agent_utils.cc: by the major version, so that
// all browsers of a version send the same.
const GREASE = [" ", "(", ":", "-", ".", "/", ")", ";", "=", "?", "_"];
const GREASE_VERSIONS = ["8", "99", "24"];
const ORDERS_OF_THREE = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

function brandList(major, version, greaseVersion) {
  const grease = `Not${GREASE[major % 11]}A${GREASE[(major + 1) % 11]}Brand`;
  const list = [{ brand: grease, version: greaseVersion }, { brand: "Chromium", version }];
  if (browser.brand) list.push({ brand: browser.brand, version });
  const order = list.length === 3 ? ORDERS_OF_THREE[major % 6] : [major % 2, (major + 1) % 2];
  const shuffled = [];
  list.forEach((entry, index) => (shuffled[order[index]] = entry));
  return shuffled;
}

function completeHints(params) {
  const metadata = params.userAgentMetadata;
  if (!metadata || metadata.brands) return;
  const found = /\bChrome\/(\d+)/.exec(params.userAgent);
  if (!found) {
    // Another maker's browser has no client hints, so at least it has no brand.
    metadata.brands = metadata.fullVersionList = [];
    return;
  }
  const major = Number(found[1]);
  const isOurs = browser.version.split(".")[0] === found[1];
  const version = isOurs ? browser.version : `${major}.0.0.0`;
  const greaseVersion = GREASE_VERSIONS[major % 3];
  metadata.brands = brandList(major, String(major), greaseVersion);
  metadata.fullVersionList = brandList(major, version, `${greaseVersion}.0.0.0`);
  metadata.fullVersion = version;
  metadata.wow64 = false;
  if (!metadata.mobile && metadata.platform in PLATFORMS) {
    metadata.bitness = "64";
    params.platform = PLATFORMS[metadata.platform];
    const parts = metadata.platformVersion.split(/[._]/).filter(Boolean);
    if (parts.length) metadata.platformVersion = [...parts, "0", "0"].slice(0, 3).join(".");
  }
}

const stringify = JSON.stringify;
JSON.stringify = function (value, ...rest) {
  const method = value?.method;
  if (method === "Emulation.setUserAgentOverride") completeHints(value.params);
  else if (method === "Emulation.setLocaleOverride")
    value.params.locale = value.params.locale?.split(",")[0];
  return stringify.call(this, value, ...rest);
};
