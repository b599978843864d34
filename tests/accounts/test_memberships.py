"""Memberships: granted, changed, and in force between two moments."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from tests.support import MovableClock, Tenant
from voelgoed.accounts.model import Membership, MembershipStatus
from voelgoed.accounts.rules.memberships import in_force

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
LATER = NOON + timedelta(days=30)
TICK = timedelta(microseconds=1)


def a_membership(
    *, status: MembershipStatus = "active", valid_to: datetime | None = LATER
) -> Membership:
    return Membership(
        id=UUID(int=1),
        user_id=UUID(int=2),
        tier="gold",
        status=status,
        valid_from=NOON,
        valid_to=valid_to,
        version=1,
        created_at=NOON,
        updated_at=NOON,
    )


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (NOON - TICK, False),
        (NOON, True),
        (LATER - TICK, True),
        (LATER, False),
        (LATER + TICK, False),
    ],
)
def test_a_membership_is_in_force_from_its_first_moment_until_just_before_its_last(
    now: datetime, expected: bool
) -> None:
    assert in_force(a_membership(), now) is expected


def test_a_membership_without_an_end_stays_in_force() -> None:
    forever = a_membership(valid_to=None)
    assert in_force(forever, datetime.max.replace(tzinfo=UTC))
    assert not in_force(forever, NOON - TICK)


@pytest.mark.parametrize("status", ["suspended", "cancelled"])
def test_only_an_active_membership_is_in_force(status: MembershipStatus) -> None:
    assert not in_force(a_membership(status=status), NOON)


class Memberships:
    """The routes of memberships, as an admin."""

    def __init__(self, client: httpx.AsyncClient, tenant: Tenant) -> None:
        self.client, self.tenant = client, tenant
        self.path = f"/api/users/{tenant.users['customer']}/memberships"

    async def grant(self, key: str | None = None, by: Any = "admin", **changes: Any) -> Any:
        new = {"tier": "gold", "valid_from": "2020-01-01T00:00:00Z", **changes}
        headers = self.tenant.as_(by) | ({"Idempotency-Key": key} if key else {})
        return await self.client.post(self.path, json=new, headers=headers)

    async def granted(self, **changes: Any) -> str:
        return (await self.grant(**changes)).json()["data"]["membership"]["id"]

    async def change(self, membership_id: object, **changes: Any) -> httpx.Response:
        return await self.client.patch(
            f"/api/memberships/{membership_id}",
            json={"version": 1, **changes},
            headers=self.tenant.as_("admin"),
        )

    async def all(self) -> list[dict[str, Any]]:
        answer = await self.client.get(self.path, headers=self.tenant.as_("box_office"))
        return answer.json()["data"]


@pytest.fixture
def memberships(client: httpx.AsyncClient, tenant: Tenant) -> Memberships:
    return Memberships(client, tenant)


def refusal(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]


async def test_a_user_may_have_several_memberships(memberships: Memberships) -> None:
    gold = await memberships.grant(tier="gold")
    press = await memberships.grant(tier="press-2030", status="suspended")
    assert (gold.status_code, press.status_code) == (201, 201)
    assert await memberships.all() == [gold.json()["data"], press.json()["data"]]
    assert [view["in_force"] for view in await memberships.all()] == [True, False]


async def test_a_membership_says_whether_it_opens_doors_now(
    memberships: Memberships, clock: MovableClock
) -> None:
    begins, ends = clock.now() + timedelta(hours=1), clock.now() + timedelta(hours=2)
    await memberships.grant(valid_from=begins.isoformat(), valid_to=ends.isoformat())

    async def opens_doors() -> bool:
        [view] = await memberships.all()
        return view["in_force"]

    assert not await opens_doors()
    clock.ahead = timedelta(hours=1, minutes=30)
    assert await opens_doors()
    clock.ahead = timedelta(hours=2)
    assert not await opens_doors()


@pytest.mark.parametrize(
    ("broken", "path"),
    [
        ({"tier": ""}, "$.tier"),
        ({"tier": "Gold!"}, "$.tier"),
        ({"tier": "x" * 64}, "$.tier"),
        ({"valid_from": "2020-01-01T00:00:00"}, "$.valid_from"),
        ({"valid_from": "yesterday"}, "$.valid_from"),
        ({"valid_to": "never"}, "$.valid_to"),
        ({"valid_to": 5}, "$.valid_to"),
        ({"status": "expired"}, "$.status"),
    ],
)
async def test_a_faulty_membership_is_refused_with_the_fault(
    memberships: Memberships, broken: dict[str, Any], path: str
) -> None:
    answer = await memberships.grant(**broken)
    assert refusal(answer) == (422, "invalid_request")
    assert [fault["path"] for fault in answer.json()["details"]["faults"]] == [path]


@pytest.mark.parametrize("valid_to", ["2020-01-01T00:00:00Z", "2019-12-31T23:59:59Z"])
async def test_a_membership_ends_after_it_begins(memberships: Memberships, valid_to: str) -> None:
    expected = (422, "invalid_membership_period")
    assert refusal(await memberships.grant(valid_to=valid_to)) == expected
    membership_id = await memberships.granted()
    assert refusal(await memberships.change(membership_id, valid_to=valid_to)) == expected


async def test_nobody_unknown_gets_a_membership(
    client: httpx.AsyncClient, tenant: Tenant, other_tenant: Tenant
) -> None:
    new = {"tier": "gold", "valid_from": "2020-01-01T00:00:00Z"}
    for user_id in (uuid4(), other_tenant.users["customer"]):
        path = f"/api/users/{user_id}/memberships"
        granted = await client.post(path, json=new, headers=tenant.as_("admin"))
        listed = await client.get(path, headers=tenant.as_("admin"))
        assert refusal(granted) == refusal(listed) == (404, "user_not_found")


async def test_a_membership_can_be_suspended_and_resumed(memberships: Memberships) -> None:
    membership_id = await memberships.granted()
    suspended = await memberships.change(membership_id, status="suspended")
    assert not suspended.json()["data"]["in_force"]
    resumed = await memberships.change(membership_id, version=2, status="active")
    assert resumed.json()["data"]["in_force"]
    assert resumed.json()["data"]["membership"]["version"] == 3


async def test_an_end_can_be_set_and_taken_away(memberships: Memberships) -> None:
    membership_id = await memberships.granted()
    ended = await memberships.change(membership_id, valid_to="2021-01-01T00:00:00Z")
    assert not ended.json()["data"]["in_force"]
    endless = await memberships.change(membership_id, version=2, valid_to=None)
    assert endless.json()["data"]["membership"]["valid_to"] is None
    assert [endless.json()["data"]] == await memberships.all()


async def test_a_change_of_an_older_version_is_refused(memberships: Memberships) -> None:
    membership_id = await memberships.granted()
    await memberships.change(membership_id, status="suspended")
    late = await memberships.change(membership_id, status="cancelled")
    assert refusal(late) == (409, "version_conflict")


async def test_of_changes_at_the_same_moment_one_is_made(memberships: Memberships) -> None:
    membership_id = await memberships.granted()
    answers = await asyncio.gather(
        *(memberships.change(membership_id, status="suspended") for _ in range(6))
    )
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 5


async def test_a_membership_nobody_has_is_not_found(memberships: Memberships) -> None:
    answer = await memberships.change(uuid4(), status="suspended")
    assert refusal(answer) == (404, "membership_not_found")


async def test_the_same_grant_twice_is_one_membership(memberships: Memberships) -> None:
    first, again = [await memberships.grant(key="once") for _ in range(2)]
    assert first.json() == again.json()
    assert len(await memberships.all()) == 1


async def test_a_key_used_for_something_else_is_refused(memberships: Memberships) -> None:
    await memberships.grant(key="once")
    other = await memberships.grant(key="once", tier="silver")
    assert refusal(other) == (409, "idempotency_key_reused")
    assert len(await memberships.all()) == 1


async def test_a_key_used_for_somebody_else_is_refused(
    memberships: Memberships, tenant: Tenant
) -> None:
    await memberships.grant(key="once")
    memberships.path = f"/api/users/{tenant.users['organiser']}/memberships"
    assert refusal(await memberships.grant(key="once")) == (409, "idempotency_key_reused")


async def test_the_same_grant_many_times_at_once_is_one_membership(
    memberships: Memberships,
) -> None:
    answers = await asyncio.gather(*(memberships.grant(key="once") for _ in range(8)))
    assert len({answer.json()["data"]["membership"]["id"] for answer in answers}) == 1
    assert len(await memberships.all()) == 1


async def test_control_without_a_key_they_are_many(memberships: Memberships) -> None:
    await asyncio.gather(*(memberships.grant() for _ in range(8)))
    assert len(await memberships.all()) == 8


async def test_another_persons_same_key_is_another_grant(memberships: Memberships) -> None:
    await memberships.grant(key="once", by="admin")
    await memberships.grant(key="once", by="owner")
    assert len(await memberships.all()) == 2
