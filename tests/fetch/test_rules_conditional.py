"""CONDUCT rules 1-20: what a server sees of the conditional layer, one test a rule."""

from __future__ import annotations

import pytest

from tests.fetch.net import DAY, Net, Poller, virtual
from tests.support.badserver import Reply, Seen
from tests.support.badserver.score import score
from watcher.core.freshness import freshness
from watcher.core.lessons import after_200
from watcher.core.model import Detect
from watcher.core.settings import HostSettings
from watcher.core.validators import NOTHING, Conditions, Trust, Validators


@virtual
async def test_rule_1_a_plain_request_carries_little_and_always_the_same(net: Net) -> None:
    for path in ("/ok", "/ok", "/cond/none"):
        await net.visit(path)
    first, second, third = net.seen()
    assert first.headers == second.headers == third.headers
    assert [name for name, _ in first.headers] == [b"Host", b"User-Agent", b"Accept", b"Accept-Encoding"]
    assert first.get(b"user-agent") == b"watcher/0.1.0 (+https://example.org/me)"
    assert first.get(b"accept-encoding") == b"gzip"
    assert {seen.method for seen in net.server.log} == {"GET"}


@virtual
async def test_rule_1_with_a_pause_the_connection_is_given_back(net: Net) -> None:
    for _ in range(2):
        await net.visit("/ok", settings=HostSettings(min_gap=5.0))
    one, two = net.seen()
    assert one.headers == two.headers
    assert one.get(b"connection") == b"close"
    assert one.connection != two.connection


@virtual
async def test_rule_2_the_fragment_stays_at_home(net: Net) -> None:
    response = await net.page("/ok?a=1#part")
    assert net.seen()[-1].target == "/ok?a=1"
    assert "#" not in response.url


@virtual
async def test_rule_3_one_validator_the_etag_first(net: Net) -> None:
    assert await Poller(net, "/cond/both").checks(2) == [{}, {"if-none-match": '"b1"'}]
    assert await Poller(net, "/cond/lm").checks(2) == [{}, {"if-modified-since": "Sun, 13 Sep 2020 13:26:40 GMT"}]


@pytest.mark.parametrize(
    ("path", "tag"),
    [
        ("/cond/weak", 'W/"v1"'),
        ("/cond/unquoted", "abc1"),
        ("/cond/obs-text", '"caf\xfc1"'),
        ("/cond/utf8-etag", '"naïve-日1"'.encode().decode("latin-1")),
        ("/cond/comma-etag", '"a, b1"'),
        ("/cond/empty-etag", '""'),
    ],
)
@virtual
async def test_rule_3_verbatim(net: Net, path: str, tag: str) -> None:
    poller = Poller(net, path)
    assert (await poller.checks(3))[1:] == [{"if-none-match": tag}] * 2
    assert poller.known.trust is Trust.WORKING


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/cond/dup-etag", "etag unusable: several lines differ"),
        ("/cond/blank-etag", "etag unusable: empty"),
        ("/cond/long-etag", "etag unusable: over 1 KiB"),
        ("/cond/future-lm", "last-modified unusable: later than Date"),
        ("/cond/vary-star", "validators unusable: Vary *"),
    ],
)
@virtual
async def test_rule_4_unusable_validators_are_not_sent_and_the_reason_is_told(net: Net, path: str, reason: str) -> None:
    poller = Poller(net, path)
    learned = await poller.check()
    assert reason in learned.flags
    assert (await poller.checks(1)) == [{}]


@virtual
async def test_rule_4_a_date_as_young_as_its_response_proves_nothing(net: Net) -> None:
    net.server.pages["/young"] = lambda seen: Reply(200, [("Last-Modified", net.server.date())], b"x")
    net.server.pages["/tagged"] = lambda seen: Reply(200, [("Last-Modified", net.server.date()), ("ETag", '"t"')], b"x")
    young, tagged = Poller(net, "/young"), Poller(net, "/tagged")
    assert (await young.check()).flags == ("last-modified unusable: as young as the response",)
    assert (await tagged.check()).validators.last_modified is not None


