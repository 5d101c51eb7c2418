"""The detail of one watch as ink: what changed last, why it is checked when, how it went, what its host allows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from watcher.core.diff import FieldDiff
from watcher.core.history import Check, Version
from watcher.core.model import Outcome, Watch
from watcher.core.settings import HostSettings
from watcher.core.state import HostState, Summary, UrlState
from watcher.tui import changes, graphs
from watcher.tui.ink import Ink, Line, wrap
from watcher.tui.signs import Signs
from watcher.tui.view import address, brief, countdown, due, mood, plural, when

STRIP = 24
"""Outcomes shown of the past."""

Facts = list[tuple[str, str]]


@dataclass(frozen=True, kw_only=True)
class Story:
    """Everything the detail tells of one watch. ``checks`` are oldest first, ``versions`` newest first."""

    name: str
    watch: Watch
    summary: Summary
    state: UrlState | None
    host: HostState | None
    host_settings: HostSettings
    versions: Sequence[Version]
    checks: Sequence[Check]
    running: bool
    now: float

    def lines(self, cells: int, signs: Signs) -> list[Line]:
        """The whole detail, most important first: a small pane shows its beginning."""
        blocks = [self._head(cells, signs), self._change(cells, signs), self._graphs(cells, signs)]
        blocks += [self._record(cells, signs)] if not self._diffs else []
        blocks += [self._host(cells, signs), self._timings(cells, signs)]
        lines: list[Line] = []
        for block in filter(None, blocks):
            lines += [()] if lines else []
            lines += block
        return lines

    @property
    def _last(self) -> tuple[Version, tuple[FieldDiff, ...]] | None:
        return changes.last_change(self.versions)

    @property
    def _diffs(self) -> tuple[FieldDiff, ...]:
        return self._last[1] if self._last else ()

    def _head(self, cells: int, signs: Signs) -> list[Line]:
        summary, dot = self.summary, f" {signs.dot} "
        how = mood(summary, self.running)
        lines = wrap([Ink(f"{signs.moods[how]} ", how.value), Ink(self.name, "strong")], cells, 2)
        if address(self.watch.url) != address(self.name):
            lines += wrap([Ink(address(self.watch.url), "muted")], cells)
        facts = [f"every {brief(summary.check_interval)}", self.watch.type, *self.watch.tags]
        facts += [f"HTTP {summary.http_status}"] if summary.http_status else []
        lines += wrap([Ink(dot.join(facts), "muted")], cells)
        failure = self.state.failure if self.state else None
        if failure is not None:
            style = "error" if summary.failures >= 3 else "backoff"
            lines += wrap([Ink(failure.message, style)], cells)
        return lines + wrap(self._next(signs), cells)

    def _next(self, signs: Signs) -> Line:
        summary, reason = self.summary, self.state.reason if self.state else ""
        if summary.paused:
            return (Ink("paused: space resumes it", "paused"),)
        if summary.next_check_at is None:
            return (Ink("no check planned: ", "muted"), Ink(reason or "r checks it now"))
        if summary.outcome is None:
            return (Ink("not checked yet: due ", "muted"), Ink(due(summary, self.now, signs)))
        return (
            Ink("next ", "muted"),
            Ink("now" if summary.next_check_at <= self.now else f"in {due(summary, self.now, signs)}", "strong"),
            Ink(f": {reason}" if reason else "", "muted"),
        )

    def _change(self, cells: int, signs: Signs) -> list[Line]:
        if self._last is None:
            if self.summary.outcome is None:
                return []
            seen = [v for v in self.versions if v.outcome is Outcome.FIRST]
            since = f" since {when(seen[-1].at, self.now)}" if seen else " yet"
            return [(Ink(f"NO CHANGE{since.upper()}", "head"),)]
        version, diffs = self._last
        verb = "RETURNED" if version.outcome is Outcome.RETURNED else "CHANGED"
        unseen = ": not seen yet" if self.summary.unseen else ""
        title = (Ink(f"{verb} {when(version.at, self.now).upper()}", "head"), Ink(unseen, "changed"))
        return [title, *changes.unified(diffs, cells, signs)]

    def _graphs(self, cells: int, signs: Signs) -> list[Line]:
        checks = [check for check in self.checks if not check.silent]
        if not checks:
            return []
        wide = max(8, min(STRIP, cells - 12))
        recent = checks[-wide:]
        lines: list[Line] = [
            (
                Ink("outcomes  ", "muted"),
                *graphs.strip((c.outcome for c in recent), signs),
                Ink(f"  {len(recent)}", "muted"),
            )
        ]
        spans = [check.interval for check in checks if check.interval > 0]
        if spans:
            ends = f"  {brief(min(spans))}{signs.dash}{brief(max(spans))}"
            lines.append(
                (Ink("interval  ", "muted"), Ink(graphs.intervals(checks, wide, signs), "accent"), Ink(ends, "muted"))
            )
        return lines

    def _record(self, cells: int, signs: Signs) -> list[Line]:
        """What the page says now, where no change has more to tell."""
        record = self.state.record if self.state else None
        if record is None:
            return []
        lines: list[Line] = [(Ink("RECORD", "head"),)]
        for name, value in record.public().items():
            lines += _shown(name, value, cells, signs)
        return lines

    def _host(self, cells: int, signs: Signs) -> list[Line]:
        host, dot = self.host, f" {signs.dot} "
        facts = [f"{brief(self.host_settings.min_gap)} between requests"]
        wait = ""
        if host is not None:
            facts += [f"crawl delay {brief(host.crawl_delay)}"] if host.crawl_delay else []
            facts += [f"{host.spent:,} of {self.host_settings.checks_per_day:,} requests today"]
            facts += [_robots(host)]
            if host.not_before_at > self.now:
                wait = f"asked to wait {countdown(host.not_before_at - self.now)} more: {host.not_before_reason}"
        name = address(self.watch.url).split("/", 1)[0]
        lines = [
            *wrap([Ink("HOST ", "head"), Ink(name)], cells),
            *wrap([Ink(dot.join(facts), "muted")], cells),
        ]
        lines += wrap([Ink(wait, "backoff")], cells) if wait else []
        findings = [*(self.state.findings if self.state else ()), *(host.findings if host else ())]
        for finding in findings:
            lines += wrap([Ink(f"{finding.kind}: ", "accent"), Ink(finding.reason, "muted")], cells, 2)
        return lines

    def _timings(self, cells: int, signs: Signs) -> list[Line]:
        exchanges = [x for check in self.checks[-1:] for x in check.exchanges]
        if not exchanges:
            return []
        last = exchanges[-1]
        parts = [("dns", last.dns), ("connect", last.connect), ("first byte", last.first_byte), ("total", last.total)]
        facts = [f"{name} {seconds * 1000:.0f} ms" for name, seconds in parts if seconds is not None]
        facts += [f"{last.bytes_wire:,} bytes", plural(len(exchanges), "request")]
        facts += [f"asked with {last.conditional}"] if last.conditional else []
        return [(Ink("LAST EXCHANGE", "head"),), *wrap([Ink(f" {signs.dot} ".join(facts), "muted")], cells)]


def _robots(host: HostState) -> str:
    if host.robots_status is None:
        return "robots.txt not asked yet" if not host.robots_failures else "robots.txt cannot be reached"
    return "robots.txt read" if host.robots_status == 200 else f"robots.txt: {host.robots_status}"


def _shown(name: str, value: object, cells: int, signs: Signs) -> Iterable[Line]:
    """One field, at most three lines of it."""
    from watcher.core.diff import show

    if isinstance(value, list):
        lines: list[Line] = [
            (Ink(f"{name}  ", "key"), Ink(plural(len(value), "entry").replace("entrys", "entries"), "muted"))
        ]
        for item in value[:3]:
            lines += wrap([Ink(f"  {signs.dot} {show(item)}")], cells, 4)[:2]
        return lines
    return wrap([Ink(f"{name}  ", "key"), Ink(show(value))], cells, 2)[:3]
