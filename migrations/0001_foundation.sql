-- Organisations, accounts, events, gates, audit, and the wall between tenants
-- depends:

-- migrate: apply

-- The organisation of the running transaction. Unset is an error, never "all rows".
CREATE FUNCTION current_organization() RETURNS uuid
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN current_setting('voelgoed.organization_id')::uuid;

CREATE TABLE organization (
    id          uuid PRIMARY KEY,
    slug        text NOT NULL CONSTRAINT organization_slug_taken UNIQUE,
    name        text NOT NULL,
    created_at  timestamptz NOT NULL
);
ALTER TABLE organization ENABLE ROW LEVEL SECURITY;
ALTER TABLE organization FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON organization TO voelgoed_server USING (id = current_organization());
-- The two functions below run as the owner and may look across organisations; nothing else may.
CREATE POLICY directory ON organization FOR SELECT TO CURRENT_USER USING (true);

CREATE FUNCTION find_organization(wanted_slug text) RETURNS uuid
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public
    RETURN (SELECT id FROM organization WHERE slug = wanted_slug);

CREATE FUNCTION organization_ids() RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public
    BEGIN ATOMIC SELECT id FROM organization ORDER BY id; END;

CREATE TABLE app_user (
    organization_id uuid NOT NULL REFERENCES organization,
    id              uuid NOT NULL,
    email           text NOT NULL,
    name            text NOT NULL,
    role            text NOT NULL CHECK (role IN
        ('owner', 'admin', 'organiser', 'box_office', 'gate_supervisor', 'customer')),
    status          text NOT NULL CHECK (status IN ('active', 'disabled')),
    password_hash   text NOT NULL,
    version         integer NOT NULL DEFAULT 1,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, id),
    CONSTRAINT app_user_email_taken UNIQUE (organization_id, email)
);

CREATE TABLE session (
    organization_id uuid NOT NULL,
    id              uuid NOT NULL,
    user_id         uuid NOT NULL,
    token_hash      bytea NOT NULL,
    ip              text NOT NULL,
    user_agent      text NOT NULL,
    created_at      timestamptz NOT NULL,
    last_seen_at    timestamptz NOT NULL,
    expires_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, id),
    CONSTRAINT session_token UNIQUE (organization_id, token_hash),
    FOREIGN KEY (organization_id, user_id) REFERENCES app_user ON DELETE CASCADE
);
CREATE INDEX session_by_user ON session (organization_id, user_id);

CREATE TABLE membership (
    organization_id uuid NOT NULL,
    id              uuid NOT NULL,
    user_id         uuid NOT NULL,
    tier            text NOT NULL,
    status          text NOT NULL CHECK (status IN ('active', 'suspended', 'cancelled')),
    valid_from      timestamptz NOT NULL,
    valid_to        timestamptz CHECK (valid_to > valid_from),
    version         integer NOT NULL DEFAULT 1,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, id),
    FOREIGN KEY (organization_id, user_id) REFERENCES app_user ON DELETE CASCADE
);
CREATE INDEX membership_by_user ON membership (organization_id, user_id);

CREATE TABLE whitelist (
    organization_id uuid NOT NULL REFERENCES organization,
    id              uuid NOT NULL,
    name            text NOT NULL,
    created_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, id),
    CONSTRAINT whitelist_name_taken UNIQUE (organization_id, name)
);

-- By e-mail address, because a member's friends need no account to be let in.
CREATE TABLE whitelist_entry (
    organization_id uuid NOT NULL,
    whitelist_id    uuid NOT NULL,
    email           text NOT NULL,
    note            text NOT NULL,
    created_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, whitelist_id, email),
    FOREIGN KEY (organization_id, whitelist_id) REFERENCES whitelist ON DELETE CASCADE
);

CREATE TABLE venue (
    organization_id uuid NOT NULL REFERENCES organization,
    id              uuid NOT NULL,
    name            text NOT NULL,
    address         text NOT NULL,
    timezone        text NOT NULL,
    version         integer NOT NULL DEFAULT 1,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, id)
);

CREATE TABLE event (
    organization_id uuid NOT NULL,
    id              uuid NOT NULL,
    venue_id        uuid NOT NULL,
    name            text NOT NULL,
    description     text NOT NULL,
    status          text NOT NULL CHECK (status IN
        ('draft', 'published', 'live', 'ended', 'archived', 'cancelled')),
    starts_at       timestamptz NOT NULL,
    ends_at         timestamptz NOT NULL CHECK (ends_at > starts_at),
    sale_start      timestamptz,
    sale_end        timestamptz CHECK (sale_end > sale_start),
    capacity        integer NOT NULL CHECK (capacity > 0),
    version         integer NOT NULL DEFAULT 1,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, id),
    FOREIGN KEY (organization_id, venue_id) REFERENCES venue
);
CREATE INDEX event_by_start ON event (organization_id, starts_at, id);
CREATE INDEX event_by_venue ON event (organization_id, venue_id);

CREATE TABLE event_day (
    organization_id uuid NOT NULL,
    event_id        uuid NOT NULL,
    date            date NOT NULL,
    starts_at       timestamptz NOT NULL,
    ends_at         timestamptz NOT NULL CHECK (ends_at > starts_at),
    PRIMARY KEY (organization_id, event_id, date),
    FOREIGN KEY (organization_id, event_id) REFERENCES event ON DELETE CASCADE
);

