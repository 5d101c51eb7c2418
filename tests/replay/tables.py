"""Cases that are tables: rows of input and verdict for one function or kind of answer, known by their shape."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from tests.replay.cases import Case, NotPlayable
from tests.replay.watches import watch_table
from tests.replay.world import World, load_settings
from tests.support.clock import EPOCH
from tests.support.wire import Spec, fill, seconds
from watcher.config import ConfigError
from watcher.core.urls import UrlError, parse_url
from watcher.extract import ExtractError, extract_record
from watcher.fetch.robots import Rules

TOKEN = "watcher"
SEPARATORS = {
    "ja": ".",
    "en": ".",
    "zh": ".",
    "de-ch": ".",
    "de": ",",
    "fr": ",",
    "es": ",",
    "it": ",",
    "nl": ",",
    "sv": ",",
}
PAGE: Spec = {
    "headers": {"Content-Type": "text/html"},
    "body": '<!doctype html><h1>Blue kettle</h1><p class="price">1.00</p>',
}
FIELDS = {"title": {"css": "h1"}, "price": {"css": ".price"}}


async def retry_after(case: Case, root: Path) -> list[str]:
    """Rows of Retry-After values: how far each moves the next request."""
    absent = await _next_after(root / "absent", case, None)
    for number, row in enumerate(case.rows):
        value = row["value"]
        wait = await _next_after(root / str(number), case, value)
        if "next_not_before" in row:
            assert wait >= _after(row["next_not_before"]), f"{value!r}: asked again after {wait} s"
        if "next_not_after" in row:
            assert wait <= _after(row["next_not_after"]) * 1.1 + 1, f"{value!r}: held back for {wait} s"
        if row.get("treated_as") == "absent":
            assert wait == absent, f"{value!r}: {wait} s, without the header {absent} s"
    return []


def _after(told: str) -> float:
    return seconds(told.removeprefix("T"))


async def _next_after(root: Path, case: Case, value: Any) -> float:
    """Seconds from a 429 with this Retry-After to the next request that is allowed."""
    async with World(root) as world:
        setup = case.setup["watch"]
        world.tables = [watch_table("watched", setup["url"], setup, world.server.names)]
        await world.start()
        path = setup["url"]
        world.server.script({path: PAGE})
        await world.check()
        await world.clock.advance(3_600)
        headers = {} if value is None else {"Retry-After": value}
        world.server.script({path: {"status": 429, "headers": headers}})
        (checked,) = await world.check()
        assert checked.check.next_check_at is not None
        return checked.check.next_check_at - checked.check.at


async def robots_statuses(case: Case, root: Path) -> list[str]:
    """Rows of a robots.txt answer and whether the page may then be asked for."""
    for number, (answer, verdict) in enumerate(case.rows):
        async with World(root / str(number)) as world:
            world.tables = [watch_table("watched", "/item", {"fields": FIELDS}, world.server.names)]
            await world.start()
            world.server.script({"/item": PAGE, "/robots.txt": _robots_answer(answer)})
            checked = await world.check()
            found = len(world.server.requests("/item"))
            if verdict.startswith("allowed"):
                assert found == 1, f"robots.txt {answer}: the page was not asked for"
            else:
                assert found == 0, f"robots.txt {answer}: the page was asked for all the same"
                outcome = checked[-1].check.outcome.value if checked else "deferred"
                assert outcome in ("blocked", "deferred"), f"robots.txt {answer}: {outcome}"
    return []


def _robots_answer(told: str) -> Spec:
    found = re.match(r"(\d{3})(.*)", told)
    if found is None:
        raise NotPlayable(f"robots.txt answer {told!r}")
    kind = "text/html" if "html" in found[2] else "text/plain"
    body = "<html><p>Welcome.</p></html>" if "html" in found[2] else ""
    headers = {"Content-Type": kind} | ({"Retry-After": "3600"} if found[1] == "429" else {})
    return {"status": int(found[1]), "headers": headers, "body": body}


async def robots_rules(case: Case, root: Path) -> list[str]:
    """Rows of a path and whether one robots.txt lets it be asked for."""
    text, token = _robots_text(case)
    rules = Rules(text, token)
    for path, verdict in case.rows:
        allowed = rules.allows(parse_url(f"http://h.test{path}"))
        assert allowed == verdict.startswith("yes"), (
            f"{path}: {'allowed' if allowed else 'forbidden'}, told {verdict!r}"
        )
    return []


def _robots_text(case: Case) -> tuple[str, str]:
    if "robots" in case.setup:
        return case.setup["robots"], case.setup.get("product_token", TOKEN)
    quoted = re.search(r"'(.*)'", case.setup.get("told", ""), re.DOTALL)
    if quoted is None:
        raise NotPlayable("the robots.txt of this table is told in prose")
    return quoted[1].replace("\\n", "\n"), TOKEN


async def robots_matching(case: Case, root: Path) -> list[str]:
    """Rows of a rule's path, a URL's path and whether the one matches the other."""
    for rule, path, verdict in case.rows:
        rules = Rules(f"User-agent: *\nDisallow: {rule}\n", TOKEN)
        matched = not rules.allows(parse_url(f"http://h.test{path}"))
        wanted = verdict.startswith("yes")
        assert matched == wanted or "no is tolerated" in verdict, (
            f"{rule} on {path}: matched {matched}, told {verdict!r}"
        )
    return []


async def url_hosts(case: Case, root: Path) -> list[str]:
    """Rows of a URL and its host as used for DNS and the Host header, or ``config error``."""
    for url, verdict in case.rows:
        accepted = verdict if isinstance(verdict, list) else [verdict]
        try:
            found = parse_url(url).host
        except UrlError:
            found = "config error"
        assert any(found == one or one.startswith(f"{found}:") for one in accepted), f"{url}: {found}, told {verdict}"
        if found == "config error":
            _assert_rejected(root, url)
    return []


def _assert_rejected(root: Path, url: str) -> None:
    try:
        load_settings(root, [{"name": "watched", "url": url}])
    except ConfigError as error:
        message = str(error)
    else:
        raise AssertionError(f"{url}: accepted by the configuration")
    assert "url" in message, f"{url}: the message does not name the key: {message}"


async def url_targets(case: Case, root: Path) -> list[str]:
    """Rows of a configured URL and the request target that must be sent for it."""
    for number, (url, verdict) in enumerate(case.rows):
        accepted = [one.split(" ")[0] if one.startswith("/") else one for one in _many(verdict)]
        async with World(root / str(number)) as world:
            world.server.fallback = PAGE
            try:
                world.tables = [{"name": "watched", "url": fill(url, world.server.names, EPOCH), "fields": FIELDS}]
                await world.start()
            except ConfigError:
                assert "config error" in accepted, f"{url!r}: rejected, told {verdict}"
                continue
            await world.check()
            sent = [request.target for request in world.server.log if request.target != "/robots.txt"]
            assert len(sent) == 1, f"{url!r}: sent {sent}"
            assert sent[0] in accepted, f"{url!r}: sent {sent}, told {verdict}"
    return []


def _many(value: Any) -> list[str]:
    return list(value) if isinstance(value, list) else [value]


async def url_pairs(case: Case, root: Path) -> list[str]:
    """Pairs of URLs that are one resource (a warning naming both watches) or two (nothing)."""
    for same, pairs in ((True, case.expect.get("same", [])), (False, case.expect.get("different", []))):
        for one, other in pairs:
            tables = [
                {"name": "one", "url": one, "fields": {"t": "h1"}},
                {"name": "two", "url": other, "fields": {"t": "h1"}},
            ]
            settings = load_settings(root, tables)
            warned = [text for text in settings.warnings if "'one'" in text and "'two'" in text]
            assert bool(warned) == same, f"{one} and {other}: warnings {settings.warnings}"
            assert len(settings.watches) == 2
    return []


async def numbers(case: Case, root: Path) -> list[str]:
    """Rows of a text, a locale and the number it is (or an error)."""
    for text, locale, *verdict in case.rows:
        decimal = SEPARATORS.get(str(locale).lower(), locale if locale in (".", ",") else None)
        if decimal is None:
            raise NotPlayable(f"no decimal separator known for {locale!r}")
        body = f"<p>{text}</p>".encode()
        field = {"css": "p", "type": "number", "decimal": decimal}
        try:
            found = str(extract_record(body, content_type="text/html; charset=utf-8", fields={"n": field}).values["n"])
        except ExtractError:
            found = "error"
        accepted = [one for value in verdict for one in _many(value)]
        assert any(_equal(found, one) for one in accepted), f"{text} ({locale}): {found}, told {accepted}"
    return []


def _equal(found: str, told: str) -> bool:
    from decimal import Decimal, InvalidOperation

    if found == "error":
        return told.startswith("error")
    try:
        return Decimal(found) == Decimal(told)
    except InvalidOperation:
        return False


async def config_texts(case: Case, root: Path) -> list[str]:
    """Configuration texts that must be rejected or warned of, naming lines and names."""
    expect = case.expect
    for key, text in case.setup.items():
        if not key.startswith("toml"):
            continue
        told = expect if key == "toml" else expect.get(key.removeprefix("toml_"), "")
        verdict = f"{told['outcome']}: {told.get('message', '')}" if isinstance(told, dict) else str(told)
        if not verdict:
            raise NotPlayable(f"no verdict for {key}")
        _assert_verdict(root, key, text, verdict)
    return []


def _assert_verdict(root: Path, key: str, text: str, verdict: str) -> None:
    path = root / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    try:
        settings = load_settings(root)
    except ConfigError as error:
        message = str(error)
    else:
        warned = "warned" in verdict and bool(settings.warnings)
        assert warned or verdict.startswith("accepted"), f"{key}: accepted, told {verdict!r}"
        return
    assert verdict.startswith("rejected"), f"{key}: rejected, told {verdict!r}"
    assert "Traceback" not in message
    assert str(path) in message, f"{key}: the message does not name the file: {message}"
    for line in re.findall(r"line (\d+)", verdict):
        assert f"{path}:{line}" in message, f"{key}: line {line} not named in {message}"
    for name in re.findall(r"'([^']+)'", verdict):
        assert name in message, f"{key}: {name!r} not named in {message}"


Handler = Callable[[Case, Path], list[str] | Coroutine[Any, Any, list[str]]]


def handler(case: Case) -> Handler | None:
    """The table handler whose shape this case has, if any."""
    rows, expect, setup = case.rows, case.expect, case.setup
    width = {len(row) for row in rows if isinstance(row, list)}
    if rows and all(isinstance(row, dict) and "value" in row for row in rows) and "watch" in setup:
        return retry_after
    if case.kind == "robots" and width == {2}:
        return robots_statuses if re.match(r"\d{3}", str(rows[0][0])) else robots_rules
    if case.kind == "robots" and width == {3}:
        return robots_matching
    if case.kind == "url" and width == {2}:
        return url_targets if "{host}" in str(rows) else url_hosts
    if case.kind == "url" and ("same" in expect or "different" in expect):
        return url_pairs
    if case.kind == "numbers" and width and min(width) >= 3:
        return numbers
    if case.kind == "config" and any(key.startswith("toml") for key in setup):
        return config_texts
    return None
