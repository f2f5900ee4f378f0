"""The look of the site: one layout, one style sheet, and drawings made of inline SVG.

Whatever may hold text from elsewhere goes through `escape` where it enters the HTML.
"""

from __future__ import annotations

from html import escape

__all__ = ["badge", "card", "drawing", "escape", "layout"]

_ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E"
    "%3Ccircle cx='16' cy='16' r='16' fill='%23172038'/%3E"
    "%3Cpath d='M21 22a9 9 0 1 1-3-14 7 7 0 1 0 3 14z' fill='%23f5c95a'/%3E%3C/svg%3E"
)

_STYLE = """
:root { --ink:#1c2438; --soft:#66708a; --line:#e3e7f0; --night:#172038; --moon:#f5c95a;
  --accent:#3a5bd9; --good:#1c7c4a; --warn:#9a6200; --bad:#b3261e }
* { box-sizing:border-box }
body { margin:0; background:#f5f6fa; color:var(--ink);
  font:16px/1.55 system-ui,"Segoe UI","DejaVu Sans",Arial,sans-serif }
a { color:var(--accent); text-decoration:none } a:hover { text-decoration:underline }
header { background:var(--night) }
header div { max-width:1040px; margin:auto; padding:16px 24px; display:flex; gap:28px;
  align-items:center }
header a { color:#c9d1e8 } header .brand { color:#fff; font-weight:700; margin-right:auto }
header .brand::before { content:""; display:inline-block; width:14px; height:14px;
  margin-right:10px; border-radius:50%; box-shadow:inset -5px -2px 0 0 var(--moon) }
main { max-width:1040px; margin:0 auto; padding:32px 24px 56px }
h1 { font-size:1.9rem; line-height:1.2; margin:0 0 8px } h2 { margin:36px 0 12px; font-size:1.2rem }
.lead,.meta { color:var(--soft) } .lead { margin:0 0 24px } .meta { font-size:.9rem }
.panel { background:#fff; border:1px solid var(--line); border-radius:14px; padding:28px;
  box-shadow:0 1px 3px #1720380f }
.grid { display:grid; grid-template-columns:repeat(auto-fill,minmax(220px,1fr)); gap:20px }
.card { background:#fff; border:1px solid var(--line); border-radius:14px; overflow:hidden;
  display:block; color:inherit } .card div { padding:14px 18px 18px } .card svg { display:block }
.card strong { display:block; line-height:1.3; margin-bottom:4px }
.product { display:grid; grid-template-columns:1fr 1fr; gap:36px; align-items:center }
.product svg { border-radius:10px } .price { font-size:1.8rem; font-weight:700; margin:12px 0 }
.badge { display:inline-block; padding:2px 10px; border-radius:99px; font-size:.8rem;
  font-weight:600; background:#e9edf7; color:var(--soft) }
.badge.good,.badge.processed,.badge.operational { background:#dff3e7; color:var(--good) }
.badge.slow,.badge.flaky,.badge.blocked,.badge.open,.badge.degraded
  { background:#fdefd0; color:var(--warn) }
.badge.failing,.badge.hanging,.badge.down { background:#fbe1df; color:var(--bad) }
table { width:100%; border-collapse:collapse }
th { text-align:left; font-size:.8rem; color:var(--soft); font-weight:600 }
th,td { padding:10px 12px; border-bottom:1px solid var(--line) } tr:last-child td { border:0 }
td.amount,th.amount { text-align:right; font-variant-numeric:tabular-nums }
dl { display:grid; grid-template-columns:9rem 1fr; gap:8px; margin:0 0 24px } dd { margin:0 }
dt { color:var(--soft) } form.narrow { max-width:360px } label { display:block; margin:0 0 16px }
input { display:block; width:100%; font:inherit; padding:9px 12px; margin-top:4px;
  border:1px solid #c6cde0; border-radius:8px }
button,.button { font:inherit; font-weight:600; color:#fff; background:var(--accent); border:0;
  border-radius:8px; padding:10px 20px; cursor:pointer; display:inline-block }
nav.pages { display:flex; gap:16px; margin-top:28px; align-items:center }
.notice { padding:10px 14px; border-radius:8px; background:#fbe1df; color:var(--bad) }
@media (max-width:640px) { .product { grid-template-columns:1fr } }
"""

