import httpx
import msgspec

from tests.conftest import serving
from tests.support import Tenant, a_client
from voelgoed.services import Services, build_services


async def test_live_and_ready(client: httpx.AsyncClient):
    for path in ("/health/live", "/health/ready"):
        answer = await client.get(path)
        assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


async def test_without_its_database_it_lives_but_is_not_ready(services: Services):
    away = build_services(services.settings, "postgresql://nobody@127.0.0.1:1/none")
    async with serving(away) as url, a_client(url) as client:
        assert (await client.get("/health/live")).status_code == 200
        answer = await client.get("/health/ready")
        assert (answer.status_code, answer.json()["error"]) == (503, "storage_unavailable")
        assert 1 <= int(answer.headers["retry-after"]) <= 5


async def test_metrics_count_requests_by_route_not_by_address(
    client: httpx.AsyncClient, tenant: Tenant
):
    for user_id in tenant.users.values():
        await client.get(f"/api/users/{user_id}", headers=tenant.as_("owner"))
    text = (await client.get("/metrics")).text
    assert 'route="/api/users/{user_id}"' in text
    assert str(tenant.users["owner"]) not in text
    for name in ("voelgoed_database_wait_seconds", "voelgoed_cache_reads", "voelgoed_warm_tier_up"):
        assert name in text


async def test_metrics_with_a_token_are_for_who_has_it(services: Services):
    settings = msgspec.structs.replace(services.settings, metrics_token="s3cret")
    guarded = build_services(settings, services.database.url)
    async with serving(guarded) as url, a_client(url) as client:
        assert (await client.get("/metrics")).status_code == 401
        answer = await client.get("/metrics", headers={"Authorization": "Bearer s3cret"})
        assert answer.status_code == 200


async def test_metrics_are_closed_to_other_machines(services: Services):
    async with serving(services) as url:
        headers = {"X-Forwarded-For": "198.51.100.7"}
        async with a_client(url, headers=headers) as client:
            assert (await client.get("/metrics")).status_code == 401
