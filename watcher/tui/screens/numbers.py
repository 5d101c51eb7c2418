"""The numbers: what the three layers saved, what it cost in staleness, and when pages change."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable
from itertools import islice

from textual import work
from textual.app import ComposeResult

from watcher.core.history import Check
from watcher.core.simulate.measure import Measured
from watcher.tui import graphs, keys
from watcher.tui.desk import Desk, Room
from watcher.tui.ink import Ink, Line, fit, wrap
from watcher.tui.tally import Group, Tally, Trial, page_of, top
from watcher.tui.view import brief, plural
from watcher.tui.widgets.bars import Bar
from watcher.tui.widgets.lines import Lines

WINDOWS = ((1, "last day"), (7, "last 7 days"), (30, "last 30 days"), (None, "everything stored"))
DAY = 86_400.0
SLICE = 200
"""Checks counted before the screen may paint again."""
ROWS = 8


class NumbersScreen(Room):
    """Counted in slices from the journal; the screen stays alive meanwhile."""

    SCOPES = (keys.NUMBERS, keys.ROWS)
    BINDINGS = keys.bindings(keys.NUMBERS)

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._window = 2
        self._by_host = True
        self._tally: Tally | None = None
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
        watches = {name: watch for name in handle.names() if (watch := handle.watch(name)) is not None}
        tally: Tally | None = None
        checks = handle.checks(since=since)
        counted = 0
        while slice_ := list(islice(checks, SLICE)):
            if tally is None:
                tally = Tally(start=slice_[0].at, end=now, watches=watches)
            for check in slice_:
                tally.add(check)
            counted += len(slice_)
            self._counting = f"counting: {plural(counted, 'check')}"
            self._show()
            await asyncio.sleep(0)
        self._tally, self._counting = tally, ""
        self._show()

    # -- drawing

    def _show(self) -> None:
        dot = f" {self.desk.signs.dot} "
        state = self._simulating or self._counting
        parts: list[Line] = [(Ink("NUMBERS", "strong"),), (Ink(WINDOWS[self._window][1]),)]
        if self._tally is not None:
            total = self._tally.total
            parts += [(Ink(plural(total.checks, "check")),), (Ink(plural(total.changes, "change"), "changed"),)]
            parts += [(Ink(f"{_share(total.failures, total.checks)} errors", "error" if total.failures else "muted"),)]
        self.query_one("#top", Bar).show(parts, (Ink(state, "running"),) if state else (), between=dot)
        self.query_one("#numbers", Lines).write(self._write, home=False)

    def _write(self, cells: int) -> list[Line]:
        tally = self._tally
        if tally is None:
            if self._counting:
                return [(Ink(self._counting, "muted"),)]
            said = "No check is stored for this time. The numbers come with the checks: w takes another window of time."
            return wrap([Ink(said)], cells)
        blocks = [
            self._over_time(tally, cells),
            self._groups(tally, cells),
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
            facts += [f"{_bytes(tally.total.bytes_wire)} received"]
            lines += wrap([Ink(f" {signs.dot} ".join(facts), "muted")], cells)
        return lines

    def _groups(self, tally: Tally, cells: int) -> list[Line]:
        groups = tally.by_host if self._by_host else tally.by_type
        name = "HOST" if self._by_host else "PAGE TYPE"
        wide = max(12, min(56, cells - 46))
        head = f"{fit(name, wide)}{'CHECKS':>9}{'CHANGES':>9}{'304':>8}{'ERRORS':>9}{'BYTES':>10}"
        lines: list[Line] = [(Ink(head[:cells], "head"),)]
        for key, group in top(groups, ROWS, "checks"):
            lines.append(_group_line(fit(key, wide, ellipsis=self.desk.signs.ellipsis), group))
        left = len(groups) - ROWS
        return lines + ([(Ink(f"and {left} more", "muted"),)] if left > 0 else [])

    def _tops(self, tally: Tally, cells: int) -> list[Line]:
        lines: list[Line] = []
        for title, key, style in (("MOST CHANGED", "changes", "changed"), ("MOST FAILED", "failures", "error")):
            found = top(tally.by_watch, 5, key)
            if found:
                lines.append((Ink(title, "head"),))
                for name, group in found:
                    count = f"{getattr(group, key):>6}"
                    lines.append(
                        (Ink(fit(name, min(60, cells - 8), ellipsis=self.desk.signs.ellipsis)), Ink(count, style))
                    )
        return lines

    def _heat(self, tally: Tally, cells: int) -> list[Line]:
        if not tally.total.changes or cells < 54:
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
        self._tally, self._policies = None, []
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


def _group_line(name: str, group: Group) -> Line:
    saved = _share(group.not_modified, group.checks)
    text = f"{group.checks:>9,}{group.changes:>9,}{saved:>8}"
    errors = _share(group.failures, group.checks)
    style = "error" if group.failures else "muted"
    return (Ink(name), Ink(text), Ink(f"{errors:>9}", style), Ink(f"{_bytes(group.bytes_wire):>10}", "muted"))


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "0 %"


def _bytes(count: int) -> str:
    size = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" or size >= 100 else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"
