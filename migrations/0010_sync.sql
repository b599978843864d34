-- Scans of a time without network: what devices bring later, what it changes, where scans contradict
-- depends: 0009_devices

-- migrate: apply

ALTER TABLE scan
    DROP CONSTRAINT scan_source_check,
    ADD CONSTRAINT scan_source_check
        CHECK (source IN ('online', 'supervisor', 'offline_sync', 'recovered')) NOT VALID,
    ADD COLUMN outcome text          -- what a device decided alone; null: it asked
        CHECK (outcome IN ('valid', 'duplicate', 'invalid', 'gate_access_denied', 'expired')),
    ADD COLUMN reason_apart text,    -- what was against it whatever else was scanned
    ADD COLUMN batch_id uuid;        -- with which it was brought
ALTER TABLE scan VALIDATE CONSTRAINT scan_source_check;

-- What became of a scan when more was known. The last one of a scan is how it stands.
CREATE TABLE scan_ruling (
    organization_id uuid NOT NULL,
    scan_id         uuid NOT NULL,
    number          integer NOT NULL CHECK (number > 0),
    event_id        uuid NOT NULL,
    is_let_in       boolean NOT NULL,  -- at the gate
    status          text NOT NULL CHECK (status IN ('admitted', 'denied')),
    reason_denied   text CHECK ((status = 'denied') = (reason_denied IS NOT NULL)),
    entry_number    integer,
    day             date NOT NULL,
    at              timestamptz NOT NULL,
    PRIMARY KEY (organization_id, scan_id, number),
    FOREIGN KEY (organization_id, scan_id) REFERENCES scan
);
CREATE INDEX scan_ruling_by_event ON scan_ruling (organization_id, event_id);

-- What a device brought together, answered once and the same whenever it comes again.
CREATE TABLE batch_sync (
    organization_id uuid NOT NULL,
    batch_id        uuid NOT NULL,
    id              uuid NOT NULL,
    source          text NOT NULL CHECK (source IN ('offline_sync', 'recovered')),
    device_id       uuid NOT NULL,
    event_id        uuid NOT NULL,
    status          text NOT NULL CHECK (status IN ('completed', 'partial_success')),
    batch_size      integer NOT NULL CHECK (batch_size > 0),
    processed_count integer NOT NULL CHECK (processed_count BETWEEN 0 AND batch_size),
    error_count     integer NOT NULL CHECK (error_count BETWEEN 0 AND batch_size),
    offset_seconds  double precision NOT NULL,
    processed_scan_ids uuid[] NOT NULL,
    fingerprint     text NOT NULL,   -- of what was sent
    answer          text NOT NULL,
    synced_at       timestamptz NOT NULL,
    created_at      timestamptz NOT NULL,
    state           text CHECK (state IN ('unverified', 'accepted', 'rejected')),  -- of recovered ones
    reviewed_by_id  uuid,
    reviewed_at     timestamptz,
    note            text NOT NULL DEFAULT '',
    CHECK ((source = 'recovered') = (state IS NOT NULL)),
    CONSTRAINT batch_sync_pkey PRIMARY KEY (organization_id, batch_id)
);
CREATE INDEX batch_sync_by_event ON batch_sync (organization_id, event_id, id);

-- Two scans of one ticket that cannot both stand. One at most about a scan that does not.
CREATE TABLE scan_conflict (
    organization_id uuid NOT NULL,
    id              uuid NOT NULL,
    event_id        uuid NOT NULL,
    ticket_id       uuid NOT NULL,
    kind            text NOT NULL CHECK (kind IN ('double_entry', 'duplicate_scan')),
    severity        text NOT NULL CHECK (severity IN ('critical', 'low')),
    scan_id         uuid NOT NULL,   -- that does not stand
    winner_scan_id  uuid NOT NULL,   -- that does
    state           text NOT NULL CHECK (state IN ('open', 'reviewed', 'dismissed')),
    detected_at     timestamptz NOT NULL,
    reviewed_by_id  uuid,
    reviewed_at     timestamptz,
    note            text NOT NULL DEFAULT '',
    version         integer NOT NULL DEFAULT 1,
    PRIMARY KEY (organization_id, id),
    CONSTRAINT scan_conflict_of_scan UNIQUE (organization_id, scan_id)
);
CREATE INDEX scan_conflict_by_event ON scan_conflict (organization_id, event_id, id);
CREATE INDEX scan_conflict_by_ticket ON scan_conflict (organization_id, ticket_id);

-- Whether a barcode was replaced before or after it was shown.
CREATE INDEX ticket_revocation_by_ticket ON ticket_revocation (organization_id, ticket_id);

ALTER TABLE scan_device
    ADD COLUMN sync_failures integer NOT NULL DEFAULT 0,  -- since the last success
    ADD COLUMN clock_measured_at timestamptz;

SELECT wall_off(tenant_table::regclass) FROM unnest(ARRAY[
    'scan_ruling', 'batch_sync', 'scan_conflict'
]) AS tenant_table;

-- Append-only, like the scans.
GRANT SELECT, INSERT ON scan_ruling TO voelgoed_server;
GRANT SELECT, INSERT, UPDATE ON batch_sync TO voelgoed_server;
-- A conflict goes when it turns out to be none; the audit log remembers it.
GRANT SELECT, INSERT, UPDATE, DELETE ON scan_conflict TO voelgoed_server;

-- migrate: rollback
