"""Accounts of people: opened, changed, and never without an owner."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID, uuid4

import httpx
import msgspec
import pytest

from tests.support import PASSWORD, Tenant
from voelgoed.accounts.actions import users as actions
from voelgoed.accounts.model import LastOwner, NewUser, Role, User, UserChange
from voelgoed.accounts.store import users as store
from voelgoed.infra.database import Transaction
from voelgoed.services import Services


def a_user(**changes: Any) -> dict[str, Any]:
    return {
        "email": "new@acme.example",
        "name": "New",
        "role": "box_office",
        "password": PASSWORD,
        **changes,
    }


@pytest.fixture
def quick_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that open many accounts and never log in."""

    async def hash_password(_password: str) -> str:
        return "no password"

    monkeypatch.setattr(actions, "hash_password", hash_password)


class Users:
    """The routes of users, as somebody with a role."""

    def __init__(self, client: httpx.AsyncClient, tenant: Tenant) -> None:
        self.client, self.tenant = client, tenant

    async def create(self, key: str | None = None, by: Role = "owner", **changes: Any) -> Any:
        headers = self.tenant.as_(by) | ({"Idempotency-Key": key} if key else {})
        return await self.client.post("/api/users", json=a_user(**changes), headers=headers)

    async def change(self, who: Role | UUID, by: Role = "owner", **changes: Any) -> httpx.Response:
        user_id = who if isinstance(who, UUID) else self.tenant.users[who]
        return await self.client.patch(
            f"/api/users/{user_id}",
            json={"version": 1, **changes},
            headers=self.tenant.as_(by),
        )

    async def reset_password(self, who: Role | UUID, by: Role, new: str) -> httpx.Response:
        user_id = who if isinstance(who, UUID) else self.tenant.users[who]
        return await self.client.put(
            f"/api/users/{user_id}/password",
            json={"new_password": new},
            headers=self.tenant.as_(by),
        )

    async def read(self, user_id: UUID | str) -> httpx.Response:
        return await self.client.get(f"/api/users/{user_id}", headers=self.tenant.as_("owner"))

    async def page(self, **params: Any) -> httpx.Response:
        return await self.client.get("/api/users", params=params, headers=self.tenant.as_("owner"))

    async def emails(self) -> list[str]:
        return [user["email"] for user in (await self.page(limit=200)).json()["data"]]

    async def is_logged_in(self, role: Role) -> bool:
        answer = await self.client.get("/api/session", headers=self.tenant.as_(role))
        return answer.status_code == 200

    async def can_log_in(self, email: str, password: str) -> bool:
        given = {"organization": self.tenant.slug, "email": email, "password": password}
        return (await self.client.post("/api/sessions", json=given)).status_code == 201


@pytest.fixture
def users(client: httpx.AsyncClient, tenant: Tenant) -> Users:
    return Users(client, tenant)


def refusal(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]


async def test_a_new_account_can_be_read_and_logged_in_to(users: Users) -> None:
    answer = await users.create(email="New@Acme.example")
    assert answer.status_code == 201
    user = answer.json()["data"]
    assert (user["email"], user["role"], user["status"], user["version"]) == (
        "new@acme.example",
        "box_office",
        "active",
        1,
    )
    assert (await users.read(user["id"])).json()["data"] == user
    assert await users.can_log_in("new@acme.example", PASSWORD)


async def test_nothing_that_is_read_tells_a_password(users: Users) -> None:
    answer = await users.create()
    for text in (answer.text, (await users.read(answer.json()["data"]["id"])).text):
        assert "password" not in text
        assert "argon2" not in text


@pytest.mark.parametrize(
    ("broken", "path"),
    [
        ({"email": "nowhere"}, "$.email"),
        ({"email": "a@b@c"}, "$.email"),
        ({"email": "a @b"}, "$.email"),
        ({"name": ""}, "$.name"),
        ({"name": "   "}, "$.name"),
        ({"name": "x" * 201}, "$.name"),
        ({"name": "zero\0byte"}, "$.name"),
        ({"role": "emperor"}, "$.role"),
        ({"password": "ninechars"}, "$.password"),
        ({"password": "x" * 201}, "$.password"),
        ({"password": None}, "$.password"),
    ],
)
async def test_a_faulty_account_is_refused_with_the_fault(
    users: Users, broken: dict[str, Any], path: str
) -> None:
    answer = await users.create(**broken)
    assert refusal(answer) == (422, "invalid_request")
    assert [fault["path"] for fault in answer.json()["details"]["faults"]] == [path]


