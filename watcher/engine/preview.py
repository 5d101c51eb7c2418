"""What a page would be recorded as, before it is watched: for ``watcher test`` and the add screen."""

from __future__ import annotations

from watcher.core.exchange import RequestPlan
from watcher.core.model import Values, Watch
from watcher.core.urls import UrlError, parse_url
from watcher.engine.handle import Preview
from watcher.engine.tools import Tools
from watcher.extract import ExtractError, FieldError, FieldReport, explain, extract_for


async def preview(watch: Watch, tools: Tools) -> Preview:
    """Fetch the page of ``watch`` once, as politely as a check, and read it. Stores nothing, raises nothing."""
    try:
        parse_url(watch.url)
    except UrlError as error:
        return Preview(url=watch.url, record=None, error=str(error))
    known = tools.store.state(watch.name)
    visit = await tools.visit(RequestPlan(url=watch.url, command=watch.command), watch, has_record=False)
    response = visit.response
    if response is None:
        sentence = visit.failure.message if visit.failure else "The host did not answer."
        return Preview(url=watch.url, record=None, error=sentence)
    if response.status != 200:
        return Preview(url=response.url, record=None, error=f"The server answers {response.status}.")
    line = response.header(b"content-type")
    content_type = line.decode("latin-1") if line else None
    volatile = known.volatile if known else ()
    return read_as(watch, response.body, content_type=content_type, url=response.url, volatile=volatile)


def read_as(
    watch: Watch, body: bytes, *, content_type: str | None, url: str, volatile: tuple[str, ...] = ()
) -> Preview:
    """What ``watch`` would make of a body that is already here: a saved page, a file, other fields being tried."""
    try:
        report = explain(
            body,
            content_type=content_type,
            url=url,
            fields=watch.fields,
            encoding=watch.request.encoding,
            remove=watch.remove,
            disabled_rules=watch.disabled_rules,
            volatile=volatile,
            ignore=watch.ignore,
        )
        record = (
            extract_for(watch, body, content_type=content_type, url=url, volatile=volatile) if report.fine else None
        )
    except (ExtractError, FieldError) as error:
        return Preview(url=url, record=None, error=str(error), body=body, content_type=content_type)
    return Preview(
        url=url,
        record=record,
        matches=(*map(_sentence, report.fields), *(f"left out: {text}" for text in report.left_out)),
        error=report.error,
        body=body,
        content_type=content_type,
        suggested_type=_suggested(record.values if record else {}),
    )


def _sentence(field: FieldReport) -> str:
    said = field.error or f"{field.field}: {field.matched} match{'' if field.matched == 1 else 'es'}"
    return "; ".join((said, *field.hints))


def _suggested(values: Values) -> str:
    """The page type that fits a record: a thing with a price is a detail page, many entries are an index."""
    if "price" in values:
        return "detail"
    entries = values.get("entries")
    return "index" if isinstance(entries, list) and entries else "listing"
