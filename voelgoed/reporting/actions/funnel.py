from datetime import datetime
from uuid import UUID

from voelgoed.accounts.model import Caller
from voelgoed.reporting.actions.desk import ReportDesk, about
from voelgoed.reporting.model.about import BucketMinutes
from voelgoed.reporting.model.funnel import FunnelReport
from voelgoed.reporting.rules.funnel import FIELDS, funnel_buckets, funnel_total
from voelgoed.reporting.rules.spans import full_hour, limit_refusal, span_refusal
from voelgoed.reporting.store.funnel import count_events


async def report_funnel(
    desk: ReportDesk,
    caller: Caller,
    event_id: UUID,
    since: datetime | None,
    until: datetime | None,
    bucket_minutes: BucketMinutes,
) -> FunnelReport:
    if (refusal := span_refusal(since, until)) is not None:
        raise refusal
    async with desk.reading(caller) as tx:
        event, timezone, told = await about(tx, event_id)
        origin = full_hour(event.starts_at, timezone)
        recorded = await count_events(
            tx, event_id, sorted(FIELDS), since, until, bucket_minutes, origin
        )
    buckets = funnel_buckets(recorded)
    if (refusal := limit_refusal(len(buckets))) is not None:
        raise refusal
    return FunnelReport(
        **told,
        as_of=tx.now,
        since=since,
        until=until,
        bucket_minutes=bucket_minutes,
        total=funnel_total(recorded),
        buckets=buckets,
    )
