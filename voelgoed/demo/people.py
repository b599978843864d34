"""Who works there, and who buys."""

import asyncio
from contextlib import suppress
from datetime import timedelta
from secrets import token_urlsafe
from typing import get_args

from voelgoed.accounts.actions.memberships import grant_membership
from voelgoed.accounts.actions.organizations import create_organization
from voelgoed.accounts.actions.users import create_user, list_users
from voelgoed.accounts.model import Caller, EmailTaken, NewMembership, NewUser, Role
from voelgoed.demo.file import SLUG, Demo, DemoUser
from voelgoed.demo.story import Customer, Story

NAME = "Voelgoed Demo"
TIER = "voelgoed_vriendinne"
MEMBERS = (
    "Anneke Botha",
    "Thandi Mokoena",
    "Elmarie van Wyk",
    "Fatima Davids",
)
CUSTOMERS = (*MEMBERS, "Pieter Nel", "Sipho Dlamini")
"""With accounts of their own, which nobody logs in to: their passwords are told to nobody."""
USERS_MAX = 100


async def ensure_people(story: Story, demo: Demo) -> None:
    database = story.services.database
    organization_id = await database.find_organization(SLUG)
    if organization_id is None:
        owner = _new_user("owner", demo.users["owner"])
        organization, _ = await create_organization(database, SLUG, NAME, owner)
        organization_id = organization.id
    system = Caller(kind="system", id=None, organization_id=organization_id)
    [found] = await list_users(database, system, "owner", None, 1)
    owner = Caller(kind="user", id=found.id, organization_id=organization_id, role="owner")
    staff = [
        _new_user(role, user)
        for role, user in demo.users.items()
        if role not in ("owner", "customer")
    ]
    everybody = [*staff, _new_user("customer", demo.users["customer"]), *map(_customer, CUSTOMERS)]
    there = {user.email for user in await list_users(database, owner, None, None, USERS_MAX)}
    await asyncio.gather(*(_add(story, owner, new) for new in everybody if new.email not in there))
    await _introduce(story, owner)
    await _grant_memberships(story)


async def _add(story: Story, owner: Caller, new: NewUser) -> None:
    with suppress(EmailTaken):
        await create_user(story.services.database, owner, new, None)


async def _introduce(story: Story, owner: Caller) -> None:
    """Those who act in the story, as who they are."""
    users = await list_users(story.services.database, owner, None, None, USERS_MAX)
    callers = {
        user.email: Caller(
            kind="user", id=user.id, organization_id=user.organization_id, role=user.role
        )
        for user in users
    }
    for role in get_args(Role):
        story.staff[role] = callers[f"{role}@{SLUG}.example"]
    story.customers = [
        Customer(callers[email], name, email) for name in CUSTOMERS if (email := _email(name))
    ]


async def _grant_memberships(story: Story) -> None:
    for customer in story.customers[: len(MEMBERS)]:
        assert customer.caller.id is not None
        new = NewMembership(tier=TIER, valid_from=story.present - timedelta(days=200))
        step = story.step(f"membership-{customer.email}")
        await grant_membership(story.services.database, story.owner, customer.caller.id, new, step)


def _new_user(role: Role, user: DemoUser) -> NewUser:
    name = f"Demo {role.replace('_', ' ').title()}"
    return NewUser(email=user.email, name=name, role=role, password=user.password)


def _customer(name: str) -> NewUser:
    return NewUser(email=_email(name), name=name, role="customer", password=token_urlsafe(18))


def _email(name: str) -> str:
    return f"{name.lower().replace(' ', '.')}@example.com"
