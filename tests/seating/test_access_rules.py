"""Who may enter a zone: Voelgoed Vriendinne, their friends, staff, and everybody else."""

from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, get_args
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voelgoed.accounts.model import Membership, MembershipStatus, Role, Standing
from voelgoed.accounts.rules.memberships import in_force
from voelgoed.seating.model.layout import AccessMode, Zone
from voelgoed.seating.rules.access import Denied, Granted, party_access, zone_access

NOW = datetime(2026, 6, 1, 18, tzinfo=UTC)
DAY = timedelta(days=1)
TICK = timedelta(microseconds=1)
TIER = "voelgoed_vriendinne"
FRIENDS, PRESS = UUID(int=11), UUID(int=12)

numbers = count(1)


def a_zone(**changes: Any) -> Zone:
    """The VIP zone of the specification's example, with these changes."""
    return Zone(
        **{
            "zone_id": UUID(int=1),
            "zone_type": "vip_reserved",
            "name": "VIP",
            "capacity": 50,
            "access_mode": "membership_tier",
            "membership_tier": TIER,
            "whitelist_id": FRIENDS,
            **changes,
        }
    )


def a_membership(**changes: Any) -> Membership:
    return Membership(
        **{
            "id": UUID(int=next(numbers)),
            "user_id": UUID(int=2),
            "tier": TIER,
            "status": "active",
            "valid_from": NOW - 30 * DAY,
            "valid_to": NOW + 30 * DAY,
            "version": 1,
            "created_at": NOW,
            "updated_at": NOW,
            **changes,
        }
    )


def a_visitor(*memberships: Membership, **changes: Any) -> Standing:
    return Standing(
        **{
            "email": "ann@visitor.example",
            "user_id": UUID(int=2),
            "role": "customer",
            "memberships": list(memberships),
            "whitelist_ids": frozenset(),
            **changes,
        }
    )


def a_stranger(email: str, *whitelist_ids: UUID) -> Standing:
    """Somebody without an account."""
    return a_visitor(email=email, user_id=None, role=None, whitelist_ids=frozenset(whitelist_ids))


def a_member(email: str) -> tuple[Standing, UUID]:
    membership = a_membership()
    return a_visitor(membership, email=email), membership.id


def denial(zone: Zone, visitor: Standing | None, now: datetime = NOW) -> tuple[str, str]:
    access = zone_access(zone, visitor, now)
    assert isinstance(access, Denied)
    return access.reason, access.message


def members_are_told(*memberships: Membership) -> tuple[str, str]:
    """Why these memberships do not open the VIP zone: the reason, and the end of the sentence."""
    reason, message = denial(a_zone(), a_visitor(*memberships))
    assert message.startswith(f"This zone is for {TIER} members")
    return reason, message.removeprefix(f"This zone is for {TIER} members")


# Everybody


@pytest.mark.parametrize("visitor", [None, a_stranger("x@y.example"), a_visitor()])
def test_a_public_zone_is_open_to_anyone(visitor: Standing | None) -> None:
    assert zone_access(a_zone(access_mode="public"), visitor, NOW) == Granted(None)


@pytest.mark.parametrize("mode", sorted(set(get_args(AccessMode)) - {"public"}))
def test_every_other_zone_asks_who_is_there(mode: AccessMode) -> None:
    zone = a_zone(access_mode=mode, allowed_roles=["customer"])
    assert denial(zone, None)[0] == "not_authenticated"


# Voelgoed Vriendinne


def test_a_member_is_let_in_by_her_membership() -> None:
    member, membership_id = a_member("ann@visitor.example")
    assert zone_access(a_zone(), member, NOW) == Granted(membership_id)


def test_somebody_without_a_membership_is_told_whose_zone_it_is() -> None:
    assert members_are_told() == ("membership_required", ".")


def test_another_tier_is_no_membership() -> None:
    assert members_are_told(a_membership(tier="gold")) == ("membership_required", ".")


@pytest.mark.parametrize("status", ["suspended", "cancelled"])
def test_a_membership_that_was_stopped_opens_no_doors(status: MembershipStatus) -> None:
    told = members_are_told(a_membership(status=status))
    assert told == ("membership_inactive", f"; your membership is {status}.")


def test_a_membership_opens_no_doors_before_it_begins() -> None:
    told = members_are_told(a_membership(valid_from=NOW + TICK))
    assert told == ("membership_not_yet_valid", "; your membership begins on 1 June 2026.")
    assert isinstance(zone_access(a_zone(), a_visitor(a_membership(valid_from=NOW)), NOW), Granted)


def test_a_membership_ends_at_the_very_moment_it_is_valid_to() -> None:
    assert members_are_told(a_membership(valid_to=NOW))[0] == "membership_expired"
    last_moment = a_visitor(a_membership(valid_to=NOW + TICK))
    assert isinstance(zone_access(a_zone(), last_moment, NOW), Granted)


