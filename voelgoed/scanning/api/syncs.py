from datetime import timedelta

from litestar.di import NamedDependency as Given
from litestar.params import JSONBody

from voelgoed.accounts.access import Call, bearer_in, headers_in
from voelgoed.infra.refusal import RateLimited
from voelgoed.scanning.access import device_batch, device_of
from voelgoed.scanning.actions.sync_pipeline import SyncPipeline
from voelgoed.scanning.api.device_time import DeviceTime, measured_offset
from voelgoed.scanning.model.refusals import (
    BatchIdReused,
    BatchMalformed,
    BatchTooOld,
    DeviceMismatch,
    DeviceNotAssignedToGate,
    EventNotLive,
    TooManySyncs,
)
from voelgoed.scanning.model.sync import (
    BatchAnswer,
    OfflineBatch,
    SignedBatch,
    SyncAnswer,
)
from voelgoed.scanning.rules.deliveries import OfflineDelivery, SignedDelivery

BATCH_BYTES_MAX = 8 * 1024 * 1024
SIGNED_BYTES_MAX = 128 * 1024


@device_batch(
    "/api/scans/sync",
    BatchMalformed,
    BatchTooOld,
    BatchIdReused,
    DeviceMismatch,
    DeviceNotAssignedToGate,
    EventNotLive,
    RateLimited,
    TooManySyncs,
    body_bytes_max=BATCH_BYTES_MAX,
)
async def sync_queue(
    data: JSONBody[OfflineBatch], call: Given[Call], device_time: DeviceTime = None
) -> BatchAnswer:
    """Takes a device's whole queue of offline scans, up to 10,000 at once. Each is stored and
    judged; `errors` lists those that need attention. A scan that is not stored (`is_kept` false)
    stays on the device. A repeated queue under the same id gets the same answer."""
    pipeline, measured = _pipeline(call), _measured(call, device_time)
    delivery = OfflineDelivery(data)
    return await pipeline.receive(device_of(call), delivery, measured, limit=pipeline.queue_limit)


@device_batch(
    "/api/scanning/sync",
    BatchMalformed,
    BatchIdReused,
    DeviceMismatch,
    DeviceNotAssignedToGate,
    RateLimited,
    TooManySyncs,
    body_bytes_max=SIGNED_BYTES_MAX,
)
async def sync_signed(
    data: JSONBody[SignedBatch], call: Given[Call], device_time: DeviceTime = None
) -> SyncAnswer:
    """Takes offline scans that a device has signed, up to 50 at once, ten times a minute.
    `processed` scans are stored here for good, also if they were known; `rejected` scans are
    not."""
    pipeline, measured = _pipeline(call), _measured(call, device_time)
    delivery = SignedDelivery(data, bearer_in(headers_in(call.scope)) or "", measured)
    return await pipeline.receive(device_of(call), delivery, measured, limit=pipeline.batch_limit)


def _pipeline(call: Call) -> SyncPipeline:
    return call.parts.syncs


def _measured(call: Call, device_time: str | None) -> timedelta | None:
    return measured_offset(device_time, call.arrived_at, BatchMalformed)


ROUTES = [sync_queue, sync_signed]
