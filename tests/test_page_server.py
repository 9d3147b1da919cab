"""The page server: it answers only this machine, for any request to its port."""

import http.client
import socket
import struct
import threading
from collections.abc import Iterator

import pytest

from gpu_nim.model.errors import FileError
from gpu_nim.render import page_server as module
from gpu_nim.render.page_server import PageServer

PAGE = b"<!doctype html>" + b"a page" * 50_000  # more than a socket's buffers hold


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[PageServer]:
    monkeypatch.setattr(module._Handler, "timeout", 0.5)
    with PageServer() as server:
        thread = threading.Thread(target=server.run, args=(PAGE,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def ask(server: PageServer, method: str = "GET", path: str = "/", **headers: str) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=30)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, dict(answer.getheaders()), body


def test_the_page_is_at_its_address_and_nothing_else_is(server: PageServer) -> None:
    assert server.url == f"http://127.0.0.1:{server.server_address[1]}/"
    status, headers, body = ask(server)
    assert (status, body) == (200, PAGE)
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert ask(server, path="/?nim")[0] == 200
    for path in ("/favicon.ico", "/../etc/passwd"):
        status, _, body = ask(server, path=path)
        assert (status, body) == (404, b"")
    assert ask(server, "POST")[0] == 501


def test_head_is_the_same_answer_without_the_page(server: PageServer) -> None:
    status, headers, body = ask(server, "HEAD")
    assert (status, headers["Content-Length"], body) == (200, str(len(PAGE)), b"")
    got = ask(server)[1]
    assert {name: value for name, value in headers.items() if name != "Date"} == {
        name: value for name, value in got.items() if name != "Date"
    }


@pytest.mark.parametrize("host", ["127.0.0.1:{}", "localhost:{}", "LOCALHOST:{}", "[::1]:{}", "localhost", "127.0.0.1:9000"])
def test_a_name_of_this_machine_is_answered_at_any_port(server: PageServer, host: str) -> None:
    assert ask(server, Host=host.format(server.server_address[1]))[0] == 200


@pytest.mark.parametrize("host", ["elsewhere.example:{}", "127.0.0.1.elsewhere.example", "localhost@elsewhere", "", "0.0.0.0:{}"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_request_to_another_name_is_refused(server: PageServer, host: str, method: str) -> None:
    status, _, body = ask(server, method, Host=host.format(server.server_address[1]))
    assert (status, body) == (421, b"")


@pytest.mark.parametrize("lines", [b"", b"Host: localhost\r\nHost: localhost\r\n"])
def test_a_request_must_have_one_host(server: PageServer, lines: bytes) -> None:
    with socket.create_connection(server.server_address, timeout=30) as connection:
        connection.sendall(b"GET / HTTP/1.0\r\n" + lines + b"\r\n")
        answer = connection.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.0 421 ")
    assert not answer.partition(b"\r\n\r\n")[2]


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
    def broken(self: object, *, body: bool) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(module._Handler, "_answer", broken)
    with pytest.raises(http.client.RemoteDisconnected):
        ask(server)
    server.shutdown()
    assert "ZeroDivisionError" in capfd.readouterr().err


def test_silent_connections_take_a_bounded_number_of_threads_and_end(server: PageServer) -> None:
    before = threading.active_count()
    silent = [socket.create_connection(server.server_address, timeout=30) for _ in range(3 * module._THREADS)]
    status, _, body = ask(server)  # after the silent ones before it, which are given up
    assert (status, body) == (200, PAGE)
    assert threading.active_count() - before <= module._THREADS
    for connection in silent:
        connection.close()


def test_a_taken_port_is_one_sentence(server: PageServer) -> None:
    taken = server.server_address[1]
    with pytest.raises(FileError, match=f"^cannot serve on port {taken}: Address already in use$"):
        PageServer(taken)


def test_the_port_is_open_on_this_machine_alone(server: PageServer) -> None:
    assert server.socket.getsockname()[0] == "127.0.0.1"
