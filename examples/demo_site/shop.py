"""The good part of the site: products, the catalogue that lists them, and a service status."""

from __future__ import annotations

from dataclasses import dataclass

from examples.demo_site.exchange import Request, Response, small_number
from examples.demo_site.markup import badge, card, drawing, escape, layout

PRODUCTS_PER_PAGE = 8
SERVICES = ("Storefront", "Payments", "Delivery")

# Each visit of the status page sees the next line, so that a watcher has changes to notice.
_STATUS_BY_VISIT = (
    ("operational", "operational", "operational"),
    ("operational", "degraded", "operational"),
    ("operational", "down", "degraded"),
    ("degraded", "operational", "operational"),
)


@dataclass(frozen=True, slots=True)
class Product:
    """One thing for sale."""

    id: int
    name: str
    category: str
    price_cents: int
    stock: int
    description: str

    @property
    def price(self) -> str:
        return f"{self.price_cents // 100}.{self.price_cents % 100:02d}"

    @property
    def hue(self) -> int:
        return (205 + self.id * 29) % 360


_STOCKLIST = (
    ("Harbour Lantern", "Lamps", 4990, 12, "A storm lantern for desks that never saw the sea."),
    ("Enamel Watch Mug", "Mugs", 1450, 64, "Holds four hours of coffee and two of courage."),
    ("The Long Shift", "Books", 2200, 31, "Twelve stories, each exactly one tea break long."),
    ("Station Clock", "Clocks", 8900, 5, "Loses no second and makes no sound about it."),
    ("Depot Blanket", "Blankets", 5900, 18, "Heavy wool, honest stripes, smells faintly of rain."),
    ("Balcony Refractor", "Telescopes", 18900, 3, "Shows Saturn's rings between two chimneys."),
    ("Porter's Chair", "Chairs", 21500, 2, "A high back against draughts and conversation."),
    ("Reading Owl", "Lamps", 3890, 22, "Turns its head to whichever page you are on."),
    ("Double Espresso & Son", "Mugs", 1890, 40, "Two cups, one handle, a family business."),
    (
        "Field Guide to Silence",
        "Books",
        1750,
        27,
        "How to tell the quiet of 2 a.m. from that of 4.",
    ),
    ("Pocket Hourglass", "Clocks", 1290, 80, "Three minutes of sand for eggs and arguments."),
    ("Picnic Plaid", "Blankets", 3450, 36, "For grass that is still wet when the sun comes up."),
    ('Comet Finder 4"', "Telescopes", 24900, 4, "Wide and bright: sweep the sky, then look twice."),
    ("Folding Stool", "Chairs", 2650, 55, "Weighs less than the book you will read on it."),
    ("Lamp <Zero>", "Lamps", 5600, 9, "Its name is in angle brackets & meant to be."),
    ("Thermal Flask Cup", "Mugs", 2390, 48, "Still warm when the relief arrives."),
    ("Atlas of Night Trains", "Books", 4200, 14, "Every sleeper line from Lisbon to Narvik."),
    ("Twin Alarm", "Clocks", 3300, 25, "The second bell is for those who know themselves."),
    ("Sailor's Throw", "Blankets", 4750, 0, "Knitted ashore, between two voyages."),
    ("Desk Planetarium", "Telescopes", 9900, 11, "Puts the northern sky on any ceiling."),
    ("Rocking Chair No. 9", "Chairs", 17900, 6, "Nine is the one that does not creak."),
    ("Moonrise Bulb", "Lamps", 1590, 90, "Fades in over twenty minutes, like the real thing."),
    ("Night Nurse Mug", "Mugs", 1650, 33, "Can be held with one hand and no attention."),
    ("Letters, Unsent", "Books", 1900, 0, "A blank book with excellent paper."),
    ("Ship's Bell Clock", "Clocks", 12900, 7, "Strikes eight when everybody changes places."),
    ("Weighted Quilt", "Blankets", 8800, 10, "Seven kilograms of not getting up yet."),
    ("Star Diagonal", "Telescopes", 4590, 19, "Spares your neck, keeps the stars upright."),
    ("Window Bench", "Chairs", 14500, 8, "Made for waiting until the snow has stopped."),
)

PRODUCTS = tuple(Product(number, *row) for number, row in enumerate(_STOCKLIST, start=1))


def get(request: Request) -> Response | None:
    """Answer for the catalogue and its products; None if the path is not the shop's."""
    match request.parts:
        case ["products"]:
            return catalogue_page(small_number(request.query.get("page", "1")) or 0)
        case ["products", text]:
            number = small_number(text) or 0
            return product_page(PRODUCTS[number - 1]) if 0 < number <= len(PRODUCTS) else None
    return None


def catalogue_page(number: int) -> Response | None:
    """List one page of the products; None past either end."""
    last = -(-len(PRODUCTS) // PRODUCTS_PER_PAGE)
    if not 1 <= number <= last:
        return None
    start = (number - 1) * PRODUCTS_PER_PAGE
    cards = "\n".join(
        card(
            f"/products/{item.id}",
            drawing(item.category, item.hue, item.name),
            item.name,
            f"{item.category} · € {item.price}",
        )
        for item in PRODUCTS[start : start + PRODUCTS_PER_PAGE]
    )
    earlier = f'<a rel="prev" href="/products?page={number - 1}">← Previous</a>'
    later = f'<a rel="next" href="/products?page={number + 1}">Next →</a>'
    return Response(
        layout(
            f"Catalogue, page {number} of {last} · The Night Shop",
            f'<h1>Catalogue</h1>\n<p class="lead">{len(PRODUCTS)} things for people who are awake'
            f' when others are not.</p>\n<div class="grid">\n{cards}\n</div>\n<nav class="pages">'
            f"{earlier if number > 1 else ''}<span>Page {number} of {last}</span>"
            f"{later if number < last else ''}</nav>",
        )
    )


def product_page(item: Product, delay_seconds: float = 0.0) -> Response:
    """Show one product with everything a scraper would want from it."""
    stock = f"{item.stock} in stock" if item.stock else "Sold out"
    main = f"""<p class="meta"><a href="/products">Catalogue</a> / {escape(item.category)}</p>
<article class="panel product" itemscope itemtype="https://schema.org/Product"
 data-product="{item.id}">
{drawing(item.category, item.hue, item.name)}
<div>
<h1 itemprop="name">{escape(item.name)}</h1>
<p class="description" itemprop="description">{escape(item.description)}</p>
<p class="price">€ <span itemprop="price">{item.price}</span></p>
<p class="stock">{badge(stock, "good" if item.stock else "down")}</p>
<p class="meta">Item no. N-{item.id:04d} · Ships within two nights</p>
</div>
</article>"""
    page = layout(f"{item.name} · The Night Shop", main)
    return Response(page, delay_seconds=delay_seconds)


def status_page(visit: int) -> Response:
    """Show how the shop's services do, as they stood at this visit, counted from 0."""
    states = _STATUS_BY_VISIT[visit % len(_STATUS_BY_VISIT)]
    tiles = "\n".join(
        f'<section class="panel" data-service="{service.lower()}" data-state="{state}">'
        f"<h2 style='margin-top:0'>{service}</h2>{badge(state)}</section>"
        for service, state in zip(SERVICES, states, strict=True)
    )
    is_calm = set(states) == {"operational"}
    lead = "All services are running." if is_calm else "Some services are not at their best."
    return Response(
        layout(
            "Service status · The Night Shop",
            f'<h1>Service status</h1>\n<p class="lead">{lead}</p>\n'
            f'<div class="grid">\n{tiles}\n</div>',
        )
    )
