from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from litestar import Request, Response
from litestar.datastructures import Cookie
from litestar.di import NamedDependency as Given
from litestar.params import JSONBody

from voelgoed.accounts import access
from voelgoed.accounts.actions import sessions as actions
from voelgoed.accounts.actions.organizations import read_organization
from voelgoed.accounts.actions.sessions import LoggedIn
from voelgoed.accounts.model import (
    Caller,
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
from voelgoed.infra.cache import Cache
from voelgoed.infra.database import Database
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
    request: Request[Any, Any, Any],
    data: JSONBody[LogIn],
    database: Given[Database],
    settings: Given[Settings],
) -> Response[Data[NewSession]]:
    """Log in. The token serves as bearer; browsers get it as a cookie too."""
    logged_in = await actions.log_in(database, access.origin_of(request), data)
    return _with_cookie(logged_in, settings)


@access.public_post("/api/registrations", InvalidCredentials, EmailTaken, RateLimited)
async def register(
    request: Request[Any, Any, Any],
    data: JSONBody[Registration],
    database: Given[Database],
    settings: Given[Settings],
) -> Response[Data[NewSession]]:
    """Open a customer's account and log in."""
    logged_in = await actions.register(database, access.origin_of(request), data)
    return _with_cookie(logged_in, settings)


@access.get("/api/session", None)
async def read_session(
    caller: Given[Caller], database: Given[Database], cache: Given[Cache]
) -> Data[CurrentSession]:
    """Who am I, and what may I do?"""
    user, session = await actions.current_session(database, caller)
    organization = await read_organization(database, cache, caller)
    permissions = sorted(PERMISSIONS[user.role])
    return Data(CurrentSession(user, organization, permissions, session.expires_at))


@access.get("/api/sessions", None)
async def list_sessions(
    caller: Given[Caller], database: Given[Database]
) -> Data[list[SessionSummary]]:
    """Where am I logged in?"""
    mine = await actions.my_sessions(database, caller)
    return Data(
        [
            SessionSummary(
                id=session.id,
                current=session.id == caller.session_id,
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
async def log_out(caller: Given[Caller], database: Given[Database]) -> Response[None]:
    """Log out here."""
    await actions.log_out(database, caller)
    return _without_cookie()


@access.delete("/api/sessions", None)
async def log_out_everywhere(caller: Given[Caller], database: Given[Database]) -> Response[None]:
    """Log out here and wherever else I am logged in."""
    await actions.log_out_everywhere(database, caller)
    return _without_cookie()


@access.put("/api/session/password", None, WrongPassword, RateLimited)
async def change_password(
    data: JSONBody[PasswordChange], caller: Given[Caller], database: Given[Database]
) -> None:
    """Change my password and end my other sessions."""
    await actions.change_password(database, caller, data)


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
