"""Saltmarsh, a small harbour town: what its pages say at any hour of the demo. Pure; ``hours`` counts from the start.

Every page is a function of the hour alone, so a demo always tells the same story. Besides what moves on purpose
each page carries the noise of real ones: counters, rotating boxes, timestamps.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

STYLE = "body{font:16px/1.5 Georgia,serif;max-width:40em;margin:2em auto}aside{color:#888}"


def at_hour(hours: float, story: Sequence[tuple[float, T]]) -> T:
    """The last entry of ``story`` (hour, value) that has begun; the first one before that."""
    return [value for since, value in story if since <= hours or since == story[0][0]][-1]


def page(title: str, body: str, aside: str = "") -> str:
    """A whole HTML page."""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>'
        f"</head>\n<body>\n<main>\n{body}\n</main>\n<aside>{aside}</aside>\n</body></html>\n"
    )


PRICES = {
    "storm-lantern": ((0, "£48.00"), (30, "£44.00"), (70, "£39.50"), (130, "£42.00"), (220, "£36.00"), (300, "£48.00")),
    "barometer": ((0, "£120.00"),),
    "wool-blanket": ((0, "£65.00"),),
}
STOCK = {
    "storm-lantern": ((0, "In stock"), (130, "In stock, ships Tuesday"), (220, "Last one in this colour")),
    "barometer": ((0, "In stock"), (40, "Only 2 left"), (90, "Sold out"), (210, "In stock")),
    "wool-blanket": ((0, "In stock"),),
}
GOODS = {
    "storm-lantern": ("Storm lantern, tin and glass", "Burns eleven hours on one filling. Windproof to force eight."),
    "barometer": ("Brass barometer", "Hand-set in the workshop behind the chandlery. Falls before you notice."),
    "wool-blanket": ("Wool blanket, undyed", "From the flock on the north marsh. Smells faintly of rain."),
}


def product(name: str, hours: float) -> str:
    """A page of the chandlery's shop: title, price, stock, a rating, and other people looking at it."""
    title, text = GOODS[name]
    viewers = 3 + int(hours * 7) % 11
    body = (
        f"<h1>{title}</h1>\n<p>{text}</p>\n"
        f'<p class="price">{at_hour(hours, PRICES[name])}</p>\n<p class="stock">{at_hour(hours, STOCK[name])}</p>\n'
        f'<p class="rating">4.{6 + int(hours / 150) % 3} of 5</p>'
    )
    return page(title, body, f"{viewers} people are looking at this right now.")


HEADLINES = (
    "Ferry back on its winter timetable",
    "Harbour dredging to begin after the spring tides",
    "Lifeboat crew rescue two from sandbank",
    "Council votes to keep the old lamp on the pier",
    "Record mackerel landed at Saltmarsh quay",
    "New baker on Rope Walk sells out by nine",
    "School children name the town's first electric tug",
    "Fog signal to be tested Thursday at noon",
    "Sailmaker retires after fifty-one years",
    "Seal pup found in the car park is doing well",
    "Museum asks for photographs of the 1953 flood",
    "Night market returns to the fish hall",
    "Chandlery lantern wins a prize in the capital",
    "Lost anchor turns out to be from 1780",
)


def gazette(hours: float) -> str:
    """The Harbour Gazette's front page: five headlines, the newest first; one more every eighteen hours."""
    newest = int(hours / 18)
    shown = [HEADLINES[(newest - i) % len(HEADLINES)] for i in range(5)]
    items = "\n".join(f'<li><a href="/{abs(hash_of(line))}">{line}</a></li>' for line in shown)
    aside = f"Printed at {int(hours) % 24:02d}:{int(hours * 60) % 60:02d}. Advertisement no. {int(hours * 3) % 17}."
    return page("The Harbour Gazette", f"<h1>The Harbour Gazette</h1>\n<ol>\n{items}\n</ol>", aside)


def hash_of(text: str) -> int:
    """A number for a headline's address, the same at every run."""
    return sum((i + 1) * ord(char) for i, char in enumerate(text))


JOBS = (
    ("Deckhand, ferry", "£14.20 an hour"),
    ("Net mender", "£15.00 an hour"),
    ("Lamp keeper, weekends", "£90 a night"),
    ("Baker's second", "£13.80 an hour"),
)


