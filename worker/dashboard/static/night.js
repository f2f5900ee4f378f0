// Keeps a page's live region up to date: asks again every few seconds while somebody looks, and puts
// the new region in the place of the old one. Without this script a page is the same, only not live.
"use strict";

const region = () => document.getElementById("live");
let etag = null;
let told = Date.now();
let drawn = Date.now();
let isAway = false;

// A picture that is slow must not hold up the words.
const PICTURE_MS = 800;
// A dashboard, or a way to it, that has not answered in this time will not answer.
const ANSWER_MS = 10_000;

function seconds() {
  return Number(region()?.dataset.live || 0);
}

// Not while a question is open, something is being typed, or text is being selected in the region.
function isBusy() {
  if (document.querySelector(":popover-open.ask")) return true;
  const focused = document.activeElement;
  if (region().contains(focused) && focused.matches("input, select, textarea")) return true;
  const selected = document.getSelection();
  return !selected.isCollapsed && region().contains(selected.anchorNode);
}

function showAge() {
  const age = Math.round((Date.now() - told) / 1000);
  for (const place of document.querySelectorAll("[data-ago]")) {
    place.textContent = isAway ? `, ${age} s ago; the dashboard does not answer` : `, ${age} s ago`;
    place.classList.toggle("bad", isAway);
  }
  for (const place of document.querySelectorAll("[data-age]")) {
    const seconds = Math.round(Number(place.dataset.age) + (Date.now() - drawn) / 1000);
    place.textContent = seconds < 60 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
  }
}

// Who works with the keyboard stays where they are: by id, by address, or by place.
function focusedPlace() {
  const now = document.activeElement;
  if (!region().contains(now)) return () => null;
  const all = () => [...region().querySelectorAll("a, button, summary, [tabindex]")];
  const place = all().indexOf(now);
  const href = now.getAttribute("href");
  const same = all().filter((part) => part.getAttribute("href") === href).indexOf(now);
  return () => {
    if (now.id) return document.getElementById(now.id);
    if (href) return all().filter((part) => part.getAttribute("href") === href)[same];
    return all()[place];
  };
}

// Live pictures are loaded before their region is shown, so that the wall does not flicker.
async function loaded(next) {
  const pictures = [...next.querySelectorAll(".wall img")].map((picture) => picture.decode());
  const late = new Promise((resolve) => setTimeout(resolve, PICTURE_MS));
  if (pictures.length) await Promise.race([Promise.allSettled(pictures), late]);
}

async function replace(html) {
  const fresh = new DOMParser().parseFromString(html, "text/html");
  const next = fresh.getElementById("live");
  // What is paused is told, and can be changed, outside of the region.
  if (!next || fresh.body.dataset.paused !== document.body.dataset.paused) {
    location.reload();
    return;
  }
  document.adoptNode(next);
  await loaded(next);
  if (isBusy()) {
    etag = null;
    return;
  }
  const focused = focusedPlace();
  const scrolled = [...region().querySelectorAll(".scroll")].map((part) => [part.scrollLeft, part.scrollTop]);
  const folds = [...region().querySelectorAll("details")].map((part) => part.open);
  region().replaceWith(next);
  region().querySelectorAll("details").forEach((part, place) => {
    part.open = folds[place] ?? part.open;
  });
  drawn = Date.now();
  region().querySelectorAll(".scroll").forEach((part, place) => {
    [part.scrollLeft, part.scrollTop] = scrolled[place] || [0, 0];
  });
  focused()?.focus({ preventScroll: true });
  const [menu, shown] = [fresh, document].map((page) => page.querySelector("#menu ul"));
  if (menu.innerHTML !== shown.innerHTML && !shown.contains(document.activeElement)) {
    shown.replaceWith(document.adoptNode(menu));
  }
}

async function refresh() {
  if (document.hidden || isBusy()) return;
  try {
    const headers = etag ? { "If-None-Match": etag } : {};
    const signal = AbortSignal.timeout(ANSWER_MS);
    const answer = await fetch(location.href, { headers, cache: "no-store", redirect: "manual", signal });
    if (answer.type === "opaqueredirect") {
      // Signed out meanwhile, or the job has moved: where to, only a page of its own may see.
      location.reload();
      return;
    }
    if (answer.status === 304 || answer.ok) {
      told = Date.now();
      isAway = false;
    }
    if (answer.ok) {
      etag = answer.headers.get("ETag");
      await replace(await answer.text());
    } else if (answer.status !== 304) {
      isAway = true;
    }
  } catch {
    isAway = true;
  }
}

async function tick() {
  const every = seconds();
  if (every > 0 && Date.now() - told >= every * 1000) await refresh();
  showAge();
  setTimeout(tick, 1000);
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden && seconds() > 0) refresh().then(showAge);
});
if (region()) {
  tick();
  // The age goes on while an answer is waited for: it must never look younger than it is.
  setInterval(showAge, 1000);
}
