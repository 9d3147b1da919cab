"""The page server: it answers only this machine, for any request to its port."""

import http.client
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from gpu_nim.model.errors import FileError
from gpu_nim.render import page_server as module
from gpu_nim.render.page_server import PageServer
from tests.helpers import gpunim, wait_for

PAGE = b"<!doctype html>" + b"a page" * 50_000  # more than a socket's buffers hold


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[PageServer]:
    monkeypatch.setattr(module._Handler, "timeout", 0.5)
    with PageServer((module._ADDRESS, 0), module._Handler) as server:
        server.document = PAGE
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def ask(server: PageServer, method: str = "GET", path: str = "/") -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=30)
    connection.request(method, path)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, dict(answer.getheaders()), body


def test_the_page_is_at_its_address_and_nothing_else_is(server: PageServer) -> None:
    assert server.socket.getsockname()[0] == "127.0.0.1"  # not open to other machines
    status, headers, body = ask(server)
    assert (status, body) == (200, PAGE)
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert ask(server, path="/?nim")[0] == 200
    assert [ask(server, path=path)[::2] for path in ("/favicon.ico", "/../etc/passwd")] == [(404, b"")] * 2
    assert ask(server, "POST")[0] == 501


@pytest.mark.parametrize(
    ("hosts", "answer"),
    [
        *(([host], 200) for host in ("127.0.0.1:{}", "localhost:{}", "LOCALHOST:{}", "[::1]:{}", "localhost", "127.0.0.1:9000")),
        *(
            ([host], 421)
            for host in ("elsewhere.example:{}", "127.0.0.1.elsewhere.example", "localhost@elsewhere", "", "0.0.0.0:{}")
        ),
        ([], 421),
        (["localhost", "localhost"], 421),
    ],
)
def test_only_a_request_to_this_machine_is_answered_at_any_port(server: PageServer, hosts: list[str], answer: int) -> None:
    lines = "".join(f"Host: {host}\r\n" for host in hosts).format(server.server_address[1])
    with socket.create_connection(server.server_address, timeout=30) as connection:
        connection.sendall(f"GET / HTTP/1.0\r\n{lines}\r\n".encode())
        head, _, body = connection.makefile("rb").read().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.0 %d " % answer)
    assert body == (PAGE if answer == 200 else b"")


def reset(connection: socket.socket) -> None:
    """End a connection with a reset, as a browser that is closed in the middle."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"])
def test_a_reset_connection_is_passed_over(server: PageServer, sent: bytes, capfd: pytest.CaptureFixture[str]) -> None:
    for _ in range(5):
        connection = socket.create_connection(server.server_address, timeout=30)
        connection.sendall(sent)
        reset(connection)
    assert ask(server)[0] == 200
    server.shutdown()  # all threads have a moment to say what they have to say
    for thread in threading.enumerate():
        if "process_request" in thread.name:
            thread.join(30)
    assert capfd.readouterr() == ("", "")


def test_a_defect_of_the_server_is_not_passed_over(server: PageServer, monkeypatch: pytest.MonkeyPatch, capfd) -> None:
    def broken(self: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(module._Handler, "do_GET", broken)
    with pytest.raises(http.client.RemoteDisconnected):
        ask(server)
    server.shutdown()
    assert "ZeroDivisionError" in capfd.readouterr().err


def test_a_taken_port_is_one_sentence(server: PageServer) -> None:
    taken = server.server_address[1]
    with pytest.raises(FileError, match=f"^cannot serve on port {taken}: Address already in use$"):
        module.serve(pytest.fail, taken, print)


@pytest.mark.parametrize("opens", [True, False])
def test_the_page_opens_in_the_browser_where_there_is_one(opens: bool, tmp_path: Path) -> None:
    """The browser is a program that takes what is at its address, and does not end: it is not waited for."""
    browser, seen = tmp_path / "browser", tmp_path / "seen"
    take = "import sys, urllib.request; print(sys.argv[1], urllib.request.urlopen(sys.argv[1]).read().decode())"
    browser.write_text(f'#!/bin/sh\n"{sys.executable}" -c "{take}" "$1" > "{seen}.part"\nmv "{seen}.part" "{seen}"\nsleep 60\n')
    browser.chmod(0o700)
    environment = {name: value for name, value in os.environ.items() if name not in module._SCREENS}
    environment |= {"PYTHONUNBUFFERED": "1", **({"BROWSER": str(browser)} if opens else {"PATH": str(tmp_path)})}
    if not opens:
        browser.rename(tmp_path / "w3m")  # a browser of text that Python knows
    command = gpunim("show", "nim:3", "--port", "0")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True) as server:
        try:
            assert server.stdout is not None
            address, said = server.stdout.readline().split(maxsplit=1)
            assert said == "(Ctrl-C to stop)\n"
            if opens:
                wait_for(seen.exists, "the browser")
                assert seen.read_text().startswith(f"{address} <!doctype html>")
            else:
                with urllib.request.urlopen(address) as answer:
                    assert answer.read().startswith(b"<!doctype html>")
                assert not [*tmp_path.glob("seen*")]
            server.send_signal(signal.SIGINT)
            assert server.wait(30) == 0
        finally:
            with suppress(ProcessLookupError):  # the browser may be left
                os.killpg(server.pid, signal.SIGKILL)
