"""What can go wrong on the way to a host: one failed check with one plain sentence, and the next host is asked."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from tests.cli.conftest import Site, Watcher


def closes_with_reset(to: socket.socket) -> None:
    to.recv(65536)
    to.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def never_answers(to: socket.socket) -> None:
    while to.recv(65536):
        pass


def never_ends(to: socket.socket) -> None:
    to.recv(65536)
    to.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<h1>endless</h1>")
    while True:
        to.sendall(b"<p>and so on</p>" * 4096)


def ends_early(to: socket.socket) -> None:
    to.recv(65536)
    to.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n<h1>half")


def speaks_something_else(to: socket.socket) -> None:
    to.recv(65536)
    to.sendall(b"220 mail.test ESMTP\r\n\r\n")


@pytest.fixture
def host() -> Iterator[Callable[[Callable[[socket.socket], None]], int]]:
    """Start a host that answers robots.txt with 404 and everything else in its own way; its port."""
    servers: list[socket.socket] = []

    def start(habit: Callable[[socket.socket], None]) -> int:
        server = socket.create_server(("127.0.0.1", 0))
        servers.append(server)
        threading.Thread(target=serve, args=(server, habit), daemon=True).start()
        return int(server.getsockname()[1])

    def serve(server: socket.socket, habit: Callable[[socket.socket], None]) -> None:
        with suppress(OSError):
            while True:
                to, _ = server.accept()
                threading.Thread(target=answer, args=(to, habit), daemon=True).start()

    def answer(to: socket.socket, habit: Callable[[socket.socket], None]) -> None:
        with to, suppress(OSError):
            if b" /robots.txt " in to.recv(65536, socket.MSG_PEEK):
                to.recv(65536)
                to.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            else:
                habit(to)

    yield start
    for server in servers:
        server.shutdown(socket.SHUT_RDWR)
        server.close()


def failure(watcher: Watcher, url: str, more: str = "") -> tuple[str, str]:
    """Kind and sentence of the one failed check of ``url``; a second host is asked all the same."""
    watcher.configure(watcher.config.read_text() + f'[[watch]]\nname = "bad"\nurl = "{url}"\n{more}')
    run = watcher("check", "--json")
    assert (run.code, run.err) == (1, "")
    events = {event["name"]: event for event in run.objects}
    assert {name: event["outcome"] for name, event in events.items()} == {"bad": "error", "good": "first"}
    error = events["bad"]["error"]
    assert error["message"].endswith(".")
    assert "\n" not in error["message"]
    told = watcher("list", "bad").out
    assert "error" in told
    return error["kind"], error["message"]


@pytest.fixture
def good(site: Site, watcher: Watcher) -> None:
    site.pages["/"] = "<h1>Fine</h1>"
    watcher.config.write_text(f'[[watch]]\nname = "good"\nurl = "{site.url("/")}"\n')


@pytest.mark.usefixtures("good")
@pytest.mark.parametrize(
    ("habit", "more", "kind", "words"),
    [
        (closes_with_reset, "", "transient:reset", "broke the connection off"),
        (never_answers, 'timeout = "2s"\n', "transient:timeout", "did not answer in time: the 2 s"),
        (never_ends, 'max_body = "1MiB"\n', "too-large", "over 1 MiB; nothing of it was stored"),
        (ends_early, "", "transient:cut", "is cut short"),
        (speaks_something_else, "", "transient:protocol", "HTTP"),
    ],
)
def test_a_host_that_misbehaves(
    watcher: Watcher,
    host: Callable[[Callable[[socket.socket], None]], int],
    habit: Callable[[socket.socket], None],
    more: str,
    kind: str,
    words: str,
) -> None:
    found, message = failure(watcher, f"http://127.0.0.1:{host(habit)}/page", more)
    assert found == kind
    assert words in message


@pytest.mark.usefixtures("good")
def test_nobody_listens(watcher: Watcher) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    kind, message = failure(watcher, f"http://127.0.0.1:{port}/")
    assert (kind, message) == ("transient:refused", f"127.0.0.1:{port} refuses connections.")


@pytest.mark.usefixtures("good")
def test_a_name_that_leads_nowhere(watcher: Watcher) -> None:
    kind, message = failure(watcher, "http://nowhere.invalid/")
    assert kind == "transient:dns"
    assert "nowhere.invalid" in message


@pytest.mark.usefixtures("good")
def test_no_tls_where_tls_was_asked_for(watcher: Watcher, site: Site) -> None:
    kind, message = failure(watcher, site.url("/").replace("http:", "https:"))
    assert kind == "tls"
    assert "TLS" in message