def test_a_member_whose_membership_ended_is_told_when() -> None:
    ended = a_membership(valid_from=NOW - 90 * DAY, valid_to=datetime(2026, 5, 3, 12, tzinfo=UTC))
    assert members_are_told(ended) == (
        "membership_expired",
        "; your membership ended on 3 May 2026.",
    )


def test_a_membership_without_an_end_goes_on() -> None:
    endless = a_membership(valid_to=None)
    assert zone_access(a_zone(), a_visitor(endless), NOW + 9999 * DAY) == Granted(endless.id)


def test_of_several_memberships_the_one_that_lasts_longest_counts() -> None:
    short, long = a_membership(), a_membership(valid_to=NOW + 60 * DAY)
    endless = a_membership(valid_to=None)
    assert zone_access(a_zone(), a_visitor(short, long), NOW) == Granted(long.id)
    assert zone_access(a_zone(), a_visitor(endless, long), NOW) == Granted(endless.id)


def test_of_memberships_that_last_equally_long_the_smallest_id_counts() -> None:
    first, second = a_membership(), a_membership()
    assert zone_access(a_zone(), a_visitor(second, first), NOW) == Granted(first.id)


def test_a_membership_in_force_makes_up_for_those_that_are_not() -> None:
    good = a_membership(valid_to=NOW + TICK)
    others = [a_membership(status="cancelled", valid_to=None), a_membership(valid_to=NOW)]
    assert zone_access(a_zone(), a_visitor(*others, good), NOW) == Granted(good.id)


def test_the_membership_nearest_to_opening_the_door_is_the_reason() -> None:
    ended, ended_before = a_membership(valid_to=NOW - DAY), a_membership(valid_to=NOW - 9 * DAY)
    cancelled, suspended = a_membership(status="cancelled"), a_membership(status="suspended")
    soon, later = a_membership(valid_from=NOW + DAY), a_membership(valid_from=NOW + 9 * DAY)
    assert members_are_told(ended_before, ended)[1] == "; your membership ended on 31 May 2026."
    assert members_are_told(ended, cancelled)[1] == "; your membership is cancelled."
    assert members_are_told(ended, cancelled, suspended)[1] == "; your membership is suspended."
    assert members_are_told(suspended, later, soon)[1] == "; your membership begins on 2 June 2026."


def test_a_suspended_membership_that_also_ended_has_ended() -> None:
    both = a_membership(status="suspended", valid_to=NOW - DAY)
    assert members_are_told(both)[0] == "membership_expired"


# A member and three friends


def test_three_friends_who_are_all_members_come_in_each_by_her_own_membership() -> None:
    party = [a_member(f"{name}@visitor.example") for name in ("ann", "bea", "cora", "dora")]
    granted = party_access(a_zone(), [standing for standing, _ in party], NOW)
    assert granted == [Granted(membership_id) for _, membership_id in party]


def test_a_friend_on_the_whitelist_comes_in_without_a_membership() -> None:
    ann, anns = a_member("ann@visitor.example")
    bea, beas = a_member("bea@visitor.example")
    cora = a_stranger("cora@friend.example", FRIENDS)
    dora, doras = a_member("dora@visitor.example")
    granted = party_access(a_zone(), [ann, bea, cora, dora], NOW)
    assert granted == [Granted(anns), Granted(beas), Granted(None), Granted(doras)]


def test_one_friend_who_is_neither_keeps_the_whole_party_out() -> None:
    ann, bea = (a_member(f"{name}@visitor.example")[0] for name in ("ann", "bea"))
    cora = a_stranger("cora@friend.example", FRIENDS)
    dora, eve = a_stranger("dora@stranger.example", PRESS), a_stranger("eve@stranger.example")
    refused = party_access(a_zone(), [ann, bea, cora, dora, eve], NOW)
    assert isinstance(refused, Denied)
    assert (refused.reason, refused.email) == ("membership_required", "dora@stranger.example")


def test_the_whitelist_lets_in_a_member_whose_membership_is_suspended() -> None:
    suspended = a_visitor(
        a_membership(status="suspended"), whitelist_ids=frozenset({FRIENDS, PRESS})
    )
    assert zone_access(a_zone(), suspended, NOW) == Granted(None)


def test_a_zone_without_a_whitelist_lets_in_members_only() -> None:
    friend = a_stranger("cora@friend.example", FRIENDS)
    assert denial(a_zone(whitelist_id=None), friend)[0] == "membership_required"


def test_an_empty_party_has_nobody_to_refuse() -> None:
    assert party_access(a_zone(), [], NOW) == []


