"""The numbers: what the three layers saved, what it cost in staleness, and when pages change."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from textual import work
from textual.app import ComposeResult

from watcher.core.history import Check
from watcher.core.metrics import Numbers, Report, measure, trend
from watcher.core.phrase import DAY
from watcher.core.simulate.measure import Measured
from watcher.tui import graphs, keys
from watcher.tui.desk import Desk, Room
from watcher.tui.ink import Ink, Line, fit, wrap
from watcher.tui.tally import Tally, Trial, page_of, top
from watcher.tui.view import brief, plural
from watcher.tui.widgets.bars import Bar
from watcher.tui.widgets.lines import Lines

WINDOWS = ((1, "last day"), (7, "last 7 days"), (30, "last 30 days"), (None, "everything stored"))
SLICE = 200
"""Checks counted before the screen may paint again."""
ROWS = 8
TREND = 12
"""Bars of the small graphs beside the four numbers."""


class NumbersScreen(Room):
    """Counted in slices from the journal; the screen stays alive meanwhile."""

    SCOPES = (keys.NUMBERS, keys.ROWS)
    BINDINGS = keys.bindings(keys.NUMBERS)

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._window = 2
        self._by_host = True
        self._tally: Tally | None = None
        self._report: Report | None = None
        self._trends: list[Numbers] = []
        self._counting = ""
        self._simulating = ""
        self._policies: list[Measured] = []

    def compose(self) -> ComposeResult:
        """Title, numbers, keys."""
        yield Bar(id="top")
        yield Lines(self._write, id="numbers")
        yield self.footer()

    def on_mount(self) -> None:
        """Count."""
        self.query_one("#numbers", Lines).focus()
        self._count()

    @work(group="count", exclusive=True)
    async def _count(self) -> None:
        """Read the checks of the window, a slice at a time."""
        handle = self.desk.handle
        days, _ = WINDOWS[self._window]
        now = handle.now()
        since = None if days is None else now - days * DAY
        tally: Tally | None = None
        checks = handle.checks(since=since)
        counted = 0
        while slice_ := list(islice(checks, SLICE)):
            if tally is None:
                tally = Tally(start=slice_[0].at, end=now)
            for check in slice_:
                tally.add(check)
            counted += len(slice_)
            self._counting = f"counting: {plural(counted, 'check')}"
            self._show()
            await asyncio.sleep(0)
        self._tally, self._report = tally, None
        if tally is not None:
            await self._take_measure(tally)
        self._counting = ""
        self._show()

    async def _take_measure(self, tally: Tally) -> None:
        """The four numbers and how they moved. In a thread: they are taken of all checks at once."""
        handle = self.desk.handle
        watches = {name: watch for name in handle.names() if (watch := handle.watch(name)) is not None}
        start, end = tally.start, tally.end
        self._report = await asyncio.to_thread(measure, tally.kept, watches, start=start, end=end)
        self._trends = await asyncio.to_thread(trend, tally.kept, watches, start=start, end=end, buckets=TREND)

    # -- drawing

    def _show(self) -> None:
        dot = f" {self.desk.signs.dot} "
        state = self._simulating or self._counting
        parts: list[Line] = [(Ink("NUMBERS", "strong"),), (Ink(WINDOWS[self._window][1]),)]
        if self._tally is not None:
            changes, failures = self._tally.changes.total(), self._tally.failures.total()
            parts += [(Ink(plural(len(self._tally.kept), "check")),), (Ink(plural(changes, "change"), "changed"),)]
            parts += [(Ink(f"{failures / len(self._tally.kept):.1%} errors", "error" if failures else "muted"),)]
        self.query_one("#top", Bar).show(parts, (Ink(state, "running"),) if state else (), between=dot)
        self.query_one("#numbers", Lines).write(self._write, home=False)

    def _write(self, cells: int) -> list[Line]:
        tally = self._tally
        if tally is None:
            if self._counting:
                return [(Ink(self._counting, "muted"),)]
            said = "No check is stored for this time. The numbers come with the checks: w takes another window of time."
            return wrap([Ink(said)], cells)
        report = self._report
        blocks = [
            self._four(report, self._trends, cells) if report else [],
            self._over_time(tally, cells),
            self._groups(report, cells) if report else [],
            self._tops(tally, cells),
            self._heat(tally, cells),
            self._simulated(cells),
        ]
        return [line for block in blocks if block for line in (*block, ())]

    def _over_time(self, tally: Tally, cells: int) -> list[Line]:
        signs, wide = self.desk.signs, min(96, cells - 24)
        lines: list[Line] = []
        for word, counts, style in (
            ("checks ", tally.checks_over_time, "accent"),
            ("changes", tally.changes_over_time, "changed"),
        ):
            bars = graphs.resample(tally.over_time(counts), wide)
            most = f"  at most {max(counts.values(), default=0):,} in {brief(tally.width)}"
            lines.append((Ink(f"{word}  ", "muted"), Ink(graphs.sparkline(bars, signs), style), Ink(most, "muted")))
        half, most_ = tally.percentile(0.5), tally.percentile(0.95)
        if half is not None and most_ is not None:
            facts = [f"latency  p50 {half * 1000:.0f} ms  p95 {most_ * 1000:.0f} ms"]
            facts += [f"{_bytes(sum(check.bytes_wire for check in tally.kept))} received"]
            lines += wrap([Ink(f" {signs.dot} ".join(facts), "muted")], cells)
        return lines

    def _four(self, report: Report, trends: Sequence[Numbers], cells: int) -> list[Line]:
        total = report.total
        fresh = brief(total.freshness) if total.freshness is not None else self.desk.signs.dash
        rows = (
            ("bytes saved", _percent(total.bytes_saved), "of fetches were answered 304", "bytes_saved"),
            ("downstream saved", _percent(total.downstream_saved), "of bodies held nothing new", "downstream_saved"),
            ("requests saved", _percent(total.requests_saved), total.counterfactual, "requests_saved"),
            ("freshness", fresh, f"since pages that do change were last seen{_delay(total)}", ""),
        )
        lines: list[Line] = [(Ink("THE FOUR NUMBERS", "head"),)]
        for name, value, meaning, key in rows:
            bars = [max(0.0, getattr(part, key) or 0.0) for part in trends] if key and cells >= 100 else []
            trend_ = Ink(f"{graphs.sparkline(bars, self.desk.signs):<{TREND}}  " if bars else "", "accent")
            gap = Ink(" " * (TREND + 2) if cells >= 100 and not bars else "")
            line = (Ink(f"{name:<18}", "key"), Ink(f"{value:>7}  ", "strong"), trend_, gap, Ink(meaning, "muted"))
            # Beside the number where there is room, else below it.
            lines += wrap(line, cells, 27) if cells >= 60 else [line[:2], *wrap((Ink("  "), line[-1]), cells, 2)]
        return lines

    def _groups(self, report: Report, cells: int) -> list[Line]:
        groups = report.by_host if self._by_host else report.by_type
        signs = self.desk.signs
        columns = [column for column in COLUMNS if cells >= 80 or column[2]]
        wide = max(12, min(48, cells - 10 * len(columns)))
        head = [Ink(fit("HOST" if self._by_host else "PAGE TYPE", wide), "head")]
        lines: list[Line] = [(*head, *(Ink(f"{title:>10}", "head") for title, _, _ in columns))]
        ranked = sorted(groups.items(), key=lambda entry: -entry[1].checks)
        for name, numbers in ranked[:ROWS]:
            values = (
                Ink(f"{show(numbers):>10}", "error" if title == "ERRORS" and numbers.failures else "")
                for title, show, _ in columns
            )
            lines.append((Ink(fit(name, wide, ellipsis=signs.ellipsis)), *values))
        left = len(groups) - ROWS
        return lines + ([(Ink(f"and {left} more", "muted"),)] if left > 0 else [])

    def _tops(self, tally: Tally, cells: int) -> list[Line]:
        lines: list[Line] = []
        for title, counts, style in (
            ("MOST CHANGED", tally.changes, "changed"),
            ("MOST FAILED", tally.failures, "error"),
        ):
            found = top(counts, 5)
            if found:
                lines.append((Ink(title, "head"),))
            for name, count in found:
                shown = fit(name, min(60, cells - 8), ellipsis=self.desk.signs.ellipsis)
                lines.append((Ink(shown), Ink(f"{count:>6}", style)))
        return lines

    def _heat(self, tally: Tally, cells: int) -> list[Line]:
        if not tally.changes or cells < 54:
            return []
        return [(Ink("CHANGES BY HOUR AND WEEKDAY", "head"),), *tally.heat.lines(self.desk.signs)]

    def _simulated(self, cells: int) -> list[Line]:
        if not self._policies:
            key = keys.spelled_for(keys.BY_ID["simulate"], self.desk.keymap)[0]
            return wrap(
                [Ink(key, "key"), Ink(" shows what every policy would have cost on this history", "muted")], cells
            )
        head = f"{'POLICY':<12}{'CHECKS/D':>10}{'STALE':>9}{'DELAY P50':>11}{'P90':>8}{'SEEN':>8}"
        lines: list[Line] = [(Ink(head, "head"),)]
        for row in self._policies:
            delays = [brief(hours * 3600) if hours is not None else "-" for hours in (row.delay_p50_h, row.delay_p90_h)]
            seen = f"{row.captured:.0%}" if row.captured is not None else "-"
            text = f"{row.checks_per_page_day:>10.2f}{row.stale:>9.1%}{delays[0]:>11}{delays[1]:>8}{seen:>8}"
            lines.append((Ink(f"{row.policy:<12}", "key"), Ink(text)))
        pages = plural(self._policies[0].pages, "page")
        note = f"Replayed on {pages} and the changes found here; what nobody saw is in no row."
        return lines + wrap([Ink(note, "muted")], cells)

    # -- keys

    def action_window(self) -> None:
        """Another window of time."""
        self._window = (self._window + 1) % len(WINDOWS)
        self._tally, self._report, self._policies = None, None, []
        self._count()

    def action_group(self) -> None:
        """By host, or by page type."""
        self._by_host = not self._by_host
        self._show()

    @work(group="simulate", exclusive=True)
    async def action_simulate(self) -> None:
        """Replay every policy on what was seen, a page at a time."""
        handle, trial = self.desk.handle, Trial()
        by_name: dict[str, list[Check]] = defaultdict(list)
        for check in await _in_slices(handle.checks()):
            by_name[check.name].append(check)
        signs = self.desk.signs
        for done, (name, checks) in enumerate(by_name.items(), 1):
            watch = handle.watch(name)
            page = page_of(watch, checks, handle.now()) if watch is not None else None
            if watch is not None and page is not None:
                trial.add(page, watch.cadence)
            bar = signs.bars[-1] * (10 * done // len(by_name))
            self._simulating = f"simulating {bar:<10} {done} of {len(by_name)}"
            self._show()
            await asyncio.sleep(0)
        self._simulating, self._policies = "", trial.results()
        self._show()
        if not self._policies:
            self.say("There is no page with a day of history yet.")


async def _in_slices(checks: Iterable[Check]) -> list[Check]:
    """All of ``checks``, without holding the screen up."""
    found: list[Check] = []
    for number, check in enumerate(checks):
        found.append(check)
        if number % SLICE == SLICE - 1:
            await asyncio.sleep(0)
    return found


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"


def _delay(total: Numbers) -> str:
    """How late changes are found, where that can be told."""
    if total.delay is not None:
        return f"; a change is found after {brief(total.delay)}"
    return f"; a change is found within {brief(total.delay_bound)}" if total.delay_bound is not None else ""


def _bytes(count: int) -> str:
    size = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" or size >= 100 else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


COLUMNS: tuple[tuple[str, Callable[[Numbers], str], bool], ...] = (
    ("CHECKS", lambda numbers: f"{numbers.checks:,}", True),
    ("CHANGES", lambda numbers: f"{numbers.changes:,}", True),
    ("304", lambda numbers: _percent(numbers.bytes_saved), True),
    ("SAME BODY", lambda numbers: _percent(numbers.downstream_saved), False),
    ("REQUESTS", lambda numbers: _percent(numbers.requests_saved), False),
    ("FRESH", lambda numbers: brief(numbers.freshness) if numbers.freshness is not None else "-", False),
    ("ERRORS", lambda numbers: f"{numbers.failures:,}", True),
)
"""Title, value, and whether a narrow screen shows it too."""
