"""One watch in full."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from watcher.cli import words
from watcher.cli.compose import Known
from watcher.cli.errors import FINE
from watcher.cli.listing import as_json
from watcher.cli.out import Out, clean, one_line, rfc3339, span, when
from watcher.cli.times import parse_time
from watcher.core.diff import show as show_value
from watcher.core.history import Known as Knowledge
from watcher.core.model import Finding, Record, Watch
from watcher.core.state import HostState, UrlState


def show(out: Out, known: Known, name: str) -> None:
    """Print the watch called ``name``: configured, stored, or both."""
    watch, state = known.reader.watch(name), known.store.state(name)
    host = known.reader.host(state.effective_url or state.url if state else watch.url if watch else "")
    if out.json:
        out.record(_json(known, name, watch, state, host))
        return
    out.line(out.paint(one_line(name), "bold"))
    pairs = [*_configured(watch), *_stored(known, name, watch, state), *_host(host, known.now)]
    _pairs(out, pairs)
    findings = [*(state.findings if state else ()), *(host.findings if host else ())]
    if findings:
        out.line("\nFOUND OUT")
        for finding in findings:
            out.line(f"  {_finding(finding)}")
    if state is not None and state.record is not None:
        out.line("\nRECORD")
        print_record(out, state.record)


def show_as_of(out: Out, known: Known, name: str, text: str) -> int:
    """Print what was known of ``name`` at the time ``text``."""
    at = parse_time(text, known.now)
    found = known.store.as_of(name, at)
    version = found.version
    if out.json:
        out.record(
            {
                "name": name,
                "at": rfc3339(at),
                "known": found.known,
                "unchanged_since": rfc3339(found.unchanged_since),
                "confirmed_at": rfc3339(found.confirmed_at),
                "record": version.record.values if version and version.record else None,
            }
        )
        return FINE
    out.line(f"{out.paint(one_line(name), 'bold')} as of {when(at)}")
    if found.known is Knowledge.UNKNOWN or version is None:
        out.line("  nothing was known yet")
        return FINE
    if found.known is Knowledge.GONE:
        out.line(f"  gone since {when(version.at)}; the last record was:")
    else:
        confirmed = f", last confirmed {when(found.confirmed_at)}" if found.confirmed_at else ""
        out.line(f"  unchanged since {when(found.unchanged_since)}{confirmed}")
    if version.record is not None:
        out.line()
        print_record(out, version.record)
    return FINE


def print_record(out: Out, record: Record) -> None:
    """Print the fields of a record, multi-line values indented."""
    columns = max((len(name) for name in record.values), default=0)
    for name, value in record.values.items():
        shown = "\n".join(show_value(item) for item in value) if isinstance(value, list) else show_value(value)
        lines = clean(shown).splitlines() or [""]
        marks = [
            mark for mark, names in (("untracked", record.untracked), ("personal", record.personal)) if name in names
        ]
        tail = f"  ({', '.join(marks)})" if marks else ""
        out.line(f"  {clean(name):<{columns}}  {lines[0]}{tail}")
        for line in lines[1:]:
            out.line(f"  {'':<{columns}}  {line}")
    for note in record.notes:
        out.line(f"  {out.paint(one_line(note), 'dim')}")


def _pairs(out: Out, pairs: Iterable[tuple[str, str]]) -> None:
    for label, text in pairs:
        out.line(f"  {label:<12}{one_line(text)}")


def _configured(watch: Watch | None) -> Iterable[tuple[str, str]]:
    if watch is None:
        yield "configured", "no longer; its history is kept until `watcher forget`"
        return
    yield "url", watch.url
    yield "type", watch.type + (f", tagged {', '.join(watch.tags)}" if watch.tags else "")
    cadence = watch.cadence
    bounds = f"{span(cadence.minimum)} to {span(cadence.maximum)}"
    yield "schedule", f"{cadence.policy.value}, {cadence.cron}" if cadence.cron else f"{cadence.policy.value}, {bounds}"
    if watch.notify_when:
        yield "notify when", watch.notify_when
    yield "declared", f"{watch.declared_in}:{watch.declared_line}"


def _stored(known: Known, name: str, watch: Watch | None, state: UrlState | None) -> Iterable[tuple[str, str]]:
    summary = known.reader.summary(name)
    if state is None or summary is None:
        yield "last", "never checked"
        return
    if watch is None or state.url != watch.url:
        yield "stored url", state.url
    if state.effective_url and state.effective_url != state.url:
        yield "leads to", state.effective_url
    code = f", HTTP {state.http_status}" if state.http_status else ""
    yield "last", f"{words.last(summary)}{code}, {when(state.last_fetched_at)}"
    if state.failure is not None:
        yield "trouble", f"{state.failure.message} ({state.failure.kind}, {state.failures} in a row)"
    yield "first seen", when(state.first_seen)
    yield "last seen", when(state.last_seen)
    yield "changed", when(state.last_changed_at)
    yield "every", f"{span(state.check_interval)}, {words.streak(summary)} in a row"
    if state.next_check_at is not None and not state.paused:
        yield "next check", f"{when(state.next_check_at)}: {state.reason or 'not checked yet'}"
    validators = state.validators
    for label, text in (("etag", validators.etag), ("modified", validators.last_modified)):
        if text is not None:
            yield label, f"{text} ({validators.trust.value})"


def _host(host: HostState | None, now: float) -> Iterable[tuple[str, str]]:
    if host is None:
        return
    yield "host", host.key
    if host.not_before_at > now:
        yield "", f"asked us to wait until {when(host.not_before_at)}: {host.not_before_reason}"
    if host.crawl_delay is not None:
        yield "", f"crawl-delay {span(host.crawl_delay)}"
    if host.robots_fetched_at is not None:
        yield "robots.txt", f"HTTP {host.robots_status}, {when(host.robots_fetched_at)}"


def _finding(finding: Finding) -> str:
    evidence = f" ({finding.evidence})" if finding.evidence else ""
    return one_line(f"{finding.kind} since {when(finding.since_at)}: {finding.reason}{evidence}")


def _json(
    known: Known, name: str, watch: Watch | None, state: UrlState | None, host: HostState | None
) -> dict[str, Any]:
    summary = known.reader.summary(name)
    found: dict[str, Any] = as_json(watch, summary) if watch and summary else {"name": name}
    found["configured"] = watch is not None
    if watch is not None:
        found["cadence"] = msgspec.to_builtins(watch.cadence)
        found["declared"] = {"file": watch.declared_in, "line": watch.declared_line}
    if state is not None:
        found |= {
            "first_seen": rfc3339(state.first_seen),
            "last_seen": rfc3339(state.last_seen),
            "reason": state.reason,
            "failure": state.failure,
            "validators": {
                "etag": state.validators.etag,
                "last_modified": state.validators.last_modified,
                "trust": state.validators.trust,
            },
            "findings": state.findings,
            "record": state.record.values if state.record else None,
        }
    found["host"] = host
    return found
