"""What a replay of the archive found, against the archive's own labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.replay.archive import ArchivedPage
from watcher.core.model import Outcome
from watcher.engine.events import Checked

SEEN = (Outcome.NOT_MODIFIED, Outcome.UNCHANGED, Outcome.CHANGED, Outcome.FIRST, Outcome.REDEFINED, Outcome.RETURNED)


@dataclass
class Tally:
    """One page's checks. A labelled change is *found* when the next successful check after it says ``changed``.

    Between two checks several labelled changes are one; those that a later snapshot took back before anybody looked
    count as found when the check says ``changed``, and as ``unseen`` when it rightly does not; those that coincide with
    a new declaration of the region are ``redefined``. ``unlabelled`` counts ``changed`` checks without a labelled
    change (or an unknown label) since the check before: false alarms, or changes that the archive did not record.
    """

    page: ArchivedPage
    outcomes: Counter[str] = field(default_factory=Counter)
    labels: int = 0
    found: int = 0
    missed: int = 0
    unseen: int = 0
    unlabelled: int = 0
    redefined: int = 0
    looked_at: float | None = None
    pending: int = 0

    def add(self, event: Checked) -> None:
        """Count one check."""
        check = event.check
        self.outcomes[check.outcome.value] += 1
        if check.outcome not in SEEN:
            return
        if self.looked_at is not None:
            self._compare(self.looked_at, check.at, check.outcome)
        self.looked_at = check.at

    def _compare(self, before: float, at: float, outcome: Outcome) -> None:
        came = list(self.page.between(before, at))
        labelled = sum(snapshot.changed is True for snapshot in came)
        unknown = any(snapshot.changed is None for snapshot in came)
        self.labels += labelled
        if outcome is Outcome.REDEFINED:
            self.redefined += labelled
        elif outcome is Outcome.CHANGED:
            self.found += labelled
            self.unlabelled += not labelled and not unknown
        elif labelled and self._same_page(before, at):
            self.unseen += labelled
        else:
            self.missed += labelled

    def _same_page(self, before: float, at: float) -> bool:
        """Whether both checks saw the very same bytes: what lay between was taken back."""
        then, now = (self.page.snapshots[self.page.index_at(moment)] for moment in (before, at))
        return then.etag == now.etag

    @property
    def checks(self) -> int:
        return sum(self.outcomes.values())


COLUMNS = (
    "checks",
    "304",
    "unchanged",
    "changed",
    "redefined",
    "error",
    "labels",
    "found",
    "missed",
    "unseen",
    "unlabelled",
)


def row(tally: Tally) -> list[int]:
    """The numbers of one page in the order of :data:`COLUMNS`."""
    seen = tally.outcomes
    counted = [tally.checks, seen["not_modified"], seen["unchanged"], seen["changed"], seen["redefined"], seen["error"]]
    return [*counted, tally.labels, tally.found, tally.missed, tally.unseen, tally.unlabelled]


def table(tallies: Iterable[Tally]) -> str:
    """Per page and in all, as text."""
    rows = [(tally.page.name, row(tally)) for tally in tallies]
    rows.append(("in all", [sum(column) for column in zip(*(numbers for _, numbers in rows), strict=True)]))
    width = max(len(name) for name, _ in rows)
    head = " " * width + "".join(f"{column:>11}" for column in COLUMNS)
    return "\n".join([head, *(f"{name:{width}}" + "".join(f"{n:>11}" for n in numbers) for name, numbers in rows)])
