-- Ticket types, orders, payments, tickets and the keys that sign them
-- depends: 0004_holds

-- migrate: apply

CREATE TABLE ticket_type (
    organization_id     uuid NOT NULL,
    id                  uuid NOT NULL,
    event_id            uuid NOT NULL,
    number              smallint NOT NULL CHECK (number > 0),  -- within the event; barcodes carry it
    name                text NOT NULL,
    description         text NOT NULL,
    kind                text NOT NULL CHECK (kind IN ('seated', 'ga')),
    entitlement         text NOT NULL CHECK (entitlement IN (
        'single_entry', 'unlimited_single_day', 'unlimited_multi_day', 'limited_reentry_per_day',
        'ga_seated', 'ga_standing')),
    entry_limit         integer CHECK (entry_limit > 0),        -- per event; null: unlimited
    max_daily_entries   integer CHECK (max_daily_entries > 0),  -- per event day; null: unlimited
    valid_days          date[],   -- null: every day of the event
    zone_ids            uuid[],   -- where it is sold; null: every zone that has a price
    gate_ids            uuid[],   -- where it is let in; null: every gate that lets its zone in
    reentry             text NOT NULL CHECK (reentry IN ('allowed', 'after_exit', 'never')),
    currency            text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    prices              jsonb NOT NULL,  -- [{"pricing_rule_id": uuid or null, "amount_minor": n}]
    quota               integer CHECK (quota > 0),
    taken               integer NOT NULL DEFAULT 0,  -- by pending orders and valid tickets
    max_per_order       integer CHECK (max_per_order > 0),
    sold_by             text NOT NULL CHECK (sold_by IN ('anybody', 'staff')),
    status              text NOT NULL CHECK (status IN ('on_sale', 'off_sale')),
    version             integer NOT NULL DEFAULT 1,
    created_at          timestamptz NOT NULL,
    updated_at          timestamptz NOT NULL,
    PRIMARY KEY (organization_id, id),
    CONSTRAINT ticket_type_name_taken UNIQUE (organization_id, event_id, name),
    CONSTRAINT ticket_type_number_taken UNIQUE (organization_id, event_id, number),
    CONSTRAINT ticket_type_not_oversold CHECK (taken >= 0 AND (quota IS NULL OR taken <= quota)),
    FOREIGN KEY (organization_id, event_id) REFERENCES event ON DELETE CASCADE
) WITH (fillfactor = 50);

CREATE TABLE ticket_order (
    organization_id uuid NOT NULL,
    id              uuid NOT NULL,
    number          text NOT NULL,   -- what people say and write
    event_id        uuid NOT NULL,
    user_id         uuid,            -- whose account; null for a sale to somebody without one
    sold_by_id      uuid,            -- the member of staff, if one sold it
    buyer_name      text NOT NULL,
    buyer_email     text,
    status          text NOT NULL CHECK (status IN (
        'pending', 'paid', 'cancelled', 'expired', 'refund_due', 'partially_refunded', 'refunded')),
    currency        text NOT NULL,
    total_minor     bigint NOT NULL CHECK (total_minor >= 0),
    refunded_minor  bigint NOT NULL DEFAULT 0,
    secret          text NOT NULL,   -- opens the order's page without an account
    held_until      timestamptz NOT NULL,
    note            text NOT NULL DEFAULT '',
    version         integer NOT NULL DEFAULT 1,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, id),
    CONSTRAINT ticket_order_number_taken UNIQUE (organization_id, number),
    CONSTRAINT ticket_order_refunded CHECK (refunded_minor BETWEEN 0 AND total_minor),
    FOREIGN KEY (organization_id, event_id) REFERENCES event
);
CREATE INDEX ticket_order_by_event ON ticket_order (organization_id, event_id, id);
CREATE INDEX ticket_order_by_user ON ticket_order (organization_id, user_id, id) WHERE user_id IS NOT NULL;
-- Not by organisation: the sweep asks who has any.
CREATE INDEX ticket_order_pending ON ticket_order (held_until) WHERE status = 'pending';

-- One ticket to be: what is sold, to be let in where and when, for how much.
CREATE TABLE order_line (
    organization_id uuid NOT NULL,
    order_id        uuid NOT NULL,
    line            smallint NOT NULL,
    hold_id         uuid NOT NULL,
    ticket_type_id  uuid NOT NULL,
    zone_id         uuid NOT NULL,
    seat_id         uuid,
    seat_label      text,
    days            date[] NOT NULL,
    holder_name     text NOT NULL,
    price_minor     bigint NOT NULL CHECK (price_minor >= 0),
    associated_membership_id uuid,
    PRIMARY KEY (organization_id, order_id, line),
    FOREIGN KEY (organization_id, order_id) REFERENCES ticket_order ON DELETE CASCADE,
    FOREIGN KEY (organization_id, ticket_type_id) REFERENCES ticket_type
);