async def test_a_field_nobody_knows_is_a_mistake_that_is_named(users: Users) -> None:
    answer = await users.create(shoe_size=42)
    assert refusal(answer) == (422, "invalid_request")
    assert "shoe_size" in answer.text


@pytest.mark.usefixtures("quick_passwords")
async def test_an_address_has_one_account(users: Users) -> None:
    assert refusal(await users.create(email="OWNER@acme.example")) == (409, "email_taken")


@pytest.mark.usefixtures("quick_passwords")
async def test_an_address_may_have_an_account_in_each_organisation(
    users: Users, other_tenant: Tenant
) -> None:
    assert (await users.create(email="owner@rival.example")).status_code == 201


async def test_somebody_unknown_is_not_found(users: Users, other_tenant: Tenant) -> None:
    for user_id in (uuid4(), other_tenant.users["customer"]):
        assert refusal(await users.read(user_id)) == (404, "user_not_found")
        assert refusal(await users.change(user_id, name="X")) == (404, "user_not_found")
        reset = await users.reset_password(user_id, by="owner", new=PASSWORD)
        assert refusal(reset) == (404, "user_not_found")


async def test_a_change_changes_what_it_names_and_nothing_else(users: Users) -> None:
    before = (await users.read(users.tenant.users["organiser"])).json()["data"]
    after = (await users.change("organiser", name="Renamed")).json()["data"]
    assert after["name"] == "Renamed"
    assert after["version"] == 2
    assert {k for k in before if before[k] != after[k]} == {"name", "version", "updated_at"}
    assert (await users.read(after["id"])).json()["data"] == after


async def test_a_change_of_an_older_version_is_refused(users: Users) -> None:
    await users.change("organiser", name="First")
    late = await users.change("organiser", name="Second")
    assert refusal(late) == (409, "version_conflict")
    assert late.json()["details"] == {"current_version": 2}
    assert (await users.change("organiser", version=2, name="Second")).status_code == 200


@pytest.mark.parametrize("version", [None, 0, "1", 2**31])
async def test_a_change_must_say_which_version_it_saw(users: Users, version: object) -> None:
    answer = await users.change("organiser", version=version, name="X")
    assert refusal(answer) == (422, "invalid_request")


async def test_a_disabled_account_is_logged_out_and_stays_out(users: Users) -> None:
    assert (await users.change("organiser", status="disabled")).status_code == 200
    assert not await users.is_logged_in("organiser")
    assert not await users.can_log_in("organiser@acme.example", PASSWORD)
    assert (await users.change("organiser", version=2, status="active")).status_code == 200
    assert await users.can_log_in("organiser@acme.example", PASSWORD)


async def test_a_new_role_must_log_in_anew(users: Users) -> None:
    await users.change("organiser", role="box_office")
    assert not await users.is_logged_in("organiser")
    assert await users.is_logged_in("box_office")


async def test_a_new_name_stays_logged_in(users: Users) -> None:
    await users.change("organiser", name="Renamed")
    assert await users.is_logged_in("organiser")


async def test_a_reset_password_logs_out_everywhere(users: Users) -> None:
    answer = await users.reset_password("organiser", by="admin", new="a brand new password")
    assert answer.status_code == 204
    assert not await users.is_logged_in("organiser")
    assert not await users.can_log_in("organiser@acme.example", PASSWORD)
    assert await users.can_log_in("organiser@acme.example", "a brand new password")


@pytest.mark.usefixtures("quick_passwords")
async def test_admins_neither_make_nor_touch_owners(users: Users) -> None:
    refusals = [
        await users.create(by="admin", role="owner"),
        await users.change("customer", by="admin", role="owner"),
        await users.change("admin", by="admin", role="owner"),
        await users.change("owner", by="admin", role="customer"),
        await users.change("owner", by="admin", status="disabled"),
        await users.change("owner", by="admin", name="Puppet"),
        await users.reset_password("owner", by="admin", new="taken over now"),
    ]
    assert {refusal(answer) for answer in refusals} == {(403, "role_not_allowed")}
    assert await users.is_logged_in("owner")