def test_anybody_and_nobody_known_may_come_to_a_public_zone_together() -> None:
    party = [None, a_stranger("x@y.example")]
    assert party_access(a_zone(access_mode="public"), party, NOW) == [Granted(), Granted()]


# Roles and lists


@pytest.mark.parametrize("role", get_args(Role))
def test_a_zone_by_role_lets_in_its_roles_only(role: Role) -> None:
    zone = a_zone(access_mode="role_based", allowed_roles=["organiser", "box_office"])
    access = zone_access(zone, a_visitor(role=role), NOW)
    assert isinstance(access, Granted) == (role in {"organiser", "box_office"})


def test_a_zone_by_role_says_which_roles() -> None:
    zone = a_zone(access_mode="role_based", allowed_roles=["organiser", "box_office"])
    member, _ = a_member("ann@visitor.example")
    assert denial(zone, member) == (
        "role_required",
        "This zone is only for these roles: organiser, box office.",
    )


def test_a_zone_by_role_lets_in_whoever_is_on_its_whitelist() -> None:
    zone = a_zone(access_mode="role_based", allowed_roles=["organiser"])
    assert zone_access(zone, a_stranger("cora@friend.example", FRIENDS), NOW) == Granted(None)


def test_somebody_without_a_role_has_none_of_the_roles() -> None:
    zone = a_zone(access_mode="role_based", allowed_roles=None, whitelist_id=None)
    assert denial(zone, a_stranger("x@y.example"))[0] == "role_required"


def test_a_zone_by_whitelist_lets_in_who_is_on_it_and_no_one_else() -> None:
    zone = a_zone(access_mode="whitelist", membership_tier=None)
    assert zone_access(zone, a_stranger("cora@friend.example", FRIENDS), NOW) == Granted(None)
    member, _ = a_member("ann@visitor.example")
    assert denial(zone, member)[0] == "not_whitelisted"
    assert denial(zone, a_stranger("p@press.example", PRESS))[0] == "not_whitelisted"


def test_a_zone_that_lacks_what_its_mode_needs_lets_nobody_in() -> None:
    member, _ = a_member("ann@visitor.example")
    for mode in ("membership_tier", "role_based", "whitelist"):
        zone = a_zone(access_mode=mode, membership_tier=None, whitelist_id=None)
        assert isinstance(zone_access(zone, member, NOW), Denied)


# Combinations

moments = st.integers(-3, 3).map(lambda days: NOW + days * DAY)
memberships = st.builds(
    a_membership,
    id=st.uuids(),
    tier=st.sampled_from([TIER, "gold"]),
    status=st.sampled_from(get_args(MembershipStatus)),
    valid_from=moments,
    valid_to=st.none() | moments.map(lambda moment: moment + 4 * DAY - TICK),
).filter(lambda each: each.valid_to is None or each.valid_from < each.valid_to)
visitors = st.builds(
    lambda held, **given: a_visitor(*held, **given),
    st.lists(memberships, max_size=4),
    email=st.emails(),
    role=st.none() | st.sampled_from(get_args(Role)),
    whitelist_ids=st.frozensets(st.sampled_from([FRIENDS, PRESS])),
)
zones = st.builds(
    a_zone,
    access_mode=st.sampled_from(get_args(AccessMode)),
    allowed_roles=st.none() | st.lists(st.sampled_from(get_args(Role))),
    whitelist_id=st.none() | st.just(FRIENDS),
)


@given(visitors)
def test_a_tier_opens_its_zone_exactly_when_in_force_or_whitelisted(visitor: Standing) -> None:
    access = zone_access(a_zone(), visitor, NOW)
    opening = {each.id for each in visitor.memberships if each.tier == TIER and in_force(each, NOW)}
    if isinstance(access, Denied):
        assert not opening
        assert FRIENDS not in visitor.whitelist_ids
    elif access.membership_id is None:
        assert not opening
        assert FRIENDS in visitor.whitelist_ids
    else:
        assert access.membership_id in opening


@given(zones, visitors)
def test_the_order_of_memberships_does_not_matter(zone: Zone, visitor: Standing) -> None:
    reordered = a_visitor(
        *reversed(visitor.memberships),
        email=visitor.email,
        role=visitor.role,
        whitelist_ids=visitor.whitelist_ids,
    )
    assert zone_access(zone, visitor, NOW) == zone_access(zone, reordered, NOW)


@given(zones, st.lists(st.none() | visitors, max_size=4))
def test_a_party_is_let_in_when_each_of_it_is(zone: Zone, party: list[Standing | None]) -> None:
    alone = [zone_access(zone, visitor, NOW) for visitor in party]
    denied = [access for access in alone if isinstance(access, Denied)]
    assert party_access(zone, party, NOW) == (denied[0] if denied else alone)