@virtual
async def test_rule_5_byte_exact_mode_sends_strong_tags_only(net: Net) -> None:
    for path, second in (("/cond/strong", {"if-none-match": '"v1"'}), ("/cond/weak", {}), ("/cond/lm", {})):
        assert (await Poller(net, path, detect=Detect.BYTES).checks(2))[1] == second
        assert net.seen(path)[-1].get(b"accept-encoding") == b"identity"


@virtual
async def test_rule_6_a_304_refreshes_date_and_freshness_each_by_itself(net: Net) -> None:
    poller = Poller(net, "/cond/304-update")
    await poller.checks(2)
    assert poller.known.etag == '"u"'
    assert poller.known.last_modified == "Tue, 14 Nov 2023 22:13:22 GMT"
    response = await net.page("/cond/304-update", conditions=((b"If-None-Match", b'"u"'),))
    assert (response.status, freshness(response).lifetime) == (304, 7200)


@virtual
async def test_rule_7_a_304_without_validators_keeps_the_stored_ones(net: Net) -> None:
    assert await Poller(net, "/cond/304-notag").checks(3) == [{}, *[{"if-none-match": '"nt"'}] * 2]


@virtual
async def test_rule_8_a_foreign_304_confirms_nothing_and_the_second_ends_it(net: Net) -> None:
    poller = Poller(net, "/cond/304-newtag")
    await poller.check()
    assert (await poller.check()).verdict == "unproven"
    assert poller.known.etag is None
    assert (await poller.checks(1)) == [{}]
    learned = await poller.check()
    assert (learned.verdict, learned.validators.trust) == ("unproven", Trust.OFF)
    assert [finding.kind for finding in learned.findings] == ["foreign_304"]
    assert await poller.checks(29) == [{}] * 29
    await poller.net.clock.advance(2 * DAY)
    assert (await poller.checks(1)) == [{"if-none-match": '"old"'}]


@pytest.mark.parametrize("form", ['W/"x"', '"x-gzip"', '"x;gzip"', '"x-br"', '"x-zstd"', '"x-df"', 'W/"x-gzip"'])
@virtual
async def test_rule_8_a_tag_changed_by_a_coding_is_still_ours(net: Net, form: str) -> None:
    net.server.pages["/"] = lambda seen: (
        Reply(304, [("ETag", form)]) if seen.conditional else Reply(200, [("ETag", '"x"')])
    )
    poller = Poller(net, "/")
    await poller.check()
    assert (await poller.check()).verdict == "same"
    assert poller.known.etag == '"x"'


@virtual
async def test_rule_8_the_tag_of_a_304_to_a_date_is_ignored(net: Net) -> None:
    date = net.server.modified("x")
    net.server.pages["/"] = lambda seen: (
        Reply(304, [("ETag", '"new"')]) if seen.conditional else Reply(200, [("Last-Modified", date)])
    )
    poller = Poller(net, "/")
    await poller.check()
    assert (await poller.check()).verdict == "same"
    assert poller.known.etag is None


@virtual
async def test_rule_9_a_304_nobody_asked_for(net: Net) -> None:
    poller = Poller(net, "/cond/lie304")
    assert (await poller.check()).verdict == "without-body"
    await poller.check()
    assert net.seen()[-1].get(b"cache-control") == b"no-cache"
    assert not net.seen()[-1].conditional


@virtual
async def test_rule_9_without_the_body_no_condition_is_sent(net: Net) -> None:
    poller = Poller(net, "/cond/strong")
    await poller.check()
    poller.body = None
    assert await poller.checks(1) == [{}]


@virtual
async def test_rule_10_a_304_with_a_body_harms_nobody(net: Net) -> None:
    poller = Poller(net, "/cond/304-body")
    await poller.check()
    assert (await poller.check()).verdict == "same"
    assert (await net.page("/ok")).body == net.server.page("ok")
    assert (await poller.check()).verdict == "same"


