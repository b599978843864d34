"""Session tokens and how long they live, without a database."""

from base64 import b64encode, urlsafe_b64encode
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from voelgoed.accounts.rules.sessions import (
    AGE_MAX,
    IDLE_MAX,
    PREFIX,
    SECRET_BYTES,
    is_alive,
    organization_of,
    session_token,
    token_hash,
)

organizations = st.uuids()
secrets = st.binary(min_size=SECRET_BYTES, max_size=SECRET_BYTES)
tokens = st.builds(session_token, organizations, secrets)
NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)
TICK = timedelta(microseconds=1)


def opens(token: str, issued: str) -> bool:
    """Whether a session that was opened for `issued` is found with `token`."""
    return organization_of(token) == organization_of(issued) and token_hash(token) == token_hash(
        issued
    )


@given(organizations, secrets)
def test_a_token_says_whose_organisation_it_is_for(organization_id: UUID, secret: bytes) -> None:
    token = session_token(organization_id, secret)
    assert organization_of(token) == organization_id
    assert opens(token, token)


@given(organizations, secrets, secrets)
def test_another_secret_is_another_token(organization_id: UUID, one: bytes, two: bytes) -> None:
    assume(one != two)
    assert not opens(session_token(organization_id, one), session_token(organization_id, two))


@given(organizations, organizations, secrets)
def test_a_token_opens_nothing_in_another_organisation(
    mine: UUID, theirs: UUID, secret: bytes
) -> None:
    assume(mine != theirs)
    assert not opens(session_token(theirs, secret), session_token(mine, secret))


@given(tokens, st.data())
def test_a_token_with_any_character_altered_opens_nothing(token: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(token) - 1))
    altered = token[:at] + data.draw(st.characters()) + token[at + 1 :]
    assume(altered != token)
    assert not opens(altered, token)


@given(tokens, st.text(min_size=1), st.booleans())
@example(session_token(UUID(int=1), bytes(SECRET_BYTES)), "=", False)
@example(session_token(UUID(int=1), bytes(SECRET_BYTES)), "====", False)
@example(session_token(UUID(int=1), bytes(SECRET_BYTES)), "\n", False)
@example(session_token(UUID(int=1), bytes(SECRET_BYTES)), " ", True)
@example(session_token(UUID(int=1), bytes(SECRET_BYTES)), PREFIX, True)
def test_a_token_with_something_added_is_no_token(token: str, more: str, before: bool) -> None:
    assert organization_of(more + token if before else token + more) is None


@given(tokens, st.data())
def test_a_token_with_something_inserted_is_no_token(token: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(token)))
    noise = data.draw(st.text(" \n\t=!.é", min_size=1))  # what a lenient decoder passes over
    assert organization_of(token[:at] + noise + token[at:]) is None


@given(tokens, st.integers(0, 67))
def test_a_shortened_token_is_no_token(token: str, length: int) -> None:
    assert organization_of(token[:length]) is None


@given(st.binary(max_size=100))
def test_a_token_of_another_length_is_no_token(raw: bytes) -> None:
    assume(len(raw) != 16 + SECRET_BYTES)
    assert organization_of(PREFIX + urlsafe_b64encode(raw).decode()) is None


@given(tokens, st.text(max_size=6))
@example(session_token(UUID(int=1), bytes(SECRET_BYTES)), "")
@example(session_token(UUID(int=1), bytes(SECRET_BYTES)), "VGS_")
@example(session_token(UUID(int=1), bytes(SECRET_BYTES)), "vgd_")
def test_a_token_with_another_prefix_is_no_token(token: str, prefix: str) -> None:
    assume(prefix != PREFIX)
    assert organization_of(prefix + token.removeprefix(PREFIX)) is None


@given(organizations, secrets)
def test_a_token_in_another_base64_spelling_is_no_token(
    organization_id: UUID, secret: bytes
) -> None:
    respelt = PREFIX + b64encode(organization_id.bytes + secret).decode()
    assume(respelt != session_token(organization_id, secret))
    assert organization_of(respelt) is None


@given(st.text())
def test_any_other_text_is_no_token(text: str) -> None:
    assert organization_of(text) is None


@pytest.mark.parametrize(
    ("idle", "alive"),
    [(timedelta(), True), (IDLE_MAX - TICK, True), (IDLE_MAX, False), (IDLE_MAX + TICK, False)],
)
def test_a_session_dies_when_it_was_idle_too_long(idle: timedelta, alive: bool) -> None:
    expires_at = NOON + AGE_MAX
    assert is_alive(last_seen_at=NOON, expires_at=expires_at, now=NOON + idle) is alive


@pytest.mark.parametrize(
    ("age", "alive"), [(AGE_MAX - TICK, True), (AGE_MAX, False), (AGE_MAX + TICK, False)]
)
def test_a_session_dies_of_age_however_busy_it_is(age: timedelta, alive: bool) -> None:
    now = NOON + age
    assert is_alive(last_seen_at=now, expires_at=NOON + AGE_MAX, now=now) is alive


def test_a_clock_that_stepped_back_ends_no_session() -> None:
    now = NOON - timedelta(seconds=5)
    assert is_alive(last_seen_at=NOON, expires_at=NOON + AGE_MAX, now=now)