@pytest.mark.usefixtures("quick_passwords")
async def test_admins_manage_everybody_else(users: Users) -> None:
    assert (await users.create(by="admin", role="admin")).status_code == 201
    assert (await users.change("organiser", by="admin", role="admin")).status_code == 200
    assert (await users.change("customer", by="admin", status="disabled")).status_code == 200


@pytest.mark.usefixtures("quick_passwords")
async def test_pages_lead_to_the_end_without_gaps_or_repeats(users: Users) -> None:
    for number in range(5):  # beside the six of the tenant
        await users.create(email=f"{number}@acme.example")
    seen: list[str] = []
    after: dict[str, str] = {}
    while True:
        page = (await users.page(limit=4, **after)).json()
        seen += [user["id"] for user in page["data"]]
        if page["next"] is None:
            break
        assert len(page["data"]) == 4
        after = {"after": page["next"]}
    assert len(seen) == len(set(seen)) == 11
    assert seen == sorted(seen)  # oldest first: ids are made in order of time


async def test_a_page_that_ends_exactly_at_the_end_is_the_last(users: Users) -> None:
    page = (await users.page(limit=6)).json()
    assert (len(page["data"]), page["next"]) == (6, None)


async def test_users_can_be_listed_by_role(users: Users) -> None:
    [organiser] = (await users.page(role="organiser")).json()["data"]
    assert organiser["id"] == str(users.tenant.users["organiser"])


@pytest.mark.parametrize(
    "params", [{"limit": 0}, {"limit": 201}, {"limit": "x"}, {"after": "x"}, {"role": "x"}]
)
async def test_a_faulty_question_is_refused(users: Users, params: dict[str, Any]) -> None:
    answer = await users.page(**params)
    assert refusal(answer) == (422, "invalid_request")
    [fault] = answer.json()["details"]["faults"]
    assert fault["path"] == next(iter(params))


@pytest.mark.usefixtures("quick_passwords")
async def test_the_same_command_twice_is_one_account(users: Users) -> None:
    first, again = [await users.create(key="once") for _ in range(2)]
    assert first.status_code == again.status_code == 201
    assert first.json() == again.json()
    assert (await users.emails()).count("new@acme.example") == 1


@pytest.mark.usefixtures("quick_passwords")
async def test_a_key_used_for_something_else_is_refused(users: Users) -> None:
    await users.create(key="once")
    other = await users.create(key="once", email="other@acme.example")
    assert refusal(other) == (409, "idempotency_key_reused")
    assert "other@acme.example" not in await users.emails()


@pytest.mark.usefixtures("quick_passwords")
async def test_the_same_command_many_times_at_once_is_one_account(users: Users) -> None:
    answers = await asyncio.gather(*(users.create(key="once") for _ in range(8)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["data"]["id"] for answer in answers}) == 1
    assert (await users.emails()).count("new@acme.example") == 1


@pytest.mark.usefixtures("quick_passwords")
async def test_another_persons_same_key_is_another_command(users: Users) -> None:
    assert (await users.create(key="once", by="owner")).status_code == 201
    theirs = await users.create(key="once", by="admin", email="other@acme.example")
    assert theirs.json()["data"]["email"] == "other@acme.example"


@pytest.mark.usefixtures("quick_passwords")
async def test_a_refused_command_leaves_its_key_free(users: Users) -> None:
    assert refusal(await users.create(key="once", email="owner@acme.example"))[0] == 409
    assert (await users.create(key="once")).status_code == 201


@pytest.mark.parametrize("change", [{"role": "admin"}, {"status": "disabled"}])
async def test_the_last_owner_stays(users: Users, change: dict[str, str]) -> None:
    assert refusal(await users.change("owner", **change)) == (409, "last_owner")
    assert await users.is_logged_in("owner")


async def test_the_last_owner_may_change_their_name(users: Users) -> None:
    assert (await users.change("owner", name="Still here")).status_code == 200


async def test_a_disabled_owner_does_not_count(users: Users) -> None:
    await users.change("admin", role="owner")
    await users.change("admin", version=2, status="disabled")
    assert refusal(await users.change("owner", role="admin")) == (409, "last_owner")


async def test_an_owner_may_go_when_another_stays(users: Users) -> None:
    await users.change("admin", role="owner")
    assert (await users.change("owner", role="customer")).status_code == 200