_SHAPES = {
    "Lamps": '<path d="M160 70l-50 70h100z"/><path d="M154 140h12v66h-12zM126 206h68v10h-68z"/>',
    "Mugs": '<path d="M112 90h80v100a20 20 0 0 1-20 20h-40a20 20 0 0 1-20-20z"/>'
    '<path d="M192 112h16a22 22 0 0 1 0 60h-16v-14h14a10 10 0 0 0 0-32h-14z"/>',
    "Books": '<path d="M104 84h52v130h-52z"/><path d="M162 98h28v116h-28z" opacity=".7"/>'
    '<path d="M196 78h22v136h-22z" opacity=".85"/>',
    "Clocks": '<path fill-rule="evenodd" d="M160 74a70 70 0 1 1 0 140 70 70 0 0 1 0-140z'
    'M154 96v54l36 24 6-9-30-20V96z"/>',
    "Blankets": '<path d="M92 120h136v26H92z"/><path d="M92 152h136v26H92z" opacity=".8"/>'
    '<path d="M92 184h136v26H92z" opacity=".6"/>',
    "Telescopes": '<path d="M98 138l96-48 16 32-96 48z"/><path d="M154 152h12l34 66h-14l-26-50'
    '-26 50h-14z"/>',
    "Chairs": '<path d="M114 76h92v72h-92z" opacity=".8"/><path d="M104 154h112v18H104z"/>'
    '<path d="M112 172h12v44h-12zM196 172h12v44h-12z"/>',
}


def layout(title: str, main: str, lang: str = "en", scripts: str = "") -> str:
    """Wrap `main`, which is HTML already, in the site's page; `title` is plain text."""
    return f"""<!doctype html>
<html lang="{escape(lang)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<link rel="icon" href="{_ICON}">
<style>{_STYLE}</style>
</head>
<body>
<header><div>
<a class="brand" href="/">The Night Shop</a>
<a href="/products">Catalogue</a> <a href="/orders">Orders</a> <a href="/status">Status</a>
</div></header>
<main>
{main}
</main>
{scripts}
</body>
</html>
"""


def drawing(category: str, hue: int, label: str) -> str:
    """Draw a product's picture; an unknown category gets the plain night sky."""
    stars = "".join(
        f'<circle cx="{(hue * 7 + n * 61) % 320}" cy="{(hue * 3 + n * 37) % 240}" r="{1 + n % 2}"/>'
        for n in range(14)
    )
    return (
        f'<svg viewBox="0 0 320 240" width="100%" role="img" aria-label="{escape(label)}">'
        f'<rect width="320" height="240" fill="hsl({hue} 45% 22%)"/>'
        f'<circle cx="160" cy="146" r="100" fill="hsl({hue} 50% 32%)"/>'
        f'<g fill="#fff" opacity=".55">{stars}</g>'
        f'<g fill="hsl({(hue + 40) % 360} 85% 78%)">{_SHAPES.get(category, "")}</g></svg>'
    )


def badge(text: str, style: str = "") -> str:
    """Show a short word as a coloured pill; `style` names its colour, else the word does."""
    return f'<span class="badge {escape(style or text)}">{escape(text)}</span>'


def card(href: str, picture: str, name: str, note: str) -> str:
    """Make one tile of a grid; `picture` is HTML, the rest is plain text."""
    return (
        f'<a class="card" href="{escape(href)}">{picture}<div><strong>{escape(name)}</strong>'
        f'<span class="meta">{escape(note)}</span></div></a>'
    )
