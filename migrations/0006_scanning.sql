-- Devices at the gates, their scans, who is inside, and what should be looked at
-- depends: 0005_ticketing

-- migrate: apply

CREATE TABLE scan_device (
    organization_id uuid NOT NULL REFERENCES organization,
    id              uuid NOT NULL,
    name            text NOT NULL,
    device_type     text NOT NULL CHECK (device_type IN ('ipad', 'phone', 'desktop')),
    gate_id         uuid,
    status          text NOT NULL CHECK (status IN ('active', 'inactive')),
    key_version     integer NOT NULL CHECK (key_version > 0),  -- its key is derived, never stored
    key_rotated_at  timestamptz NOT NULL,
    paired_at       timestamptz NOT NULL,
    paired_by_id    uuid NOT NULL,
    deleted_at      timestamptz,     -- revoked
    last_heartbeat  timestamptz,     -- what it last said of itself
    battery_percent smallint CHECK (battery_percent BETWEEN 0 AND 100),
    queue_length    integer,
    app_version     text,
    manifest_version bigint,
    clock_offset_seconds double precision,  -- server time minus device time, as measured
    last_sync_at    timestamptz,
    version         integer NOT NULL DEFAULT 1,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, id),
    FOREIGN KEY (organization_id, gate_id) REFERENCES gate ON DELETE SET NULL (gate_id)
) WITH (fillfactor = 70);
CREATE INDEX scan_device_by_gate ON scan_device (organization_id, gate_id) WHERE deleted_at IS NULL;

-- A token by which one device may become one of ours, or one that a device shows and we approved.
CREATE TABLE device_pairing (
    organization_id uuid NOT NULL REFERENCES organization,
    token_hash      bytea NOT NULL,
    gate_id         uuid NOT NULL,
    name            text NOT NULL,
    device_type     text NOT NULL,
    created_by_id   uuid NOT NULL,
    created_at      timestamptz NOT NULL,
    expires_at      timestamptz NOT NULL,
    used_at         timestamptz,
    device_id       uuid,            -- which became ours by it
    CONSTRAINT pairing_token_taken PRIMARY KEY (organization_id, token_hash),
    FOREIGN KEY (organization_id, gate_id) REFERENCES gate ON DELETE CASCADE
);
-- Not by organisation: who uses a token has not said yet whose it is.
CREATE INDEX device_pairing_by_token ON device_pairing (token_hash);

-- How one event is scanned, where that is not as usual.
CREATE TABLE scan_policy (
    organization_id uuid NOT NULL,
    event_id        uuid NOT NULL,
    dedup_window_s  integer NOT NULL CHECK (dedup_window_s >= 0),
    travel_s        integer NOT NULL CHECK (travel_s >= 0),
    duplicates_per_hour_max integer NOT NULL CHECK (duplicates_per_hour_max > 0),
    gate_scans_per_minute_max integer NOT NULL CHECK (gate_scans_per_minute_max > 0),
    device_error_rate_max double precision NOT NULL CHECK (device_error_rate_max BETWEEN 0 AND 1),
    blocks_devices  boolean NOT NULL,
    version         integer NOT NULL,
    updated_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, event_id),
    FOREIGN KEY (organization_id, event_id) REFERENCES event ON DELETE CASCADE
);

-- Every attempt. Without foreign keys, which would lock the gate's row for each of them.
CREATE TABLE scan (
    organization_id uuid NOT NULL,
    id              uuid NOT NULL,   -- made by the device: doing it twice is doing it once
    event_id        uuid NOT NULL,
    ticket_id       uuid,            -- null: there is none by that code
    ticket_code     text NOT NULL,
    device_id       uuid,            -- null: by somebody, without a device
    actor_id        uuid,
    gate_id         uuid NOT NULL,
    direction       text NOT NULL CHECK (direction IN ('entry', 'exit')),
    status          text NOT NULL CHECK (status IN ('admitted', 'denied')),
    reason_denied   text CHECK ((status = 'denied') = (reason_denied IS NOT NULL)),
    scanned_at      timestamptz NOT NULL,            -- by the device's clock
    scanned_at_canonical timestamptz NOT NULL,       -- by ours
    day             date,            -- of the event, that it counts for
    zone_id         uuid,
    entry_number    integer,
    gate_current    integer,         -- who was inside by this gate, and at the event, after it
    event_current   integer,
    gate_name       text NOT NULL,
    device_name     text NOT NULL,
    source          text NOT NULL CHECK (source IN ('online', 'supervisor')),
    details         json NOT NULL,   -- what else was answered
    created_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, id)
);
-- Without the organisation, which these ids imply: they stay small, and a plan made while the table
-- is empty cannot take one of them for the way to a scan's id.
CREATE INDEX scan_by_ticket ON scan (ticket_id, scanned_at_canonical DESC) WHERE ticket_id IS NOT NULL;
CREATE INDEX scan_by_gate ON scan (gate_id, scanned_at_canonical DESC);
CREATE INDEX scan_by_event ON scan (event_id, scanned_at_canonical DESC);