class TwoOwners:
    """Who remove each other at the same moment, again and again."""

    def __init__(self, services: Services, tenant: Tenant, ids: tuple[UUID, UUID]) -> None:
        self.services, self.tenant, self.ids = services, tenant, ids

    async def remove_each_other(self, change: Callable[[int], UserChange]) -> list[object]:
        versions = await self._made_owners_again()
        first, second = self.ids
        removals: list[Awaitable[User]] = [
            actions.change_user(
                self.services.database,
                msgspec.structs.replace(self.tenant.caller("owner"), id=remover),
                removed,
                change(versions[removed]),
            )
            for remover, removed in ((first, second), (second, first))
        ]
        return list(await asyncio.gather(*removals, return_exceptions=True))

    async def owners_left(self) -> int | None:
        async with self.services.database.transaction(self.tenant.id) as tx:
            return await tx.value(
                int, "SELECT count(*) FROM app_user WHERE role = 'owner' AND status = 'active'"
            )

    async def _made_owners_again(self) -> dict[UUID, int]:
        async with self.services.database.transaction(self.tenant.id) as tx:
            rows = await tx.connection.fetch(
                """
                UPDATE app_user SET role = 'owner', status = 'active'
                 WHERE id = ANY ($1) RETURNING id, version
                """,
                self.ids,
            )
        return {row["id"]: row["version"] for row in rows}


@pytest.fixture
async def two_owners(services: Services, tenant: Tenant) -> TwoOwners:
    other = NewUser(email="two@acme.example", name="Two", role="owner", password=PASSWORD)
    async with services.database.transaction(tenant.id) as tx:
        user = await actions.add_user(tx, tenant.caller(), other, "no password")
    return TwoOwners(services, tenant, (tenant.users["owner"], user.id))


def demote(version: int) -> UserChange:
    return UserChange(version=version, role="admin")


def disable(version: int) -> UserChange:
    return UserChange(version=version, status="disabled")


@pytest.mark.parametrize("change", [demote, disable])
async def test_two_owners_who_remove_each_other_leave_one(
    two_owners: TwoOwners, change: Callable[[int], UserChange]
) -> None:
    for _ in range(25):
        outcomes = await two_owners.remove_each_other(change)
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["LastOwner", "User"]
        assert await two_owners.owners_left() == 1


async def test_control_without_the_lock_they_leave_none(
    two_owners: TwoOwners, monkeypatch: pytest.MonkeyPatch
) -> None:
    both_have_looked = asyncio.Barrier(2)

    async def look_without_locking(tx: Transaction) -> list[UUID]:
        rows = await tx.connection.fetch(
            "SELECT id FROM app_user WHERE role = 'owner' AND status = 'active' ORDER BY id"
        )
        await both_have_looked.wait()
        return [row["id"] for row in rows]

    monkeypatch.setattr(store, "lock_active_owners", look_without_locking)
    outcomes = await two_owners.remove_each_other(demote)
    assert not any(isinstance(outcome, LastOwner) for outcome in outcomes)
    assert await two_owners.owners_left() == 0


async def test_no_quick_hash_of_a_password_is_stored(
    client: httpx.AsyncClient, tenant: Tenant, services: Services
):
    """Two requests that differ in nothing but the password leave the same fingerprint."""
    fingerprints: list[bytes | None] = []
    for number, password in enumerate(("a password", "another password")):
        headers = tenant.as_("owner") | {"Idempotency-Key": str(number)}
        await client.post("/api/users", json=a_user(password=password), headers=headers)
        async with services.database.transaction(tenant.id) as tx:
            await tx.run("DELETE FROM app_user WHERE email = 'new@acme.example'")
            fingerprints.append(
                await tx.value(
                    bytes, "SELECT fingerprint FROM idempotency_key WHERE key = $1", str(number)
                )
            )
    assert fingerprints[0] is not None
    assert fingerprints[0] == fingerprints[1]


async def test_ones_own_password_needs_the_present_one(client: httpx.AsyncClient, tenant: Tenant):
    answer = await client.put(
        f"/api/users/{tenant.users['owner']}/password",
        json={"new_password": "without the present one"},
        headers=tenant.as_("owner"),
    )
    assert (answer.status_code, answer.json()["error"]) == (409, "own_password")
