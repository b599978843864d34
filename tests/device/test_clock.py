"""A clock that is wrong, jumps, or was set while the device was off."""

import time
from collections.abc import AsyncIterator
from datetime import timedelta
from types import SimpleNamespace

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.device.support import TwoClocks
from voelgoed.device import link as link_module
from voelgoed.device.clock import DeviceClock, since_boot
from voelgoed.device.link import Link
from voelgoed.device.model import ClockState

HOUR = timedelta(hours=1)


def a_clock(clocks: TwoClocks, **state: object) -> DeviceClock:
    clock = clocks.device_clock()
    clock.resume(ClockState(**state))  # type: ignore[arg-type]
    return clock


def test_the_servers_time_corrects_the_clock():
    clocks = TwoClocks()
    clock = a_clock(clocks)
    assert not clock.is_measured
    assert clock.learn(15.0)
    assert clock.corrected(clock.read()) == clocks.wall() + timedelta(seconds=15)


def test_half_of_the_answers_delay_is_not_the_clocks_error():
    clock = a_clock(TwoClocks())
    clock.learn(15.4, round_trip_s=0.8)
    assert clock.offset == timedelta(seconds=15)


def test_an_offset_stays_while_only_the_network_delay_differs():
    clock = a_clock(TwoClocks())
    clock.learn(15.0)
    assert not clock.learn(15.9)
    assert not clock.learn(45.0, round_trip_s=20.0)
    assert clock.offset == timedelta(seconds=15)
    assert clock.learn(17.0)


def test_an_answer_that_took_long_is_no_measurement():
    clock = a_clock(TwoClocks(), offset_seconds=15.0)
    assert not clock.learn(45.0, round_trip_s=70.0), "as far as that tells, it may be 15 s"
    assert clock.offset == timedelta(seconds=15)
    assert clock.learn(3600.0, round_trip_s=60.0)
    assert clock.offset == timedelta(seconds=3570)
    assert not clock.is_sure
    assert clock.learn(3600.1, round_trip_s=0.2)
    assert clock.offset == timedelta(seconds=3600)
    assert clock.is_sure


async def test_the_time_of_receiving_a_body_does_not_change_the_measurement(
    monkeypatch: pytest.MonkeyPatch,
):
    """This test has a clock that goes on only while the body arrives: a real one would measure how busy the
    machine is."""
    passed = 0.0
    monkeypatch.setattr(link_module, "time", SimpleNamespace(monotonic=lambda: passed))

    class Slow(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            nonlocal passed
            for piece in (b"slow", b"ly"):
                passed += 0.3
                yield piece

    transport = httpx.MockTransport(lambda _: httpx.Response(200, stream=Slow()))
    async with httpx.AsyncClient(transport=transport) as client:
        answered = await Link(client).ask("GET", "http://slow.test/")
    assert answered.body == b"slowly"
    assert (answered.round_trip_s, passed) == (0.0, 0.6)


def test_a_clock_that_jumps_is_noticed_and_the_moment_stays_right():
    clocks = TwoClocks()
    clock = a_clock(clocks)
    clock.learn(15.0)
    before = clock.corrected(clock.read())
    clocks.off -= HOUR
    clocks.pass_(seconds=2)
    assert clock.corrected(clock.read()) == before + timedelta(seconds=2)
    assert clock.has_jumped
    assert clock.learn(3615.2)
    assert clock.offset == timedelta(seconds=3615.2)


def test_a_clock_that_was_set_back_while_the_device_was_off_does_not_run_backwards():
    clocks = TwoClocks()
    earlier = clocks.wall()
    clocks.off -= HOUR
    clock = a_clock(clocks, offset_seconds=15.0, is_measured=True, last_read=earlier)
    assert clock.corrected(clock.read()) >= earlier + timedelta(seconds=15)
    assert not clock.is_measured


def test_a_device_that_was_off_for_a_while_keeps_its_known_offset():
    clocks = TwoClocks()
    earlier = clocks.wall()
    clocks.pass_(hours=5)
    clock = a_clock(clocks, offset_seconds=15.0, is_measured=True, last_read=earlier)
    assert clock.offset == timedelta(seconds=15)
    assert not clock.is_measured, "nobody saw what was done to it meanwhile"


def test_a_clock_that_has_jumped_is_unsure_until_the_server_answers():
    clocks = TwoClocks()
    clock = a_clock(clocks)
    clock.learn(15.0)
    assert clock.is_sure
    clocks.off += HOUR
    clock.read()
    assert not clock.is_sure
    assert not clock.state.is_measured
    clock.learn(15.0 - 3600)
    assert clock.is_sure


def test_time_goes_on_while_the_device_sleeps(monkeypatch: pytest.MonkeyPatch):
    """A system that suspends behaves so: one of its clocks stops, the other does not."""
    slept = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)
    monkeypatch.setattr(time, "clock_gettime", lambda _: 100.0 + slept)
    clocks = TwoClocks()
    clock = DeviceClock(clocks.wall)
    clock.learn(15.0)
    before = clock.corrected(clock.read())
    slept = 7200.0
    clocks.pass_(hours=2)
    assert clock.corrected(clock.read()) == before + 2 * HOUR
    assert clock.is_sure


def test_a_system_without_such_a_clock_uses_another(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delattr(time, "CLOCK_BOOTTIME", raising=False)
    monkeypatch.setattr(time, "monotonic", lambda: 7.0)
    assert since_boot() == 7.0


@given(
    st.lists(
        st.tuples(
            st.floats(0, 3600),
            st.floats(-86_400, 86_400).filter(lambda jump: abs(jump) > 1.001 or jump == 0),
        ),
        max_size=20,
    )
)
def test_the_servers_time_goes_on_whatever_is_done_to_the_wall_clock(
    steps: list[tuple[float, float]],
):
    clocks = TwoClocks()
    clock = a_clock(clocks)
    clock.learn(42.0)
    began = clock.corrected(clock.read())
    passed = timedelta()
    for seconds, jump in steps:
        clocks.pass_(seconds=seconds)
        passed += timedelta(seconds=seconds)
        clocks.off += timedelta(seconds=jump)
        error = clock.corrected(clock.read()) - began - passed
        assert abs(error) < timedelta(milliseconds=1)
