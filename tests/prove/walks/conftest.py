"""Walks over gates and devices begin where the tests of devices begin."""

from tests.device.conftest import gates, line, network, world

__all__ = ["gates", "line", "network", "world"]
