-- Layouts, seating policies, and the state of every event's seats and places
-- depends: 0002_jobs

-- migrate: apply

CREATE TABLE layout (
    organization_id uuid NOT NULL,
    id              uuid NOT NULL,
    lineage_id      uuid NOT NULL,  -- the id of version 1
    venue_id        uuid NOT NULL,
    name            text NOT NULL,
    description     text NOT NULL,
    version         integer NOT NULL,
    status          text NOT NULL CHECK (status IN ('draft', 'active', 'archived')),
    total_capacity  integer NOT NULL CHECK (total_capacity > 0),
    seat_count      integer NOT NULL CHECK (seat_count >= 0),
    config          jsonb NOT NULL,
    config_hash     text NOT NULL,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, id),
    CONSTRAINT layout_version_taken UNIQUE (organization_id, lineage_id, version),
    FOREIGN KEY (organization_id, venue_id) REFERENCES venue
);
CREATE INDEX layout_by_venue ON layout (organization_id, venue_id, id);
CREATE UNIQUE INDEX layout_one_active ON layout (organization_id, lineage_id) WHERE status = 'active';

CREATE TABLE seating_policy (
    organization_id                         uuid PRIMARY KEY REFERENCES organization,
    allow_reserved_seating                  boolean NOT NULL,
    allow_ga_seating                        boolean NOT NULL,
    allow_hybrid_ga_reserved                boolean NOT NULL,
    allow_vip_zones                         boolean NOT NULL,
    enforce_accessibility_rules             boolean NOT NULL,
    companion_release_occupancy_threshold   integer NOT NULL
        CHECK (companion_release_occupancy_threshold BETWEEN 0 AND 100),
    max_wheelchair_seats_per_booking        integer NOT NULL CHECK (max_wheelchair_seats_per_booking > 0),
    accessibility_audit_enabled             boolean NOT NULL,
    max_seats_per_booking                   integer NOT NULL CHECK (max_seats_per_booking > 0),
    orphan_avoidance_strict                 boolean NOT NULL,
    group_adjacency_strict                  boolean NOT NULL,
    max_group_split                         integer NOT NULL CHECK (max_group_split >= 0),
    prefer_clustering_over_selection        boolean NOT NULL,
    default_hold_ttl_minutes                integer NOT NULL
        CHECK (default_hold_ttl_minutes BETWEEN 1 AND 60),
    max_holds_per_user                      integer CHECK (max_holds_per_user > 0),
    max_holds_per_ip                        integer CHECK (max_holds_per_ip > 0),
    mandatory                               text[] NOT NULL,
    version                                 integer NOT NULL,
    created_at                              timestamptz NOT NULL,
    updated_at                              timestamptz NOT NULL
);

CREATE TABLE event_layout (
    organization_id uuid NOT NULL,
    event_id        uuid NOT NULL,
    id              uuid NOT NULL,
    layout_id       uuid NOT NULL,
    layout_version  integer NOT NULL,
    overrides       jsonb NOT NULL,
    version         integer NOT NULL,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    CONSTRAINT event_layout_pkey PRIMARY KEY (organization_id, event_id),
    FOREIGN KEY (organization_id, event_id) REFERENCES event ON DELETE CASCADE,
    FOREIGN KEY (organization_id, layout_id) REFERENCES layout
);
CREATE INDEX event_layout_by_layout ON event_layout (organization_id, layout_id);

-- A seat without a row was never touched: available, version 0. So nothing of a layout is
-- copied for an event. Free space in the pages, because rows change in place.
CREATE TABLE seat_state (
    organization_id uuid NOT NULL,
    event_id        uuid NOT NULL,
    seat_id         uuid NOT NULL,
    position        integer NOT NULL CHECK (position >= 0),  -- in the order of the layout version
    status          text NOT NULL CHECK (status IN ('available', 'held', 'sold', 'blocked')),
    held_until      timestamptz,
    locked_at       timestamptz,
    seat_hold_id    uuid,
    holder_id       uuid,
    blocked_reason  text,
    sold_when_blocked boolean NOT NULL DEFAULT false,
    version         integer NOT NULL,
    updated_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, event_id, seat_id),
    FOREIGN KEY (organization_id, event_id) REFERENCES event_layout ON DELETE CASCADE,
    CONSTRAINT seat_state_held CHECK
        ((status = 'held') = (held_until IS NOT NULL) AND (status <> 'held' OR seat_hold_id IS NOT NULL)),
    CONSTRAINT seat_state_blocked CHECK
        ((status = 'blocked') = (blocked_reason IS NOT NULL) AND (status = 'blocked' OR NOT sold_when_blocked))
) WITH (fillfactor = 85);

CREATE INDEX seat_state_by_holder ON seat_state (organization_id, event_id, holder_id)
    WHERE holder_id IS NOT NULL;

-- Places of a zone without seats, on one event day. The bounds are the last word: whatever
-- interleaving, no statement can leave the row outside of them.
CREATE TABLE zone_day (
    organization_id uuid NOT NULL,
    event_id        uuid NOT NULL,
    zone_id         uuid NOT NULL,
    day             date NOT NULL,
    capacity        integer NOT NULL,
    held            integer NOT NULL DEFAULT 0,
    sold            integer NOT NULL DEFAULT 0,
    PRIMARY KEY (organization_id, event_id, zone_id, day),
    FOREIGN KEY (organization_id, event_id) REFERENCES event_layout ON DELETE CASCADE,
    CONSTRAINT zone_day_in_bounds CHECK (held >= 0 AND sold >= 0 AND held + sold <= capacity)
) WITH (fillfactor = 50);

-- The places one hold has in one zone; the days are those of the tickets they are for, so a
-- hold for a pass and a day ticket has two rows.
CREATE TABLE place_hold (
    organization_id uuid NOT NULL,
    event_id        uuid NOT NULL,
    zone_id         uuid NOT NULL,
    hold_id         uuid NOT NULL,
    days            date[] NOT NULL CHECK (cardinality(days) > 0),
    places          integer NOT NULL CHECK (places > 0),
    held_until      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, hold_id, zone_id, days),
    FOREIGN KEY (organization_id, event_id) REFERENCES event_layout ON DELETE CASCADE
);
CREATE INDEX place_hold_by_end ON place_hold (organization_id, event_id, zone_id, held_until);

SELECT wall_off(tenant_table::regclass) FROM unnest(ARRAY[
    'layout', 'seating_policy', 'event_layout', 'seat_state', 'zone_day', 'place_hold'
]) AS tenant_table;

-- A layout is immutable: the server may change its status and nothing else.
GRANT SELECT, INSERT, DELETE ON layout TO voelgoed_server;
GRANT UPDATE (status, updated_at) ON layout TO voelgoed_server;
GRANT SELECT, INSERT, UPDATE ON seating_policy TO voelgoed_server;
GRANT SELECT, INSERT, UPDATE, DELETE ON
    event_layout, seat_state, zone_day, place_hold TO voelgoed_server;

-- migrate: rollback
