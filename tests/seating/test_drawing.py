"""Pictures of layouts: everything is on them, whatever it is called and however large it is."""

import re
from io import BytesIO
from uuid import UUID
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from voelgoed.seating.forms.drawing import png, svg
from voelgoed.seating.forms.picture import SEAT_COLOURS, SEAT_RADIUS_PX_MIN, picture
from voelgoed.seating.forms.sheet import SIDE_PX_MAX, Disc, Panel, Picture, Words
from voelgoed.seating.forms.text_form import read_text
from voelgoed.seating.model.layout import LayoutConfig, Point, Seat, Zone
from voelgoed.seating.samples import SAMPLES, sample

SVG = "{http://www.w3.org/2000/svg}"


def layout_of(text: str) -> LayoutConfig:
    config, faults = read_text(text)
    assert config is not None, faults
    return config


def words_on(drawn: Picture) -> list[str]:
    return [shape.text for shape in drawn.shapes if isinstance(shape, Words)]


def seats_on(drawn: Picture) -> list[Disc]:
    return [shape for shape in drawn.shapes if isinstance(shape, Disc) and shape.title]


def panel_of(drawn: Picture, text: str) -> Panel:
    """The last one painted before these words."""
    at = next(i for i, s in enumerate(drawn.shapes) if isinstance(s, Words) and s.text == text)
    return [shape for shape in drawn.shapes[:at] if isinstance(shape, Panel)][-1]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_has_every_seat_within_the_picture_and_apart_from_others(name: str) -> None:
    config = sample(name)
    drawn = picture(config)
    seats = seats_on(drawn)
    assert [seat.title for seat in seats] == [
        seat.seat_id for zone in config.zones for seat in zone.seats
    ]
    for seat in seats:
        assert seat.radius >= SEAT_RADIUS_PX_MIN
        assert seat.radius <= seat.at.x <= drawn.width - seat.radius
        assert seat.radius <= seat.at.y <= drawn.height - seat.radius
    assert max(drawn.width, drawn.height) <= SIDE_PX_MAX


@pytest.mark.parametrize("name", ["theatre", "hall", "festival"])
def test_names_of_zones_and_rows_do_not_cover_seats(name: str) -> None:
    config = sample(name)
    drawn = picture(config)
    seats = np.array([(seat.at.x, seat.at.y) for seat in seats_on(drawn)])
    rows = {seat.row for zone in config.zones for seat in zone.seats if seat.row.isalpha()}
    names = [s for s in drawn.shapes if isinstance(s, Words) and (s.text in rows or "·" in s.text)]
    assert {words.text for words in names} >= rows
    for words in names:
        box = words.box
        inside = (seats > (box.x, box.y)) & (seats < (box.x + box.width, box.y + box.height))
        assert not inside.all(axis=1).any(), words.text


def test_the_festival_says_what_its_areas_are() -> None:
    words = words_on(picture(sample("festival")))
    assert {"Stage", "Pit", "300 standing", "Floor", "400 free seating", "T5"} <= set(words)
    assert {"Orchestra · 300", "VIP Lounge · 50", "Standard 346", "Wheelchair 2"} <= set(words)


def test_seats_have_the_colour_of_their_category() -> None:
    config = layout_of("zone a reserved_seating A\nrow A w1 c2 3 r4 a5")
    fills = [seat.fill for seat in seats_on(picture(config))]
    categories = ("wheelchair", "companion", "standard", "restricted_view", "aisle")
    assert fills == [SEAT_COLOURS[category][0] for category in categories]


def test_an_area_is_where_it_says_and_otherwise_behind_the_seats() -> None:
    text = "zone a reserved_seating A\nrows A-C seats 20\nzone pit ga_standing Pit capacity 9"
    lost, placed = (picture(layout_of(text + more)) for more in ("", " at 0,-9 size 20x6"))
    last_row = max(seat.at.y for seat in seats_on(lost))
    assert panel_of(lost, "Pit").box.y > last_row
    box = panel_of(placed, "Pit").box
    first_row = min(seat.at.y for seat in seats_on(placed))
    assert box.y + box.height < first_row
    assert box.width == pytest.approx(20 / 6 * box.height)


@pytest.mark.parametrize("box", [{"x": "left"}, {"x": 0, "y": 0, "width": -1, "height": 1}, {}])
def test_an_area_that_says_nonsense_about_its_place_is_drawn_all_the_same(box: object) -> None:
    areas = [
        Zone(
            zone_id=UUID(int=number),
            zone_type="ga_seated",
            name=f"Area {number}",
            capacity=5,
            metadata=box,  # pyright: ignore
        )
        for number in range(7)
    ]
    drawn = picture(LayoutConfig(zones=areas))
    boxes = [panel_of(drawn, f"Area {number}").box for number in range(7)]
    assert not any(one.touches(other) for one in boxes for other in boxes if one is not other)


def test_a_stage_among_the_seats_is_an_arena_that_touches_none() -> None:
    drawn = picture(sample("stadium"))
    box = panel_of(drawn, "Arena").box
    seats = np.array([(seat.at.x, seat.at.y) for seat in seats_on(drawn)])
    inside = (seats > (box.x, box.y)) & (seats < (box.x + box.width, box.y + box.height))
    assert not inside.all(axis=1).any()


@pytest.mark.parametrize("name", SAMPLES)
def test_both_painters_paint_the_same_size(name: str) -> None:
    config = sample(name)
    drawn = picture(config)
    image = Image.open(BytesIO(png(config)))
    image.load()
    assert (image.format, image.size) == ("PNG", (drawn.width, drawn.height))
    found = re.search(r'viewBox="0 0 (\d+) (\d+)"', svg(config))
    assert found
    assert (int(found[1]), int(found[2])) == (drawn.width, drawn.height)


def test_the_colours_of_seats_are_on_the_png() -> None:
    config = layout_of("zone a reserved_seating A\nrow A w1 c2 3 r4 a5")
    image = Image.open(BytesIO(png(config))).convert("RGB")
    for seat in seats_on(picture(config)):
        # Off its middle, where the number is.
        pixel = image.getpixel((round(seat.at.x), round(seat.at.y - seat.radius * 0.75)))
        assert isinstance(pixel, tuple)
        assert "#" + "".join(f"{int(part):02x}" for part in pixel) == seat.fill


ANYTHING = st.text(st.characters(exclude_categories=[]), min_size=1, max_size=200)
FAR = st.sampled_from([0.0, 0.001, 1.0, 3.5, 1_000.0, -1_000_000.0, 1_000_000.0])


@settings(max_examples=50)
@given(
    ANYTHING,
    st.lists(st.builds(Point, FAR, FAR), min_size=1),
    st.none() | st.builds(Point, FAR, FAR),
)
def test_whatever_it_is_called_and_wherever_it_is_it_can_be_drawn(
    name: str, points: list[Point], focus: Point | None
) -> None:
    seats = [
        Seat(seat_id=f"{name[:20]}-{number}", row=name[:20], number=number, coordinates=point)
        for number, point in enumerate(points)
    ]
    zones = [
        Zone(zone_id=UUID(int=1), zone_type="reserved_seating", name=name, capacity=1, seats=seats),
        Zone(zone_id=UUID(int=2), zone_type="ga_standing", name=name, capacity=1),
    ]
    config = LayoutConfig(zones=zones, focal_point=focus)
    root = ElementTree.fromstring(svg(config))
    assert len(root.findall(f"{SVG}circle/{SVG}title")) == len(points)
    image = Image.open(BytesIO(png(config)))
    assert max(image.size) <= SIDE_PX_MAX
