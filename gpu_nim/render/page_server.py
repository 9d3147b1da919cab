"""A server of one page, only for browsers on this machine.

The port is open on the loopback address alone, but every page in a browser can send requests there, and a foreign name can be made
to point at it (DNS rebinding).  So only requests with this machine in their Host are answered, and headers forbid other pages to
frame or read the page.
"""

import contextlib
import os
import re
import socketserver
import sys
import webbrowser
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from threading import Thread
from typing import Any

from gpu_nim.model.errors import FileError
from gpu_nim.render.page import Page

_ADDRESS = "127.0.0.1"
_THIS_MACHINE = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:\d+)?", re.I | re.A)  # any port: ssh forwards from another
_PATIENCE = 10.0  # seconds until a silent connection is closed
_SCREENS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")  # variables, of which one is set where a browser is to be opened
_HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    # The contents of the page: one script and one style sheet within it, and the pictures that it saves.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",  # the next page at this port is another one
}


def serve(make: Callable[[], Page], port: int, say: Callable[[str], None]) -> None:
    """Serve a page until interrupted, and open it in the user's browser where there is a display.

    Args:
        make: makes the page, after the port is taken.
        port: the port; 0 for a free one.
        say: called with a line that has the address.

    Raises:
        FileError: the port is taken.
    """
    try:
        server = PageServer((_ADDRESS, port), _Handler)
    except OSError as error:
        raise FileError(f"cannot serve on port {port}: {error.strerror or error}") from error
    with server, contextlib.suppress(KeyboardInterrupt):
        server.document = make().document
        address = f"http://{_ADDRESS}:{server.server_address[1]}/"
        say(f"{address}  (Ctrl-C to stop)")
        # Without a display Python may know a browser of text, which would take the terminal.
        if any(map(os.environ.get, _SCREENS)) or not sys.platform.startswith("linux"):
            Thread(target=webbrowser.open, args=(address,), daemon=True).start()  # some browsers are waited for
        server.serve_forever()


class PageServer(socketserver.ThreadingTCPServer):
    """A port of this machine with a page of HTML."""

    document = b""
    allow_reuse_address = daemon_threads = True
    request_queue_size = 128  # connections that wait

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore connections that the browser closed; report other errors."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: PageServer
    server_version, sys_version = "gpunim", ""
    timeout = _PATIENCE

    def do_GET(self) -> None:
        status, document = HTTPStatus.OK, self.server.document
        hosts = self.headers.get_all("Host", [])
        if len(hosts) != 1 or not _THIS_MACHINE.fullmatch(hosts[0]):
            status, document = HTTPStatus.MISDIRECTED_REQUEST, b""
        elif self.path.partition("?")[0] != "/":
            status, document = HTTPStatus.NOT_FOUND, b""
        self.send_response(status)
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(document)))
        self.end_headers()
        self.wfile.write(document)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""