-- An admission that is not to count: the turnstile refused, it was somebody else.
CREATE TABLE scan_annulment (
    organization_id uuid NOT NULL,
    scan_id         uuid NOT NULL,
    event_id        uuid NOT NULL,
    ticket_id       uuid NOT NULL,
    reason          text NOT NULL,
    actor_id        uuid NOT NULL,
    at              timestamptz NOT NULL,
    PRIMARY KEY (organization_id, scan_id),
    FOREIGN KEY (organization_id, scan_id) REFERENCES scan
);
CREATE INDEX scan_annulment_by_ticket ON scan_annulment (organization_id, ticket_id);

-- Who is inside: one row a day for the event, for each gate and for each zone.
CREATE TABLE occupancy (
    organization_id uuid NOT NULL,
    event_id        uuid NOT NULL,
    day             date NOT NULL,
    scope           text NOT NULL CHECK (scope IN ('event', 'gate', 'zone')),
    scope_id        uuid NOT NULL,
    entries         integer NOT NULL,
    exits           integer NOT NULL,
    inside          integer NOT NULL,  -- who came in here on that day and has not left
    PRIMARY KEY (organization_id, event_id, day, scope, scope_id)
) WITH (fillfactor = 50);

CREATE TABLE scan_alert (
    organization_id uuid NOT NULL,
    id              uuid NOT NULL,
    event_id        uuid NOT NULL,
    kind            text NOT NULL,
    severity        text NOT NULL CHECK (severity IN ('low', 'high', 'critical')),
    subject_type    text NOT NULL CHECK (subject_type IN ('ticket', 'gate', 'device', 'event')),
    subject_id      uuid NOT NULL,
    state           text NOT NULL CHECK (state IN ('open', 'acknowledged', 'resolved')),
    occurrences     integer NOT NULL,
    details         json NOT NULL,   -- of the last of them
    first_at        timestamptz NOT NULL,
    last_at         timestamptz NOT NULL,
    reviewed_by_id  uuid,
    reviewed_at     timestamptz,
    note            text NOT NULL DEFAULT '',
    version         integer NOT NULL DEFAULT 1,
    PRIMARY KEY (organization_id, id)
);
-- One at a time about the same.
CREATE UNIQUE INDEX scan_alert_unresolved ON scan_alert (organization_id, event_id, kind, subject_id)
    WHERE state <> 'resolved';
CREATE INDEX scan_alert_by_event ON scan_alert (organization_id, event_id, id);

SELECT wall_off(tenant_table::regclass) FROM unnest(ARRAY[
    'scan_device', 'device_pairing', 'scan_policy', 'scan', 'scan_annulment', 'occupancy', 'scan_alert'
]) AS tenant_table;

CREATE POLICY pairing ON device_pairing FOR SELECT TO CURRENT_USER USING (true);
CREATE FUNCTION organization_of_pairing(wanted_hash bytea, at timestamptz) RETURNS uuid
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public
    -- What two organisations approved is nobody's: one of them only saw it on the other's device.
    RETURN (SELECT (array_agg(organization_id))[1] FROM device_pairing
             WHERE token_hash = wanted_hash AND used_at IS NULL AND expires_at > at
            HAVING count(*) = 1);
REVOKE ALL ON FUNCTION organization_of_pairing(bytea, timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION organization_of_pairing(bytea, timestamptz) TO voelgoed_server;

GRANT SELECT, INSERT, UPDATE ON scan_device, scan_policy, occupancy, scan_alert TO voelgoed_server;
GRANT SELECT, INSERT, UPDATE, DELETE ON device_pairing TO voelgoed_server;
-- Append-only, like the audit log.
GRANT SELECT, INSERT ON scan, scan_annulment TO voelgoed_server;

-- migrate: rollback