@virtual
async def test_rule_11_a_stuck_304_is_found_out(net: Net) -> None:
    poller = Poller(net, "/cond/stuck304")
    sent = await poller.checks(21)
    assert sent[1:] == [{"if-none-match": '"stuck"'}] * 20
    learned = await poller.check()
    assert net.seen()[-1].get(b"cache-control") == b"no-cache"
    assert not net.seen()[-1].conditional
    assert [finding.kind for finding in learned.findings] == ["stuck_304"]
    assert learned.validators.trust is Trust.OFF
    assert await poller.checks(3) == [{}] * 3


@virtual
async def test_rule_11_not_before_a_week(net: Net) -> None:
    poller = Poller(net, "/cond/strong")
    await poller.checks(30, every=3_600.0)
    assert all(seen.conditional for seen in net.seen()[1:])


@virtual
async def test_rule_12_a_validator_that_is_gone_is_forgotten(net: Net) -> None:
    poller = Poller(net, "/cond/tag-removed")
    assert await poller.checks(3) == [{}, {"if-none-match": '"r1"'}, {}]
    assert (poller.known.etag, poller.known.last_modified) == (None, None)


@virtual
async def test_rule_13_an_equal_tag_never_hides_other_bytes_and_two_lies_end_it(net: Net) -> None:
    poller = Poller(net, "/cond/same-tag-new-body")
    await poller.check()
    assert "etag_lies" in (await poller.check()).flags
    learned = await poller.check()
    assert [finding.kind for finding in learned.findings] == ["etag_lies"]
    assert poller.body == b"<p>n=3</p>"
    assert await poller.checks(1) == [{}]


@virtual
async def test_rule_14_two_back_ends_are_listed_together(net: Net) -> None:
    sent = await Poller(net, "/cond/flip").checks(4)
    assert sent[1:3] == [{"if-none-match": '"node-1"'}, {"if-none-match": '"node-0", "node-1"'}]
    assert [seen.status for seen in net.seen()] == [200, 200, 304, 304]


@virtual
async def test_rule_14_the_date_is_tried_alone_before_giving_up(net: Net) -> None:
    poller = Poller(net, "/cond/churn-good-lm")
    sent = await poller.checks(5)
    assert set(sent[3]) == set(sent[4]) == {"if-modified-since"}
    assert poller.known.trust is Trust.WORKING


@virtual
async def test_rule_14_churn_is_found_once_and_tried_again_after_7_14_and_30_days(net: Net) -> None:
    poller = Poller(net, "/cond/churn")
    findings = []
    asked_on = []
    for day in range(70):
        learned = await poller.check()
        findings += learned.findings
        if net.seen()[-1].conditional:
            asked_on.append(day)
        await net.clock.advance(DAY)
    assert [finding.kind for finding in findings] == ["etag_churn"]
    assert findings[0].since_at > 0
    assert findings[0].evidence
    assert asked_on == [1, 2, 3, 10, 24, 54]


@virtual
async def test_rule_14_a_churn_that_ends_is_noticed(net: Net) -> None:
    poller = Poller(net, "/cond/churn-stop/6")
    await poller.checks(12)
    assert poller.known.trust is Trust.WORKING


@pytest.mark.parametrize(
    ("path", "kind"),
    [("/cond/always200", "ignores_conditionals"), ("/cond/churn-old-lm", "lm_churn"), ("/cond/none", "no_validators")],
)
@virtual
async def test_rule_14_other_ways_to_be_deaf(net: Net, path: str, kind: str) -> None:
    poller = Poller(net, path)
    kinds = []
    for _ in range(8):
        kinds += [finding.kind for finding in (await poller.check()).findings]
        await net.clock.advance(3_600)
    assert kinds == [kind]
    assert not net.seen()[-1].conditional


@virtual
async def test_rule_14_five_rewritten_pages_with_the_same_record_churn_too(net: Net) -> None:
    poller = Poller(net, "/cond/noisy")
    poller.record = lambda body: body.partition(b"<!--")[0]
    await poller.checks(6)
    assert (poller.known.trust, poller.known.reason) == (Trust.CHURNING, "etag_churn")