def jobs(hours: float) -> str:
    """The board at the harbour office, as rows; one job is taken and one better paid later."""
    rows = list(JOBS)
    if hours >= 55:
        rows[1] = ("Net mender", "£15.75 an hour")
    if hours >= 160:
        rows.pop(0)
    body = "\n".join(
        f'<tr class="job"><td class="what">{what}</td><td class="pay">{pay}</td></tr>' for what, pay in rows
    )
    return page("Work in the harbour", f"<h1>Work in the harbour</h1>\n<table>\n{body}\n</table>")


NOTICE = (
    "Vessels over twelve metres berth at the north quay. Fresh water is free for the first two hundred litres.",
    "The swing bridge opens at the hours of high water. Call on channel 12 half an hour before.",
    "Speed inside the moles is limited to five knots. Mind the rowing club on Saturday mornings.",
)


def notice(hours: float) -> str:
    """The harbour master's standing notice: prose in which a few words move."""
    one, two, three = NOTICE
    if hours >= 48:
        three = three.replace("five knots", "four knots")
    if hours >= 120:
        two = two.replace("half an hour", "one hour")
    if hours >= 250:
        one = one.replace("two hundred", "three hundred")
    text = "\n".join(f"<p>{part}</p>" for part in (one, two, three))
    return page("Standing notice", f"<article><h1>Standing notice of the harbour master</h1>\n{text}\n</article>")


def tides(hours: float) -> str:
    """The tide table of a host that knows nothing of validators; it is reprinted every six days."""
    week = int(hours / 144)
    first = 5 * 60 + 12 + 47 * week
    times = [f"{(first + 372 * i) // 60 % 24:02d}:{(first + 372 * i) % 60:02d}" for i in range(4)]
    lines = "\n".join(f"<li>{('High', 'Low')[i % 2]} water {time}</li>" for i, time in enumerate(times))
    return page("Tides", f"<h1>Tides at the bar</h1>\n<ul>\n{lines}\n</ul>", f"Served {hours:.3f} hours after opening.")


def library(hours: float) -> str:
    """The reading room's list of new books; it never moves, whatever its server's ETags say."""
    books = ("The Outermost House", "A Sailor's Handbook of Knots", "Tides and the Ocean", "Lighthouse Families")
    lines = "\n".join(f"<li>{book}</li>" for book in books)
    return page("Reading room", f"<h1>New in the reading room</h1>\n<ul>\n{lines}\n</ul>")


def logbook() -> str:
    """A page of 1911 that nobody will ever edit."""
    text = (
        "<p>3 March. Wind SW 9, glass falling. Lamp lit 17:40, trimmed twice. Brig <em>Constance</em> passed inside "
        "the reef with her topmast gone; burned a blue light, answered.</p>\n"
        "<p>4 March. Moderating. Found the kitchen window on the landing, whole.</p>"
    )
    return page("Logbook, March 1911", f"<article><h1>Lighthouse logbook, March 1911</h1>\n{text}\n</article>")


def cafe(hours: float) -> str:
    """The blackboard of a café: everything on the page moves but the soup, which changes every eight days."""
    soup = ("leek and potato", "crab bisque", "pea and mint")[int(hours / 192) % 3]
    clock = f"{int(hours) % 24:02d}:{int(hours * 60) % 60:02d}"
    noise = f'<p class="now">It is {clock}. You are visitor no. {40_211 + int(hours * 31)}.</p>'
    return page(
        "Café Bollard",
        f"<h1>Café Bollard</h1>\n{noise}\n<p>Soup of the week: <b>{soup}</b></p>",
        "☕" * (1 + int(hours) % 5),
    )


def loft() -> str:
    """The flat above the chandlery, while it is to let."""
    body = '<h1>Loft above the chandlery</h1>\n<p class="rent">£640 a month</p>\n<p>Two rooms, one view, no lift.</p>'
    return page("To let", body)


def timetable(hours: float) -> str:
    """The ferry company's JSON: the next crossings, the fare, and a counter nobody asked for."""
    fare = at_hour(hours, ((0, "4.50"), (100, "4.80")))
    sailings = [{"from": "Saltmarsh", "at": time} for time in ("07:10", "09:40", "13:15", "17:50")]
    if hours >= 60:
        sailings.append({"from": "Saltmarsh", "at": "21:05"})
    return json.dumps({"line": "Saltmarsh - Holm", "fare": fare, "sailings": sailings, "hits": int(hours * 100)})


def mast(hours: float) -> str:
    """The weather mast on the mole."""
    wind = ("SW 4", "SW 6", "W 7", "W 5", "NW 3")[int(hours / 60) % 5]
    return page("Weather mast", f'<h1>Weather mast</h1>\n<p class="wind">{wind}</p>', f"Reading no. {int(hours * 60)}")
