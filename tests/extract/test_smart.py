"""The record of a page without fields: what it says for machines, its title, its readable content."""

from __future__ import annotations

from typing import Any

import pytest

from watcher.core.fingerprint import block_hash
from watcher.extract import RULES, ExtractError, extract_record
from watcher.extract.noise import clean_blocks, decode_email

TEXT = "This is a paragraph long enough to be what the page is about, with some words in it."
PAGE = f"""<!doctype html><html><head><title>Lamp | Shop</title>
<meta property="og:title" content="OG lamp"><script type="application/ld+json">
{{"@graph":[{{"@type":"BreadcrumbList","name":"x"}},
{{"@type":"Product","name":"Desk lamp","dateModified":"2026-01-05T10:00:00+01:00",
"offers":{{"@type":"Offer","price":"1299.00","priceCurrency":"EUR","availability":"https://schema.org/InStock"}}}}]}}</script>
<script type="application/ld+json">{{broken</script></head><body>
<nav><a href="/a">Menu</a></nav><header>Top banner</header>
<main><h1>Desk lamp</h1><p>{TEXT}</p><p>{TEXT} Twice. <a href="/terms">Terms</a></p><button>Buy</button>
<h2><button>Question?</button></h2><p>3 people are viewing this</p><p>Posted 2 hours ago by Ann</p></main>
<footer>© 2026 Shop</footer></body></html>"""


def smart(page: str | bytes, content_type: str | None = "text/html", **options: Any) -> dict[str, Any]:
    body = page if isinstance(page, bytes) else page.encode()
    return extract_record(body, content_type=content_type, url="https://shop.example/lamp", **options).values


def fingerprint(page: str, **options: Any) -> str:
    return extract_record(page.encode(), content_type="text/html", url="https://shop.example/", **options).fingerprint


def test_machine_readable_statements_come_first() -> None:
    assert smart(PAGE) == {
        "title": "Desk lamp",
        "price": {"minor": 129900, "currency": "EUR"},
        "availability": "InStock",
        "modified": "2026-01-05T09:00:00Z",
        "content": [
            "# Desk lamp",
            TEXT,
            f"{TEXT} Twice. [Terms](/terms)",
            "## Question?",
            "Posted by Ann",
        ],
    }


def test_a_modification_date_alone_is_no_change() -> None:
    assert fingerprint(PAGE) == fingerprint(PAGE.replace("10:00:00+01:00", "11:00:00+01:00"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("1299.00", "1199.00"),
        ("InStock", "OutOfStock"),
        ('"name":"Desk lamp"', '"name":"Desk lamp 2"'),
        (f"<p>{TEXT}</p>", f"<p>{TEXT} More.</p>"),
        ('href="/terms"', 'href="/conditions"'),
        ("<p>This", "<p><b>This</b>"),
    ],
)
def test_what_a_person_would_call_a_change_is_one(old: str, new: str) -> None:
    assert old in PAGE
    assert fingerprint(PAGE) != fingerprint(PAGE.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Menu", "Other menu"),
        ("Top banner", "Sale!"),
        ("© 2026", "© 2027"),
        ("3 people are", "41 people are"),
        ("2 hours ago", "3 hours ago"),
        ("Buy", "Add to cart"),
        ("/terms", "/terms?utm_source=x&PHPSESSID=8f3a"),
        ("<p>", "<p class=x>"),
        (">Menu<", "><script>n=1</script>Menu<"),
    ],
)
def test_noise_is_none(old: str, new: str) -> None:
    assert old in PAGE
    assert fingerprint(PAGE) == fingerprint(PAGE.replace(old, new))


def test_microdata_and_opengraph_serve_where_there_is_no_json_ld() -> None:
    micro = (
        '<div itemscope itemtype="https://schema.org/Product"><h1 itemprop=name>Lamp</h1><div itemprop=offers itemscope'
        ' itemtype="https://schema.org/Offer"><meta itemprop=price content="19.5"><meta itemprop=priceCurrency'
        ' content=EUR><link itemprop=availability href="https://schema.org/SoldOut"></div></div>'
    )
    values = smart(f"{micro}<p>{TEXT}</p>")
    assert (values["title"], values["price"], values["availability"]) == (
        "Lamp",
        {"minor": 1950, "currency": "EUR"},
        "SoldOut",
    )
    graph = '<meta property="og:title" content="L"><meta property="product:price:amount" content="5">'
    values = smart(f"{graph}<meta property='product:price:currency' content='USD'><p>{TEXT}</p>")
    assert (values["title"], values["price"]) == ("L", {"minor": 500, "currency": "USD"})


