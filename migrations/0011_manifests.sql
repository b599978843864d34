-- What devices decide by when they are alone: one document an event, and what of it changed when
-- depends: 0010_sync

-- migrate: apply

CREATE TABLE manifest (
    organization_id uuid NOT NULL,
    event_id        uuid NOT NULL,
    version         bigint NOT NULL CHECK (version > 0),
    generated_at    timestamptz NOT NULL,
    event_name      text NOT NULL,
    expires_at      timestamptz NOT NULL,
    occupancy       json NOT NULL,
    settings        text NOT NULL,   -- as they stand in the document
    settings_version bigint NOT NULL,  -- in which they last changed
    base_version    bigint NOT NULL,   -- from here on it is known which entries changed when
    tickets         integer NOT NULL,
    content_hash    text NOT NULL,   -- of the document
    document        bytea NOT NULL,  -- without its last brace, as a zstd stream that is not ended
    document_bytes  integer NOT NULL,  -- of that, before it was compressed
    code_key_hash   bytea NOT NULL,  -- tells by which key typed codes are found
    fingerprint     text NOT NULL,   -- of what entries are made from besides their tickets
    seen_xid        bigint NOT NULL,   -- who wrote tickets since: this transaction, or a later one
    checked_at      timestamptz NOT NULL,  -- when it was last known to be up to date
    PRIMARY KEY (organization_id, event_id),
    FOREIGN KEY (organization_id, event_id) REFERENCES event ON DELETE CASCADE
);
-- It is compressed already.
ALTER TABLE manifest ALTER COLUMN document SET STORAGE EXTERNAL;

-- Entries that changed after the base version; the others are in the document alone. Without foreign
-- keys: tickets are never deleted, nor are events that have any.
CREATE TABLE manifest_entry (
    organization_id uuid NOT NULL,
    event_id        uuid NOT NULL,
    ticket_id       uuid NOT NULL,
    entry           text NOT NULL,   -- as it stands in the document
    version         bigint NOT NULL, -- in which it last changed
    PRIMARY KEY (organization_id, event_id, ticket_id)
);
CREATE INDEX manifest_entry_by_version ON manifest_entry (organization_id, event_id, version);

SELECT wall_off(tenant_table::regclass) FROM unnest(ARRAY['manifest', 'manifest_entry']) AS tenant_table;

GRANT SELECT, INSERT, UPDATE ON manifest, manifest_entry TO voelgoed_server;

-- migrate: rollback
