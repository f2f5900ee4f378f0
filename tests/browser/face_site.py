"""A site that notes what a browser tells of itself: in headers, and to scripts in every place."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from playwright.sync_api import Page

# What a script can ask of a browser; `self` is a window or a worker.
FACTS = """async () => {
  const { userAgent, language, languages, platform, userAgentData: hints } = navigator;
  const wanted = ['fullVersionList', 'platformVersion', 'architecture', 'bitness'];
  const { timeZone, locale } = Intl.DateTimeFormat().resolvedOptions();
  return { userAgent, language, languages: [...languages], platform, timeZone, locale,
           brands: hints.brands, hints: await hints.getHighEntropyValues(wanted) };
}"""
PAGE = f"""<title>Face</title><iframe src="/frame"></iframe><script>
const ask = (target, listen) => new Promise((resolve) => {{
  listen.onmessage = (event) => resolve(event.data);
  target?.postMessage(1);
}});
const facts = {FACTS};
window.told = (async () => {{
  const worker = new Worker('/worker.js');
  const shared = new SharedWorker('/shared.js');
  await navigator.serviceWorker.register('/service.js');
  const service = (await navigator.serviceWorker.ready).active;
  await new Promise((done) => document.readyState === 'complete' ? done() : onload = done);
  return {{
    page: await facts(),
    frame: await frames[0].eval('(' + facts + ')()'),
    worker: await ask(worker, worker),
    service: await ask(service, navigator.serviceWorker),
    shared: await ask(null, shared.port),
    window: {{ screen: [screen.width, screen.height], inner: [innerWidth, innerHeight] }},
  }};
}})();
</script>"""
SCRIPTS = {
    "/worker.js": f"onmessage = async () => postMessage("
    f"await fetch('/by-worker') && await ({FACTS})())",
    "/service.js": f"onmessage = async (e) => e.source.postMessage("
    f"await fetch('/by-service') && await ({FACTS})())",
    "/shared.js": f"onconnect = async (e) => e.ports[0].postMessage("
    f"await fetch('/by-shared') && await ({FACTS})())",
}
HEADERS = ("user-agent", "accept-language", "sec-ch-ua", "sec-ch-ua-full-version-list")


class FaceSite:
    """The running site; `visit` returns all that it was told."""

    def __init__(self) -> None:
        self._told: dict[str, dict[str, str]] = {}
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                site._answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def visit(self, page: Page) -> dict[str, Any]:
        """Open the site; return its requests' headers by path, and what scripts were told."""
        self._told = {}
        page.goto(f"http://127.0.0.1:{self._server.server_port}/")
        told = page.evaluate("window.told")
        with page.expect_popup() as popup:
            page.evaluate("window.open('/popup')")
        popup.value.wait_for_load_state()
        told["popup"] = popup.value.evaluate(FACTS)
        return {"headers": dict(sorted(self._told.items())), "scripts": told}

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self, request: BaseHTTPRequestHandler) -> None:
        if request.path != "/favicon.ico":
            found = {name: request.headers[name] for name in HEADERS if name in request.headers}
            self._told[request.path] = found
        script = SCRIPTS.get(request.path)
        body = (script or (PAGE if request.path == "/" else "<title>-</title>")).encode()
        request.send_response(200)
        request.send_header("Content-Type", "text/javascript" if script else "text/html")
        request.send_header("Accept-CH", "Sec-CH-UA-Full-Version-List")
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)