@virtual
async def test_rule_15_weak_and_strong_form_of_one_tag(net: Net) -> None:
    poller = Poller(net, "/cond/weaken")
    await poller.checks(6)
    assert [seen.status for seen in net.seen()] == [200, *[304] * 5]


@virtual
async def test_rule_16_mod_deflate_pair(net: Net) -> None:
    assert (await Poller(net, "/cond/gzip-suffix").checks(4))[2:] == [{"if-none-match": '"x1-gzip", "x1"'}] * 2


@pytest.mark.parametrize(("path", "refused"), [("/cond/412", 1), ("/cond/400", 1), ("/cond/500", 2)])
@virtual
async def test_rule_17_a_site_that_breaks_on_conditions_is_spared_them(net: Net, path: str, refused: int) -> None:
    poller = Poller(net, path)
    for _ in range(refused + 1):
        await poller.check()
    learned = await poller.check()
    assert [finding.kind for finding in learned.findings] == ["conditionals_break"]
    assert [seen.conditional for seen in net.seen()] == [False, *[True] * refused, False]
    assert await poller.checks(5) == [{}] * 5


@pytest.mark.parametrize("path", ["/body/206", "/status/204", "/status/205", "/status/203"])
@virtual
async def test_rule_18_other_successes_are_no_page(net: Net, path: str) -> None:
    response = await net.page(path)
    assert (response.status, response.body) == (int(path[-3:]), b"")


@virtual
async def test_rule_19_what_belongs_to_another_request_is_not_sent(net: Net) -> None:
    poller = Poller(net, "/cond/strong")
    await poller.check()
    poller.key = "other fields"
    assert await poller.checks(2) == [{}, {"if-none-match": '"v1"'}]


@virtual
async def test_rule_19_errors_and_redirects_write_no_validators(net: Net) -> None:
    poller = Poller(net, "/cond/error-with-tag")
    assert await poller.checks(4) == [{}, *[{"if-none-match": '"A"'}] * 3]
    poller = Poller(net, "/redir-tagged")
    await poller.checks(2)
    assert all(not seen.conditional for seen in net.seen("/redir-tagged"))
    assert net.seen("/cond/strong")[-1].get(b"if-none-match") == b'"v1"'


@virtual
async def test_rule_14_a_new_address_is_a_new_start(net: Net) -> None:
    poller = Poller(net, "/cond/churn")
    await poller.checks(4)
    response = await net.page("/cond/strong")
    learned = after_200(
        poller.known, response, same_bytes=False, same_record=False, conditions=NOTHING, now=1.0, key="k"
    )
    assert (learned.validators.trust, learned.validators.etag) == (Trust.UNTESTED, '"v1"')


@virtual
async def test_rule_29_stale_answers_prove_nothing_against_validators(net: Net) -> None:
    def stale(seen: Seen) -> Reply:
        cache = "max-age=1, stale-while-revalidate=60"
        return Reply(200, [("ETag", f'"{seen.nth}"'), ("Age", "50"), ("Cache-Control", cache)], b"x")

    net.server.pages["/"] = stale
    response = await net.page("/")
    assert freshness(response).excused
    known = Validators(etag='"0"', url=response.url, key="k", repeats=2, tags=('"0"',))
    trusts = [
        after_200(
            known,
            response,
            same_bytes=True,
            same_record=True,
            conditions=Conditions(kind="etag"),
            now=1.0,
            key="k",
            counts=counts,
        ).validators.trust
        for counts in (False, True)
    ]
    assert trusts == [Trust.UNTESTED, Trust.CHURNING]


@pytest.mark.parametrize("path", ["/cond/strong", "/cond/weak", "/cond/lm", "/cond/both"])
@virtual
async def test_feed_reader_score_on_honest_paths(net: Net, path: str) -> None:
    poller = Poller(net, path)
    for check in range(12):
        if check in (4, 9):
            net.server.bump(path.rpartition("/")[2])
        await poller.check()
        await net.clock.advance(3_600)
    counts = score(net.server, path)
    assert counts.pop("min_gap") >= 3_600
    assert {name for name, count in counts.items() if count} == {"requests", "current"}
