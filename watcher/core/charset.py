"""Bytes to text as browsers do it (WHATWG Encoding and HTML standards): never fails, and says how it decided.

Order: byte order mark, the user's option, the header, ``<meta>`` or XML declaration within the first 1,024
bytes, UTF-8 when the bytes are valid UTF-8, windows-1252. Labels mean what the web means by them:
``iso-8859-1`` is windows-1252, ``shift_jis`` has Windows' extensions, ``gb2312`` is GB 18030.
"""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

PRESCAN = 1024
"""Bytes searched for a declaration (HTML standard, section 13.2.3.2)."""

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16be"), (b"\xff\xfe", "utf-16le"))

_LABELS = """
utf-8: unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf8 x-unicode20utf8
ibm866: 866 cp866 csibm866
iso-8859-2: csisolatin2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2
iso-8859-3: csisolatin3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3
iso-8859-4: csisolatin4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4
iso-8859-5: csisolatincyrillic cyrillic iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988
iso-8859-6: arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6-e iso-8859-6-i iso-ir-127
iso-8859-6: iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987
iso-8859-7: csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 iso8859-7 iso88597 iso_8859-7
iso-8859-7: iso_8859-7:1987 sun_eu_greek
iso-8859-8: csiso88598e csisolatinhebrew hebrew iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8
iso-8859-8: iso_8859-8:1988 visual
iso-8859-8-i: csiso88598i logical
iso-8859-10: csisolatin6 iso-ir-157 iso8859-10 iso885910 l6 latin6
iso-8859-13: iso8859-13 iso885913
iso-8859-14: iso8859-14 iso885914
iso-8859-15: csisolatin9 iso8859-15 iso885915 iso_8859-15 l9
iso-8859-16:
koi8-r: cskoi8r koi koi8 koi8_r
koi8-u: koi8-ru
macintosh: csmacintosh mac x-mac-roman
windows-874: dos-874 iso-8859-11 iso8859-11 iso885911 tis-620
windows-1250: cp1250 x-cp1250
windows-1251: cp1251 x-cp1251
windows-1252: ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591
windows-1252: iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii x-cp1252
windows-1253: cp1253 x-cp1253
windows-1254: cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 x-cp1254
windows-1255: cp1255 x-cp1255
windows-1256: cp1256 x-cp1256
windows-1257: cp1257 x-cp1257
windows-1258: cp1258 x-cp1258
x-mac-cyrillic: x-mac-ukrainian
gbk: chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 iso-ir-58 x-gbk
gb18030:
big5: big5-hkscs cn-big5 csbig5 x-x-big5
euc-jp: cseucpkdfmtjapanese x-euc-jp
iso-2022-jp: csiso2022jp
shift_jis: csshiftjis ms932 ms_kanji shift-jis sjis windows-31j x-sjis
euc-kr: cseuckr csksc56011987 iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949
replacement: csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr
utf-16be: unicodefffe
utf-16le: csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16
x-user-defined:
"""

_CODECS = {
    "ibm866": "cp866",
    "iso-8859-8-i": "iso-8859-8",
    "macintosh": "mac_roman",
    "x-mac-cyrillic": "mac_cyrillic",
    "windows-874": "cp874",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "euc-jp": "euc_jp",
    "iso-2022-jp": "iso2022_jp_ext",
    "shift_jis": "cp932",
    "euc-kr": "cp949",
}

_WS = rb"[\t\n\x0c\r ]"
_MARKUP = re.compile(
    rb"<!--(?:>|->|.*?-->)"
    rb"|<(?P<meta>meta)(?=[\t\n\x0c\r />])"
    rb"|</?[a-z][^\t\n\x0c\r >]*"
    rb"|<[!/?][^>]*>",
    re.DOTALL | re.IGNORECASE,
)
_ATTRIBUTE = re.compile(
    rb"[\t\n\x0c\r /]*([^\t\n\x0c\r />=]+)(?:%b*=%b*(?:\"([^\"]*)\"|'([^']*)'|([^\t\n\x0c\r >]+)))?" % (_WS, _WS)
)
_IN_CONTENT = re.compile(
    rb"charset%b*=%b*(?:\"([^\"]*)\"|'([^']*)'|([^\t\n\x0c\r ;\"'][^\t\n\x0c\r ;]*))" % (_WS, _WS), re.I
)
_XML = re.compile(rb"<\?xml\s[^>]*?encoding\s*=\s*(?:\"([^\">]*)\"|'([^'>]*)')")
_PARAMETER = re.compile(r";[\t ]*charset[\t ]*=[\t ]*(?:\"((?:[^\"\\]|\\.)*)\"|([^;]*))", re.I)
_NOT_MARKUP = re.compile(
    r"text/(?:plain|css|csv|markdown|calendar|javascript)|application/(?:x-)?javascript|.*[/+]json"
)


class Decoded(NamedTuple):
    """A body as text, the encoding's name (WHATWG, lower case), and what named it.

    ``origin``: ``bom``, ``option``, ``header``, ``meta``, ``xml``, ``valid`` (the bytes are valid UTF-8), ``default``.
    """

    text: str
    charset: str
    origin: str