def test_a_page_that_only_forwards_is_no_content() -> None:
    page = '<meta http-equiv="refresh" content="0; url=/en/"><title>Moved</title><p>You will be redirected'
    with pytest.raises(ExtractError, match="only forwards to /en/"):
        smart(page)


def test_an_empty_shell_is_an_error_and_not_a_change() -> None:
    with pytest.raises(ExtractError, match="holds no readable text"):
        smart("<title>App</title><div id=root></div><script src=app.js></script>")


def test_content_survives_a_suspicious_class_name() -> None:
    page = f'<title>T</title><div class="sidebar layout"><p>{TEXT}</p><p>{TEXT}</p></div><div class="cookie">x</div>'
    assert smart(page)["content"] == [TEXT, TEXT]


def test_a_menu_goes_with_the_heading_that_names_it() -> None:
    menu = '<h3 id="toc">On this page</h3><nav aria-labelledby="toc"><a href="#a">A</a></nav>'
    assert smart(f"<main>{menu}<p>{TEXT}</p></main>")["content"] == [TEXT]
    assert smart(f'<main><h1 id="t">T</h1><nav aria-labelledby="t">x</nav><p>{TEXT}</p></main>')["content"][0] == "# T"


def test_every_rule_can_be_switched_off() -> None:
    page = PAGE.replace("</main>", "<p>page generated in 0.1 s</p><p>mail: &amp;#105;&amp;#x6e;&amp;#102;</p></main>")
    page = page.replace("/terms", "/terms?utm_source=a&sid=1").replace(
        "Twice.", '<a href="/cdn-cgi/l/email-protection#d0b4a0bf90b2a2b5a6bffeb3bfbd">[email protected]</a>'
    )
    page = page.replace("3 people", "© 2026, 3 people")
    block = "m" + block_hash("Posted by Ann")
    plain = fingerprint(page, volatile=[block])
    for rule in RULES:
        assert fingerprint(page, volatile=[block], disabled_rules=[rule.name]) != plain, rule.name


def test_every_rule_says_what_it_does_and_why() -> None:
    for rule in RULES:
        assert rule.what
        assert rule.evidence
    assert len({rule.name for rule in RULES}) == len(RULES)


def obfuscated(address: str, key: int) -> str:
    return bytes([key, *(byte ^ key for byte in address.encode())]).hex()


def test_protected_addresses_are_decoded_whatever_the_key() -> None:
    assert decode_email(obfuscated("dpo@shop.example", 0x5A)) == "dpo@shop.example"
    assert decode_email("zz") is None
    assert decode_email("") is None

    def page(key: int, address: str = "dpo@shop.example") -> str:
        code = obfuscated(address, key)
        span = f'<span class=__cf_email__ data-cfemail="{code}">[email&nbsp;protected]</span>'
        link = f'<a href="/cdn-cgi/l/email-protection#{code}">{span}</a>'
        return f"<main><p>{TEXT} {link}</p><p>Or {span}</p></main>"

    assert fingerprint(page(1)) == fingerprint(page(200))
    assert fingerprint(page(1)) != fingerprint(page(1, "new@shop.example"))
    assert smart(page(7))["content"] == [
        f"{TEXT} [[email protected]](mailto:dpo@shop.example)",
        "Or [email protected] <dpo@shop.example>",
    ]


@pytest.mark.parametrize(
    "text",
    ["Open 9:00-17:00", "3 left in stock", "5 min read", "We have 3 hours of video", "Sold on 12 May", "1,234 reviews"],
)
def test_words_that_only_look_like_noise_stay(text: str) -> None:
    assert clean_blocks([text], frozenset(), smart=True) == [text]


def test_long_prose_is_left_alone() -> None:
    prose = f"{TEXT} It happened three years ago, or 3 years ago, and 1,000 views later nothing had changed. {TEXT}"
    assert clean_blocks([prose], frozenset(), smart=True) == [prose]


