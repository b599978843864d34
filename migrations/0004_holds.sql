-- Holds of seats and places, and what happened in sales
-- depends: 0003_seating

-- migrate: apply

-- One seat, or so many places of a zone, kept for somebody for a while. This is the record;
-- what is free follows from seat_state and zone_day, which point here.
CREATE TABLE seat_hold (
    organization_id uuid NOT NULL,
    id              uuid NOT NULL,
    event_id        uuid NOT NULL,
    booking_id      uuid NOT NULL,  -- what was held together has one
    user_id         uuid NOT NULL,
    seat_id         uuid,           -- null: places of the zone
    zone_id         uuid NOT NULL,
    places          integer NOT NULL CHECK (places > 0),
    days            date[],         -- of places; a seat is held for the whole event
    status          text NOT NULL CHECK (status IN ('active', 'converted', 'expired', 'cancelled')),
    held_until      timestamptz NOT NULL,
    extended        boolean NOT NULL DEFAULT false,
    source          text NOT NULL CHECK (source IN ('web', 'scanner')),
    is_judged       boolean NOT NULL,  -- as a whole selection; else it is when it is bought
    notes           text,
    associated_membership_id uuid,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    PRIMARY KEY (organization_id, id),
    CONSTRAINT seat_hold_of_one_kind CHECK ((seat_id IS NULL) = (days IS NOT NULL)),
    CONSTRAINT seat_hold_of_one_seat CHECK (seat_id IS NULL OR places = 1)
) WITH (fillfactor = 80);
CREATE INDEX seat_hold_by_event ON seat_hold (organization_id, event_id, id);
CREATE INDEX seat_hold_by_booking ON seat_hold (organization_id, booking_id);
CREATE INDEX seat_hold_by_user ON seat_hold (organization_id, user_id, event_id) WHERE status = 'active';
-- Not by organisation: the sweep asks who has anything to sweep.
CREATE INDEX seat_hold_by_end ON seat_hold (held_until) WHERE status = 'active';

-- Domain events such as SeatReserved, for whoever counts them afterwards.
CREATE TABLE domain_event (
    organization_id uuid NOT NULL,
    id              uuid NOT NULL,
    name            text NOT NULL,
    event_id        uuid NOT NULL,
    subject_id      uuid NOT NULL,
    payload         jsonb NOT NULL,
    at              timestamptz NOT NULL,
    PRIMARY KEY (organization_id, id)
);
CREATE INDEX domain_event_by_event ON domain_event (organization_id, event_id, at);

SELECT wall_off(tenant_table::regclass) FROM unnest(ARRAY['seat_hold', 'domain_event']) AS tenant_table;

-- Which organisations have holds that ended before this moment: the only question about holds that
-- is asked across them. It tells ids and nothing else.
CREATE POLICY sweep ON seat_hold FOR SELECT TO CURRENT_USER USING (true);
CREATE FUNCTION organizations_with_ended_holds(before timestamptz) RETURNS SETOF uuid
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public
    BEGIN ATOMIC
        SELECT DISTINCT organization_id FROM seat_hold
         WHERE status = 'active' AND held_until <= before;
    END;
REVOKE ALL ON FUNCTION organizations_with_ended_holds(timestamptz) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION organizations_with_ended_holds(timestamptz) TO voelgoed_server;

-- Who asks, of many requests at once: one round trip for all that came in together.
CREATE FUNCTION find_sessions(organization uuid, wanted_hashes bytea[])
    RETURNS TABLE (token_hash bytea, id uuid, user_id uuid, role text, last_seen_at timestamptz,
                   expires_at timestamptz)
    LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('voelgoed.organization_id', organization::text, true);
    -- One look into each index for each of them, whatever the planner believes of the tables.
    RETURN QUERY
        SELECT found.token_hash, found.id, found.user_id, person.role, found.last_seen_at,
               found.expires_at
          FROM unnest(wanted_hashes) AS wanted (hash)
         CROSS JOIN LATERAL (SELECT * FROM session
                              WHERE session.organization_id = organization
                                AND session.token_hash = wanted.hash LIMIT 1) AS found
         CROSS JOIN LATERAL (SELECT app_user.role FROM app_user
                              WHERE app_user.organization_id = organization
                                AND app_user.id = found.user_id
                                AND app_user.status = 'active' LIMIT 1) AS person;
END
$$;
REVOKE ALL ON FUNCTION find_sessions(uuid, bytea[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_sessions(uuid, bytea[]) TO voelgoed_server;
DROP FUNCTION find_session(uuid, bytea);

GRANT SELECT, INSERT, UPDATE ON seat_hold TO voelgoed_server;
-- Append-only, as the audit log.
GRANT SELECT, INSERT ON domain_event TO voelgoed_server;

-- migrate: rollback