CREATE TABLE payment (
    organization_id uuid NOT NULL,
    id              uuid NOT NULL,
    order_id        uuid NOT NULL,
    provider        text NOT NULL,
    method          text NOT NULL,
    status          text NOT NULL CHECK (status IN (
        'pending', 'succeeded', 'failed', 'refund_due', 'partially_refunded', 'refunded')),
    amount_minor    bigint NOT NULL CHECK (amount_minor >= 0),
    refunded_minor  bigint NOT NULL DEFAULT 0,
    refund_due_minor bigint NOT NULL DEFAULT 0,
    currency        text NOT NULL,
    reference       text,            -- the provider's
    actor_id        uuid,
    note            text NOT NULL DEFAULT '',
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, id),
    CONSTRAINT payment_given_back CHECK (refunded_minor + refund_due_minor BETWEEN 0 AND amount_minor),
    FOREIGN KEY (organization_id, order_id) REFERENCES ticket_order
);
CREATE INDEX payment_by_order ON payment (organization_id, order_id);

-- What a provider told us, each once.
CREATE TABLE payment_delivery (
    organization_id uuid NOT NULL,
    provider        text NOT NULL,
    delivery_id     text NOT NULL,
    payment_id      uuid NOT NULL,
    body_hash       bytea NOT NULL,
    outcome         text NOT NULL,
    at              timestamptz NOT NULL,
    PRIMARY KEY (organization_id, provider, delivery_id)
);

-- How an organisation uses a payment provider; its secrets are sealed with the master key.
CREATE TABLE payment_account (
    organization_id uuid NOT NULL REFERENCES organization,
    provider        text NOT NULL,
    page_url        text NOT NULL,
    sealed_secret   bytea NOT NULL,
    version         integer NOT NULL,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, provider)
);

CREATE TABLE event_key (
    organization_id uuid NOT NULL,
    event_id        uuid NOT NULL,
    number          smallint NOT NULL CHECK (number BETWEEN 1 AND 255),  -- barcodes carry it
    public_key      bytea NOT NULL,
    sealed_private_key bytea NOT NULL,
    created_at      timestamptz NOT NULL,
    retired_at      timestamptz,     -- signs no more, still verifies
    PRIMARY KEY (organization_id, event_id, number),
    FOREIGN KEY (organization_id, event_id) REFERENCES event ON DELETE CASCADE
);

CREATE TABLE ticket (
    organization_id uuid NOT NULL,
    id              uuid NOT NULL,
    event_id        uuid NOT NULL,
    code            text NOT NULL CHECK (code ~ '^[A-Z0-9]{4}(-[A-Z0-9]{4}){2}$'),
    issue           smallint NOT NULL DEFAULT 1 CHECK (issue > 0),  -- a reissued ticket has the next
    barcode_hash    bytea NOT NULL,   -- SHA-256 of the only text that is its barcode
    key_number      smallint NOT NULL,
    status          text NOT NULL CHECK (status IN ('active', 'scanned', 'used', 'voided', 'refunded')),
    -- Apart from the status, so that a scan changes nothing that an index looks at.
    is_valid        boolean NOT NULL GENERATED ALWAYS AS (status IN ('active', 'scanned', 'used')) STORED,
    status_reason   text NOT NULL DEFAULT '',
    ticket_type_id  uuid NOT NULL,
    order_id        uuid,             -- null: sold elsewhere and imported
    order_line      smallint,
    hold_id         uuid,             -- through which its seat was sold
    zone_id         uuid,
    seat_id         uuid,
    seat_label      text,
    days            date[] NOT NULL,
    zone_number     smallint NOT NULL,  -- these two as they were signed, so that the barcode can be
    days_mask       bigint NOT NULL,    -- made again whatever becomes of layout and event
    holder_name     text NOT NULL DEFAULT '',
    holder_email    text,
    price_minor     bigint NOT NULL DEFAULT 0,
    associated_membership_id uuid,
    external_reference text,
    scanned_at      timestamptz,      -- of the first entry
    last_scanned_at timestamptz,      -- of the last one, and where and on which of the event's days
    last_exit_at    timestamptz,
    last_gate_id    uuid,
    last_entry_day  date,
    day_entries     integer NOT NULL DEFAULT 0,  -- on that day
    is_inside       boolean NOT NULL DEFAULT false,  -- since then, as far as anybody saw
    scan_count      integer NOT NULL DEFAULT 0,  -- entries
    version         integer NOT NULL DEFAULT 1,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, id),
    CONSTRAINT ticket_code_taken UNIQUE (organization_id, code),
    FOREIGN KEY (organization_id, event_id) REFERENCES event,
    FOREIGN KEY (organization_id, ticket_type_id) REFERENCES ticket_type
) WITH (fillfactor = 85);
CREATE INDEX ticket_by_event ON ticket (organization_id, event_id, id);
CREATE INDEX ticket_by_order ON ticket (organization_id, order_id) WHERE order_id IS NOT NULL;
-- One valid ticket for a seat of an event, whatever else went wrong.
CREATE UNIQUE INDEX ticket_one_per_seat ON ticket (organization_id, event_id, seat_id)
    WHERE seat_id IS NOT NULL AND is_valid;

