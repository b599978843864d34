-- A mark that changes with what every scan needs of devices, gates and events, so that a process may keep it
-- depends: 0015_emptied

-- migrate: apply

-- A random mark, not a number: after a restore no process takes what it remembers for what is there now.
CREATE TABLE station_version (
    organization_id uuid PRIMARY KEY,
    version         uuid NOT NULL,
    changed_by      xid8 NOT NULL,   -- the transaction, which needs one mark for all its changes
    changed_at      timestamptz NOT NULL  -- and when it began: another cluster counts its transactions anew
);
SELECT wall_off('station_version');
GRANT SELECT, INSERT, UPDATE ON station_version TO voelgoed_server;

CREATE FUNCTION mark_station_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO station_version AS known (organization_id, version, changed_by, changed_at)
    VALUES (coalesce(NEW.organization_id, OLD.organization_id), gen_random_uuid(), pg_current_xact_id(),
            now())
    ON CONFLICT (organization_id) DO UPDATE
       SET version = EXCLUDED.version, changed_by = EXCLUDED.changed_by,
           changed_at = EXCLUDED.changed_at
     WHERE (known.changed_by, known.changed_at) <> (EXCLUDED.changed_by, EXCLUDED.changed_at);
    RETURN NULL;
END
$$;

-- Deferred to the commit: the mark's row is the last that a transaction locks, so nobody waits in a circle.
CREATE CONSTRAINT TRIGGER station_changed
    AFTER INSERT OR DELETE OR UPDATE OF name, status, key_version, deleted_at, rotation_demanded_at, gate_id
    ON scan_device DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION mark_station_change();
CREATE CONSTRAINT TRIGGER station_changed AFTER INSERT OR UPDATE OR DELETE
    ON gate DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION mark_station_change();
CREATE CONSTRAINT TRIGGER station_changed AFTER UPDATE OF status, ends_at, capacity, version
    ON event DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION mark_station_change();
CREATE CONSTRAINT TRIGGER station_changed AFTER INSERT OR UPDATE OR DELETE
    ON event_day DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION mark_station_change();
CREATE CONSTRAINT TRIGGER station_changed AFTER INSERT OR UPDATE OF layout_id OR DELETE
    ON event_layout DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION mark_station_change();
CREATE CONSTRAINT TRIGGER station_changed AFTER INSERT OR UPDATE OR DELETE
    ON scan_policy DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION mark_station_change();
CREATE CONSTRAINT TRIGGER station_changed AFTER INSERT OR UPDATE OR DELETE
    ON event_key DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION mark_station_change();
CREATE CONSTRAINT TRIGGER station_changed AFTER INSERT
    ON occupancy_reset DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION mark_station_change();

-- migrate: rollback