def decode_text(body: bytes, content_type: str | None, override: str | None = None, is_json: bool = False) -> Decoded:
    """Decode ``body``; bytes that mean nothing become U+FFFD. The byte order mark is not part of the text.

    ``override`` is the user's label. JSON is UTF-8 (RFC 8259 section 8.1) unless its bytes are not, and declares
    nothing inside.
    """
    for mark, marked in _BOMS:
        if body.startswith(mark):
            return Decoded(body[len(mark) :].decode(marked, "replace"), marked, "bom")
    if override and (name := encoding_named(override)):
        return Decoded(_decode(body, name), name, "option")
    declared = _from_header(content_type)
    if declared and not is_json:
        return Decoded(_decode(body, declared), declared, "header")
    if not is_json and (found := _from_markup(body[:PRESCAN], content_type)):
        return Decoded(_decode(body, found[0]), *found)
    try:
        return Decoded(body.decode("utf-8"), "utf-8", "valid")
    except UnicodeDecodeError:
        fallback = declared or "windows-1252"
        return Decoded(_decode(body, fallback), fallback, "header" if declared else "default")


def encoding_named(label: str) -> str | None:
    """The encoding a label means (Encoding standard, section 4.2), or None for an unknown label."""
    return _NAMES.get(label.strip("\t\n\x0c\r ").lower())


def _names() -> dict[str, str]:
    found = {}
    for line in _LABELS.split("\n"):
        name, _, labels = line.partition(": ")
        name = name.rstrip(":")
        found.update(dict.fromkeys([name, *labels.split()], name))
    found.pop("")
    return found


_NAMES = _names()


def _from_header(content_type: str | None) -> str | None:
    found = _PARAMETER.search(content_type) if content_type else None
    if found is None:
        return None
    return encoding_named(re.sub(r"\\(.)", r"\1", found[1]) if found[1] is not None else found[2])


def _from_markup(head: bytes, content_type: str | None) -> tuple[str, str] | None:
    media = (content_type or "").partition(";")[0].strip().lower()
    if _NOT_MARKUP.fullmatch(media):
        return None
    if head.startswith((b"<\0?\0x\0", b"\0<\0?\0x")):
        return ("utf-16le" if head[0] else "utf-16be"), "xml"
    if not media.endswith(("/xml", "+xml")) and (name := _from_meta(head)):
        return name, "meta"
    declared = _XML.match(head)
    name = _in_document(declared[1] or declared[2] or b"") if declared else None
    return (name, "xml") if name else None


def _from_meta(head: bytes) -> str | None:
    """The prescan of the HTML standard, section 13.2.3.2."""
    position = 0
    while token := _MARKUP.search(head, position):
        position = token.end()
        if token[0].startswith((b"<!", b"<?")) or token[0].endswith(b">"):
            continue
        attributes: dict[bytes, bytes] = {}
        while attribute := _ATTRIBUTE.match(head, position):
            position = attribute.end()
            value = attribute[2] or attribute[3] or attribute[4] or b""
            attributes.setdefault(attribute[1].lower(), value)
        # A declaration cut by the end of the prescan is not one.
        if token["meta"] and b">" in head[position:] and (name := _declared_by(attributes)):
            return name
    return None


def _declared_by(meta: dict[bytes, bytes]) -> str | None:
    if b"charset" in meta:
        return _in_document(meta[b"charset"])
    if meta.get(b"http-equiv", b"").lower() != b"content-type":
        return None
    found = _IN_CONTENT.search(meta.get(b"content", b""))
    return _in_document(found[1] or found[2] or found[3] or b"") if found else None


def _in_document(label: bytes) -> str | None:
    """A document that could be read as ASCII this far is neither UTF-16 nor x-user-defined, whatever it says."""
    name = encoding_named(label.decode("latin-1"))
    if name in ("utf-16le", "utf-16be"):
        return "utf-8"
    return "windows-1252" if name == "x-user-defined" else name


def _decode(body: bytes, name: str) -> str:
    if name == "replacement":
        return "\ufffd" if body else ""
    if name == "x-user-defined":
        return body.decode("latin-1").translate({byte: 0xF700 + byte for byte in range(0x80, 0x100)})
    if name.startswith("utf-"):
        return body.decode(name, "replace")
    return body.decode(_CODECS.get(name, name), "watcher.whatwg")


def _as_the_web(error: UnicodeError) -> tuple[str, int]:
    """Where Python's tables have holes and the web's do not: C1 controls, and EUC-JP's NEC and IBM rows."""
    assert isinstance(error, UnicodeDecodeError)
    first = error.object[error.start]
    if error.encoding == "charmap":
        return chr(first) if first < 0xA0 else "\ufffd", error.start + 1
    if error.encoding == "euc_jp":
        pair = error.object[error.start : error.start + 2]
        if len(pair) == 2 and min(pair) > 0xA0 and (text := _euc_row(*pair)):
            return text, error.start + 2
    return "\ufffd", error.end


def _euc_row(first: int, second: int) -> str:
    row, cell = first - 0xA1, second - 0xA1
    lead = row // 2 + (0x81 if row < 62 else 0xC1)
    trail = cell + (0x9F if row % 2 else 0x40 if cell < 63 else 0x41)
    return bytes((lead, trail)).decode("cp932", "ignore")


codecs.register_error("watcher.whatwg", _as_the_web)
