"""Who came, and who did not, of all who have a valid ticket."""

from typing import TypedDict

from voelgoed.seating.rules.counts import percent


class CameFigures(TypedDict):
    """Those of `Came`."""

    valid: int
    came: int
    no_shows: int
    no_show_percent: float


def came_figures(valid: int, came: int) -> CameFigures:
    no_shows = valid - came
    return CameFigures(
        valid=valid, came=came, no_shows=no_shows, no_show_percent=percent(no_shows, valid)
    )