def test_one_odd_emphasis_changes_one_block_only() -> None:
    rows = "".join(f"<p><strong>Term {i}</strong>. {TEXT}</p>" for i in range(3))
    one = smart(f"<main>{rows}<p><b>(x)</b> y</p></main>")["content"]
    two = smart(f"<main>{rows}<p>z<b>(x)</b>y</p></main>")["content"]
    assert [a == b for a, b in zip(one, two, strict=True)] == [True, True, True, False]
    assert one[0].startswith("**Term 0**. ")


def test_relative_links_are_one_however_they_are_written() -> None:
    def content(href: str, url: str) -> Any:
        page = f'<main><p>{TEXT} <a href="{href}">x</a></p></main>'
        return extract_record(page.encode(), content_type="text/html", url=url).values["content"]

    assert content("/legal/terms/", "https://h.test/legal") == content("legal/terms/", "https://h.test/legal")
    assert content("http://h.test/a", "https://h.test/") != content("https://h.test/a", "https://h.test/")
    assert content("#part", "https://h.test/") == [f"{TEXT} [x](#part)"]


FEED = """<?xml version="1.0" encoding="utf-8"?><rss version="2.0"><channel><title>News</title>
<lastBuildDate>Mon, 05 Jan 2026 10:00:00 GMT</lastBuildDate>
<item><title>Story &amp; more</title><link>/s/31?utm_source=rss</link><guid>https://h.test/posts/31</guid>
<pubDate>Mon, 05 Jan 2026 09:00:00 GMT</pubDate><description>&lt;p&gt;Text&nbsp;here&lt;/p&gt;</description></item>
</channel></rss>"""


@pytest.mark.parametrize("content_type", ["application/rss+xml", "text/xml", "text/html", None])
def test_a_feed_is_its_entries_whatever_its_label(content_type: str | None) -> None:
    assert smart(FEED, content_type) == {
        "title": "News",
        "entries": [
            {
                "title": "Story & more",
                "link": "/s/31",
                "id": "//h.test/posts/31",
                "published": "2026-01-05T09:00:00Z",
                "summary": "Text here",
            }
        ],
    }


def test_a_feeds_build_date_and_the_scheme_of_its_ids_are_no_change() -> None:
    other = FEED.replace("10:00:00 GMT</last", "11:00:00 GMT</last").replace("https://h.test", "http://h.test")
    assert smart(other) == smart(FEED)


def test_atom_keeps_its_links_and_escaped_titles() -> None:
    atom = (
        '<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>F</title><entry><id>i</id>'
        '<link href="/1"/><title>A &lt;b&gt;</title></entry></feed>'
    )
    assert smart(atom)["entries"][0]["link"] == "/1"
    fields = {
        "t": {"xpath": "//*[local-name()='title'][1]"},
        "u": {"xpath": "//*[local-name()='link']", "attr": "href"},
    }
    assert smart(atom, fields=fields)["u"] == "/1"


def test_broken_xml_is_one_sentence() -> None:
    with pytest.raises(ExtractError, match="not well-formed XML: mismatched-tag at line 1"):
        smart("<?xml version='1.0'?><rss><channel></rss>")


def test_plain_text_is_its_lines() -> None:
    assert smart("services:\r\n  app:\r\n\r\n    image: <none>\r\n", "application/octet-stream") == {
        "content": ["services:", "  app:", "    image: <none>"]
    }


def pdf(text: str) -> bytes:
    """The smallest PDF that shows one line of text."""
    stream = f"BT /F1 12 Tf 10 100 Td ({text}) Tj ET"
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        f"<</Length {len(stream)}>>stream\n{stream}\nendstream",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    body, places = "%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(body))
        body += f"{number} 0 obj{content}endobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    trailer = f"trailer<</Size 6/Root 1 0 R>>\nstartxref\n{len(body)}\n%%EOF"
    return f"{body}xref\n0 6\n0000000000 65535 f \n{table}{trailer}".encode()


def test_a_pdf_is_its_text() -> None:
    pytest.importorskip("pypdf", reason="the extra `pdf` is not installed")
    assert smart(pdf("Hello lamp"), "application/octet-stream")["content"] == ["Hello lamp"]


def test_a_broken_pdf_is_one_sentence() -> None:
    pytest.importorskip("pypdf", reason="the extra `pdf` is not installed")
    with pytest.raises(ExtractError, match="not a readable PDF") as caught:
        smart(b"%PDF-1.4\nnothing", "application/pdf")
    assert caught.value.kind == "broken:pdf"