CREATE TABLE gate (
    organization_id     uuid NOT NULL,
    id                  uuid NOT NULL,
    event_id            uuid NOT NULL,
    code                text NOT NULL,
    name                text NOT NULL,
    allowed_zones       uuid[],  -- null: every zone
    capacity            integer CHECK (capacity > 0),
    hard_capacity_limit integer CHECK (hard_capacity_limit > 0),
    status              text NOT NULL CHECK (status IN ('open', 'closed')),
    version             integer NOT NULL DEFAULT 1,
    created_at          timestamptz NOT NULL,
    updated_at          timestamptz NOT NULL,
    PRIMARY KEY (organization_id, id),
    CONSTRAINT gate_code_taken UNIQUE (organization_id, event_id, code),
    FOREIGN KEY (organization_id, event_id) REFERENCES event ON DELETE CASCADE
);

CREATE TABLE audit_entry (
    organization_id uuid NOT NULL REFERENCES organization,
    id              uuid NOT NULL,
    actor_kind      text NOT NULL CHECK (actor_kind IN ('user', 'device', 'system')),
    actor_id        uuid,
    action          text NOT NULL,
    entity_type     text NOT NULL,
    entity_id       text NOT NULL,
    changes         jsonb NOT NULL,
    ip              text,
    user_agent      text,
    at              timestamptz NOT NULL,
    PRIMARY KEY (organization_id, id)
);
CREATE INDEX audit_entry_by_entity ON audit_entry (organization_id, entity_type, entity_id, id);
CREATE INDEX audit_entry_by_actor ON audit_entry (organization_id, actor_id, id);
CREATE INDEX audit_entry_by_action ON audit_entry (organization_id, action, id);

CREATE TABLE idempotency_key (
    organization_id uuid NOT NULL REFERENCES organization,
    actor_id        uuid NOT NULL,
    key             text NOT NULL,
    fingerprint     bytea NOT NULL,
    answer          bytea,
    created_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, actor_id, key)
);
CREATE INDEX idempotency_key_by_age ON idempotency_key (organization_id, created_at);

-- Unlogged: losing the counts in a crash costs a few extra attempts, not a sale.
CREATE UNLOGGED TABLE rate_limit (
    organization_id     uuid NOT NULL,
    key                 text NOT NULL,
    window_started_at   timestamptz NOT NULL,
    window_ends_at      timestamptz NOT NULL,
    used                integer NOT NULL,
    PRIMARY KEY (organization_id, key)
);

-- Unlogged: after a crash numbering restarts, and a reader who sees that reads again.
CREATE UNLOGGED TABLE live_topic (
    organization_id uuid NOT NULL,
    topic           text NOT NULL,
    seq             bigint NOT NULL,
    touched_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, topic)
);

-- Every table of a tenant passes through here; a test walks the catalogue for any that did not.
CREATE FUNCTION wall_off(tenant_table regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', tenant_table);
    EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', tenant_table);
    EXECUTE format('CREATE POLICY tenant ON %s USING (organization_id = current_organization())', tenant_table);
END
$$;
REVOKE ALL ON FUNCTION wall_off(regclass) FROM PUBLIC;

SELECT wall_off(tenant_table::regclass) FROM unnest(ARRAY[
    'app_user', 'session', 'membership', 'whitelist', 'whitelist_entry',
    'venue', 'event', 'event_day', 'gate',
    'audit_entry', 'idempotency_key', 'rate_limit', 'live_topic'
]) AS tenant_table;

-- Every request begins with this, so it is one round trip: the function sets the organisation
-- itself, for the length of its own transaction, and then looks behind that wall only.
CREATE FUNCTION find_session(organization uuid, wanted_hash bytea)
    RETURNS TABLE (id uuid, user_id uuid, role text, last_seen_at timestamptz, expires_at timestamptz)
    LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('voelgoed.organization_id', organization::text, true);
    RETURN QUERY
        SELECT session.id, session.user_id, app_user.role, session.last_seen_at, session.expires_at
          FROM session
          JOIN app_user ON app_user.organization_id = session.organization_id
                       AND app_user.id = session.user_id
         WHERE session.token_hash = wanted_hash AND app_user.status = 'active';
END
$$;

-- So that a server can tell whether it fits its database before it answers anybody.
GRANT SELECT ON _pogo_migration TO voelgoed_server;

-- The server owns nothing. Each privilege below is one it uses.
GRANT SELECT, INSERT, UPDATE ON organization TO voelgoed_server;
GRANT SELECT, INSERT, UPDATE, DELETE ON
    app_user, session, membership, whitelist, whitelist_entry,
    venue, event, event_day, gate, idempotency_key, rate_limit, live_topic
    TO voelgoed_server;
-- Append-only: what happened can be added to, never rewritten.
GRANT SELECT, INSERT ON audit_entry TO voelgoed_server;
REVOKE ALL ON FUNCTION
    find_organization(text), organization_ids(), find_session(uuid, bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    find_organization(text), organization_ids(), find_session(uuid, bytea) TO voelgoed_server;

-- migrate: rollback
