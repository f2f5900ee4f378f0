"""A product scraper, from CSV to CSV: one job a line, prices in a file in the morning.

    python examples/demo_site --port 8000 &
    python launcher.py enqueue examples/product_scraper/products.csv --task product \
        --tasks examples/product_scraper/products.py --map sku=Nr --map url=Link --dedupe '{Nr}'
    python launcher.py --workers 2 --tasks examples/product_scraper/products.py
    python launcher.py export --task product --status all -o prices.csv
"""

from dataclasses import dataclass

from nightshift import Fail, Retry, task


@dataclass
class Product:
    sku: str
    url: str


@task("product", timeout=60, max_attempts=3)
def product(page, payload: Product, job):
    response = page.goto(payload.url)
    if response.status == 404:
        raise Fail(f"{payload.sku} is no longer sold")
    if not response.ok:
        raise Retry(f"HTTP {response.status}", after=60)
    job.step("opened")
    stock = page.locator(".stock").inner_text()
    return {
        "sku": payload.sku,
        "name": page.locator("[itemprop=name]").inner_text(),
        "price": float(page.locator("[itemprop=price]").inner_text()),
        "stock": 0 if stock == "Sold out" else int(stock.split()[0]),
    }
