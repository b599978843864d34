-- Where each device was assigned and when; which device a pairing replaces; when a device was last heard
-- depends: 0011_manifests

-- migrate: apply

-- A row begins when an active device gets a gate. It ends when the device gets another gate or none, is
-- deactivated or is revoked. Without foreign keys: it outlives the gate.
CREATE TABLE device_assignment (
    organization_id uuid NOT NULL,
    id              uuid NOT NULL,
    device_id       uuid NOT NULL,
    gate_id         uuid NOT NULL,
    event_id        uuid NOT NULL,
    from_at         timestamptz NOT NULL,
    until_at        timestamptz CHECK (until_at >= from_at),  -- null: it is assigned there now
    PRIMARY KEY (organization_id, id)
);
CREATE INDEX device_assignment_by_device ON device_assignment (organization_id, device_id, from_at);
CREATE UNIQUE INDEX device_assignment_one_now ON device_assignment (organization_id, device_id)
    WHERE until_at IS NULL;
CREATE INDEX device_assignment_by_gate ON device_assignment (organization_id, gate_id)
    WHERE until_at IS NULL;

ALTER TABLE device_pairing
    ADD COLUMN replaces_device_id uuid;  -- the device that may be taken over; null: none may be
ALTER TABLE scan_device
    ADD COLUMN last_seen_at timestamptz; -- its last request, to within half a minute

SELECT wall_off('device_assignment');
GRANT SELECT, INSERT ON device_assignment TO voelgoed_server;
GRANT UPDATE (until_at) ON device_assignment TO voelgoed_server;

-- Gates belong to the events domain, which does not know devices: as PostgreSQL takes a deleted gate
-- from its devices, so it ends their assignments.
CREATE FUNCTION end_assignments_of_gate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE device_assignment SET until_at = greatest(from_at, now())
     WHERE organization_id = OLD.organization_id AND gate_id = OLD.id AND until_at IS NULL;
    RETURN OLD;
END
$$;
CREATE TRIGGER gate_deleted AFTER DELETE ON gate
    FOR EACH ROW EXECUTE FUNCTION end_assignments_of_gate();

-- Devices that exist have been at their gate since they were paired, as far as is known.
DO $$
DECLARE
    tenant uuid;
BEGIN
    FOR tenant IN SELECT id FROM organization LOOP
        PERFORM set_config('voelgoed.organization_id', tenant::text, true);
        INSERT INTO device_assignment (organization_id, id, device_id, gate_id, event_id, from_at, until_at)
        SELECT device.organization_id, gen_random_uuid(), device.id, gate.id, gate.event_id,
               device.paired_at,
               CASE WHEN device.deleted_at IS NOT NULL THEN greatest(device.paired_at, device.deleted_at)
                    WHEN device.status <> 'active' THEN greatest(device.paired_at, device.updated_at)
               END
          FROM scan_device AS device
          JOIN gate ON gate.organization_id = device.organization_id AND gate.id = device.gate_id;
    END LOOP;
END
$$;

-- migrate: rollback
