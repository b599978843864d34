"""Layouts to begin with: three venues as text, and a stadium that is generated."""

from importlib.resources import files

from voelgoed.seating.forms.text_form import read_text
from voelgoed.seating.model.layout import LayoutConfig
from voelgoed.seating.samples.stadium import stadium

SAMPLES = ("theatre", "hall", "festival", "stadium")


def sample(name: str) -> LayoutConfig:
    """One of `SAMPLES`."""
    if name == "stadium":
        return stadium()
    text = files(__name__).joinpath(f"{name}.layout").read_text(encoding="utf-8")
    config, faults = read_text(text)
    assert config is not None, faults
    return config