-- What gates must hear of: a ticket that is no longer good, or whose barcode is another.
CREATE TABLE ticket_revocation (
    organization_id uuid NOT NULL,
    id              uuid NOT NULL,
    event_id        uuid NOT NULL,
    ticket_id       uuid NOT NULL,
    issue           smallint,         -- only this barcode; null: the ticket itself
    reason          text NOT NULL,
    at              timestamptz NOT NULL,
    PRIMARY KEY (organization_id, id)
);
CREATE INDEX ticket_revocation_by_event ON ticket_revocation (organization_id, event_id, id);

-- A file of tickets sold elsewhere: the file until it is done, its progress, its faults.
CREATE TABLE ticket_import (
    organization_id uuid NOT NULL,
    id              uuid NOT NULL,
    event_id        uuid NOT NULL,
    status          text NOT NULL CHECK (status IN ('receiving', 'waiting', 'running', 'done', 'failed')),
    dry_run         boolean NOT NULL,
    file_name       text NOT NULL,
    file_bytes      integer NOT NULL DEFAULT 0,
    file_hash       bytea,           -- SHA-256, once all of it is here
    rows_total      integer,
    rows_read       integer NOT NULL DEFAULT 0,
    created         integer NOT NULL DEFAULT 0,
    unchanged       integer NOT NULL DEFAULT 0,
    faulty          integer NOT NULL DEFAULT 0,
    faults_kept     integer NOT NULL DEFAULT 0,
    attempts        smallint NOT NULL DEFAULT 0,
    problem         text,
    actor_id        uuid,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, id),
    FOREIGN KEY (organization_id, event_id) REFERENCES event ON DELETE CASCADE
);
CREATE INDEX ticket_import_by_event ON ticket_import (organization_id, event_id, id);
CREATE INDEX ticket_import_unfinished ON ticket_import (organization_id, updated_at)
    WHERE status IN ('receiving', 'waiting', 'running');
CREATE TABLE ticket_import_chunk (
    organization_id uuid NOT NULL,
    import_id       uuid NOT NULL,
    number          integer NOT NULL,
    content         bytea NOT NULL,
    PRIMARY KEY (organization_id, import_id, number),
    FOREIGN KEY (organization_id, import_id) REFERENCES ticket_import ON DELETE CASCADE
);
CREATE TABLE ticket_import_fault (
    organization_id uuid NOT NULL,
    import_id       uuid NOT NULL,
    number          integer NOT NULL,
    line            integer NOT NULL,
    field           text NOT NULL,
    message         text NOT NULL,
    PRIMARY KEY (organization_id, import_id, number),
    FOREIGN KEY (organization_id, import_id) REFERENCES ticket_import ON DELETE CASCADE
);
-- What lines without a code were known by when they were imported, for when they come again.
CREATE TABLE ticket_import_identity (
    organization_id uuid NOT NULL,
    event_id        uuid NOT NULL,
    reference       text NOT NULL,
    content_hash    bytea NOT NULL,
    number          integer NOT NULL CHECK (number > 0),  -- among those with the same content
    ticket_id       uuid NOT NULL,
    PRIMARY KEY (organization_id, event_id, reference, content_hash, number),
    FOREIGN KEY (organization_id, event_id) REFERENCES event ON DELETE CASCADE
);

SELECT wall_off(tenant_table::regclass) FROM unnest(ARRAY[
    'ticket_type', 'ticket_order', 'order_line', 'payment', 'payment_delivery', 'payment_account',
    'event_key', 'ticket', 'ticket_revocation',
    'ticket_import', 'ticket_import_chunk', 'ticket_import_fault', 'ticket_import_identity'
]) AS tenant_table;

CREATE POLICY sweep ON ticket_order FOR SELECT TO CURRENT_USER USING (true);
CREATE FUNCTION organizations_with_orders_over(before timestamptz) RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public
    BEGIN ATOMIC
        SELECT DISTINCT organization_id FROM ticket_order
         WHERE status = 'pending' AND held_until <= before;
    END;
REVOKE ALL ON FUNCTION organizations_with_orders_over(timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION organizations_with_orders_over(timestamptz) TO voelgoed_server;

GRANT SELECT, INSERT, UPDATE ON
    ticket_order, payment, payment_account, ticket, event_key TO voelgoed_server;
GRANT SELECT, INSERT, UPDATE, DELETE ON
    ticket_type, ticket_import, ticket_import_chunk, ticket_import_fault TO voelgoed_server;
GRANT SELECT, INSERT ON
    order_line, payment_delivery, ticket_revocation, ticket_import_identity TO voelgoed_server;

-- migrate: rollback
