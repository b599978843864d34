"""The header with which a device sends the time of its clock."""

from datetime import datetime, timedelta
from typing import Annotated

import msgspec
from litestar.params import HeaderParameter

from voelgoed.infra.refusal import InvalidRequest, Refusal
from voelgoed.infra.shapes import EARLIEST, LATEST, Moment
from voelgoed.scanning.model.sync import OFFSET_S_MAX

NAME = "X-Device-Time"

DeviceTime = Annotated[
    str | None,
    HeaderParameter(
        name=NAME,
        max_length=64,
        description="The device's clock, ISO 8601 with its offset from UTC; answered with "
        "`offset_seconds`.",
    ),
]


def read_device_time(
    text: str | None, faults_are: type[Refusal] = InvalidRequest
) -> datetime | None:
    if text is None:
        return None
    try:
        moment, message = msgspec.convert(text, Moment), "is out of range"
    except msgspec.ValidationError as fault:
        moment, message = None, str(fault)
    if moment is None or not EARLIEST <= moment <= LATEST:
        raise faults_are(faults=[{"path": NAME, "message": message}])
    return moment


def measured_offset(
    text: str | None, now: datetime, faults_are: type[Refusal] = InvalidRequest
) -> timedelta | None:
    """Our time minus the device's, as far as the way of the request allows."""
    moment = read_device_time(text, faults_are)
    if moment is None:
        return None
    offset = now - moment
    if abs(offset.total_seconds()) > OFFSET_S_MAX:
        raise faults_are(faults=[{"path": NAME, "message": "is more than two hundred years off"}])
    return offset
