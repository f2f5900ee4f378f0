// Loaded by Playwright's driver before anything else (`--require`); see face.py.
//
// Playwright tells Chromium of a context's user agent with every new page, frame and worker, before
// its first request, but leaves out the brands of the client hints: Chromium then says
// "HeadlessChrome" there, and nothing at all in workers. What it leaves out is added here, from
// the user agent itself, so that both always agree. And where a context's locale is a list of
// languages, all of them go into Accept-Language, and the first alone is the locale.
//
// From shared workers Playwright detaches at once. Instead, each is told the user agent of its
// context before it runs, and is kept; Playwright takes it for detached.
//
// What a page gives to a binding passes here as well: nothing about a message's shape is certain.
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
  if (!metadata || metadata.brands || typeof params.userAgent !== "string") return;
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
    const parts = String(metadata.platformVersion).split(/[._]/).filter(Boolean);
    if (parts.length) metadata.platformVersion = [...parts, "0", "0"].slice(0, 3).join(".");
  }
}

const { parse, stringify } = JSON;

// Which context a session belongs to, and how a context wants to be seen.
const contexts = new Map();
const looks = new Map();
// Sessions of shared workers: whose child each is, its context, and which answer goes to the parent.
const shared = new Map();

function hear(message) {
  if (message?.method === "Target.attachedToTarget") {
    const { sessionId, targetInfo } = message.params ?? {};
    const context = targetInfo?.browserContextId;
    if (targetInfo?.type === "shared_worker") {
      shared.set(sessionId, { parent: message.sessionId, context });
    } else contexts.set(sessionId, context);
  } else if (message?.method === "Target.detachedFromTarget") {
    contexts.delete(message.params?.sessionId);
    shared.delete(message.params?.sessionId);
  } else if (message?.method === "Runtime.bindingCalled") {
    makeReadable(message.params);
  } else if (message?.id && shared.get(message.sessionId)?.answer === message.id) {
    message.sessionId = shared.get(message.sessionId).parent;
  }
}

// Playwright reads what a page says to a binding where nothing catches what cannot be read.
function makeReadable(params) {
  if (!params) return;
  try {
    if (parse(params.payload) !== null) return;
  } catch {}
  params.payload = "{}";
}

function dressSharedWorker(message) {
  const { method, params, sessionId } = message;
  if (method === "Runtime.runIfWaitingForDebugger" && shared.has(sessionId)) {
    const look = looks.get(shared.get(sessionId).context);
    if (!look) shared.delete(sessionId);
    else Object.assign(message, { method: "Emulation.setUserAgentOverride", params: look });
  } else if (method === "Target.detachFromTarget" && shared.has(params?.sessionId)) {
    shared.get(params.sessionId).answer = message.id;
    const released = { method: "Runtime.runIfWaitingForDebugger", params: {} };
    Object.assign(message, released, { sessionId: params.sessionId });
  }
}

function speak(message) {
  const { method, sessionId } = message;
  const params = message.params ?? {};
  if (method === "Emulation.setUserAgentOverride") {
    completeHints(params);
    if (contexts.has(sessionId)) looks.set(contexts.get(sessionId), params);
  } else if (method === "Emulation.setLocaleOverride") {
    if (typeof params.locale === "string") params.locale = params.locale.split(",")[0];
  } else if (method === "Target.disposeBrowserContext") {
    looks.delete(params.browserContextId);
  } else if (shared.size) dressSharedWorker(message);
}

JSON.parse = function (text, ...rest) {
  const value = parse.call(this, text, ...rest);
  hear(value);
  return value;
};
JSON.stringify = function (value, ...rest) {
  if (value?.method) speak(value);
  return stringify.call(this, value, ...rest);
};
