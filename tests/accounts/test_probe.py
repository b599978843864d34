import asyncio
from tests.support import *
async def test_x(client, tenant, services, url):
    from voelgoed.http import create_app
    for r in create_app(services).app.routes:
        print(type(r).__name__, r.path, [(h.http_methods if hasattr(h,'http_methods') else '', h.opt, type(h).__name__) for h in (r.route_handlers if hasattr(r,'route_handlers') else [r.route_handler])])
    o = tenant.as_("owner")
    r = await client.post("/api/venues", json=a_venue(), headers=o)
    v = r.json()["data"]["id"]
    print(r.status_code, r.text, r.headers)
    r = await client.post("/api/sessions", json={"organization":"acme","email":"OWNER@acme.example","password":PASSWORD})
    print(r.status_code, r.text, r.headers)
    async def p(m, path, json=None, headers=o, **k):
        r = await client.request(m, path, json=json, headers=headers, **k)
        print(m, path, json, "->", r.status_code, r.text[:600]); return r
    await p("POST","/api/venues", {"name":3,"zz":1})
    await p("POST","/api/events", {"name":""})
    await p("POST","/api/events", {"name":"", "zz": 2})
    await p("GET","/api/users?limit=0&after=zz")
    await p("POST","/api/events", an_event(v, starts_at="0001-01-01T00:00:00+14:00"))
    await p("POST","/api/events", an_event(v, starts_at="9999-12-31T10:00:00Z", ends_at="9999-12-31T20:00:00Z"))
    await p("POST","/api/events", an_event(v, starts_at="2030-01-01T10:00:00Z", ends_at="9999-12-31T20:00:00Z"))
    r = await p("POST","/api/events", an_event(v, starts_at="2030-01-01T10:00:00+02:00"))
    e = r.json()["data"]["id"]
    await p("POST",f"/api/events/{e}/gates", a_gate(code="north\n"))
    await p("POST",f"/api/events/{e}/gates", a_gate(code=""))
    await p("POST","/api/users", {"email":"a@b\n","name":"x","role":"customer","password":"0123456789"})
    await p("POST","/api/sessions", {"organization":"acme","email":"OWNER@acme.example","password":PASSWORD}, headers={"Origin":"http://["})
    r = await p("POST","/api/whitelists", {"name":"w"})
    w = r.json()["data"]["id"]
    r = await p("POST",f"/api/whitelists/{w}/entries", {"email":"a/b@c.d"})
    r = await p("DELETE",f"/api/whitelists/{w}/entries/a%2Fb@c.d")
    r = await p("POST",f"/api/whitelists/{w}/entries", {"email":"a/b@c.d", "note":"2"})
    r = await p("GET",f"/api/whitelists/{w}/entries")
    await p("GET","/api/events", params={"after":"0001-01-01T00:00:00+14:00~"+e})
    await p("GET","/api/audit", params={"since":"0001-01-01T00:00:00+14:00"})
    await p("GET","/api/audit", params={"since":"2020-01-01T00:00:00"})
    await p("GET","/api/audit", params={"since":"junk"})
    await p("GET","/api/events", params={"status":"junk"})
    await p("POST",f"/api/users/{tenant.users['customer']}/memberships", {"tier":"gold","valid_from":"0001-01-01T00:00:00+14:00"})
    await p("POST",f"/api/users/{tenant.users['customer']}/memberships", {"tier":"gold","valid_from":"2020-01-01T00:00:00"})
    await p("POST","/api/venues", a_venue(name="   "))
    await p("POST","/api/venues", a_venue(timezone="Nowhere"))
    await p("POST","/api/venues", a_venue(), headers={**o, "Idempotency-Key":"a b"})
