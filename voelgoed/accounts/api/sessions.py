from datetime import datetime
from uuid import UUID

import msgspec
from litestar import Response
from litestar.datastructures import Cookie
from litestar.di import NamedDependency as Given
from litestar.params import JSONBody

from voelgoed.accounts import access
from voelgoed.accounts.access import Call
from voelgoed.accounts.actions import sessions as actions
from voelgoed.accounts.actions.organizations import read_organization
from voelgoed.accounts.actions.sessions import LoggedIn
from voelgoed.accounts.model import (
    EmailTaken,
    InvalidCredentials,
    LogIn,
    Organization,
    PasswordChange,
    Registration,
    User,
    WrongPassword,
)
from voelgoed.accounts.rules.permissions import PERMISSIONS, Permission
from voelgoed.config import Settings
from voelgoed.infra.refusal import RateLimited
from voelgoed.infra.shapes import Data


class NewSession(msgspec.Struct, frozen=True):
    token: str
    expires_at: datetime
    user: User


class CurrentSession(msgspec.Struct, frozen=True):
    user: User
    organization: Organization
    permissions: list[Permission]
    expires_at: datetime


class SessionSummary(msgspec.Struct, frozen=True, kw_only=True):
    id: UUID
    current: bool
    ip: str
    user_agent: str
    created_at: datetime
    last_seen_at: datetime
    expires_at: datetime


@access.public_post("/api/sessions", InvalidCredentials, RateLimited)
async def log_in(
    data: JSONBody[LogIn],
    call: Given[Call],
) -> Response[Data[NewSession]]:
    """Log in. The token serves as bearer; browsers get it as a cookie too."""
    logged_in = await actions.log_in(call.database, call.origin, data)
    return _with_cookie(logged_in, call.settings)


@access.public_post("/api/registrations", InvalidCredentials, EmailTaken, RateLimited)
async def register(
    data: JSONBody[Registration],
    call: Given[Call],
) -> Response[Data[NewSession]]:
    """Open a customer's account and log in."""
    logged_in = await actions.register(call.database, call.origin, data)
    return _with_cookie(logged_in, call.settings)


@access.get("/api/session", None)
async def read_session(call: Given[Call]) -> Data[CurrentSession]:
    """Who am I, and what may I do?"""
    user, session = await actions.current_session(call.database, call.caller)
    organization = await read_organization(call.database, call.cache, call.caller)
    permissions = sorted(PERMISSIONS[user.role])
    return Data(CurrentSession(user, organization, permissions, session.expires_at))


@access.get("/api/sessions", None)
async def list_sessions(call: Given[Call]) -> Data[list[SessionSummary]]:
    """Where am I logged in?"""
    mine = await actions.my_sessions(call.database, call.caller)
    return Data(
        [
            SessionSummary(
                id=session.id,
                current=session.id == call.caller.session_id,
                ip=session.ip,
                user_agent=session.user_agent,
                created_at=session.created_at,
                last_seen_at=session.last_seen_at,
                expires_at=session.expires_at,
            )
            for session in mine
        ]
    )


@access.delete("/api/session", None)
async def log_out(call: Given[Call]) -> Response[None]:
    """Log out here."""
    await actions.log_out(call.database, call.caller)
    return _without_cookie()


@access.delete("/api/sessions", None)
async def log_out_everywhere(call: Given[Call]) -> Response[None]:
    """Log out here and wherever else I am logged in."""
    await actions.log_out_everywhere(call.database, call.caller)
    return _without_cookie()


@access.put("/api/session/password", None, WrongPassword, RateLimited)
async def change_password(data: JSONBody[PasswordChange], call: Given[Call]) -> None:
    """Change my password and end my other sessions."""
    await actions.change_password(call.database, call.caller, data)


def _with_cookie(logged_in: LoggedIn, settings: Settings) -> Response[Data[NewSession]]:
    expires_at = logged_in.session.expires_at
    cookie = Cookie(
        key=access.COOKIE,
        value=logged_in.token,
        httponly=True,
        samesite="strict",
        secure=settings.secure_cookies,
        max_age=int((expires_at - logged_in.session.created_at).total_seconds()),
        path="/",
    )
    body = Data(NewSession(logged_in.token, expires_at, logged_in.user))
    return Response(body, status_code=201, cookies=[cookie])


def _without_cookie() -> Response[None]:
    response = Response(None, status_code=204)
    response.delete_cookie(access.COOKIE)
    return response


ROUTES = [
    log_in,
    register,
    read_session,
    list_sessions,
    log_out,
    log_out_everywhere,
    change_password,
]
