-- Everybody who is inside is counted, also who had no right to be; what cannot be verified waits for review
-- depends: 0013_audit_metadata

-- migrate: apply

-- Of those inside by a gate, an event or a zone: how many came in without a right to.
ALTER TABLE occupancy ADD COLUMN irregular integer NOT NULL DEFAULT 0;

ALTER TABLE ticket
    -- Who is inside with this ticket and had no right to: how many, by gate, zone and day.
    ADD COLUMN irregular json NOT NULL DEFAULT '[]',
    -- Since when it is voided, refunded or used: what was scanned before was scanned with a good ticket.
    ADD COLUMN status_since timestamptz;
-- A device may know only the hash of what it read.
CREATE INDEX ticket_by_barcode ON ticket (barcode_hash);

-- Somebody declared the venue empty: whoever came in before has left.
CREATE TABLE occupancy_reset (
    organization_id uuid NOT NULL,
    id              uuid NOT NULL,
    event_id        uuid NOT NULL,
    at              timestamptz NOT NULL,
    reason          text NOT NULL,
    actor_id        uuid NOT NULL,
    inside          integer NOT NULL,   -- how many counted as inside until then
    irregular       integer NOT NULL,
    PRIMARY KEY (organization_id, id)
);
CREATE INDEX occupancy_reset_by_event ON occupancy_reset (organization_id, event_id, at);

-- Of tickets with very many scans: what is known after most of them, so that a further one costs no more than
-- the first. Written with the ticket, which is checked to be as it was seen.
CREATE TABLE scan_history_checkpoint (
    organization_id uuid NOT NULL,
    ticket_id       uuid NOT NULL,
    last_at         timestamptz NOT NULL,  -- the last scan that it is made of, in canonical order
    last_device_id  uuid NOT NULL,
    last_scan_id    uuid NOT NULL,
    state           json NOT NULL,
    PRIMARY KEY (organization_id, ticket_id)
);

-- A delivery may have scans that wait for review, like a file.
ALTER TABLE batch_sync
    DROP CONSTRAINT batch_sync_check2,
    ADD CONSTRAINT batch_sync_review CHECK (source <> 'recovered' OR state IS NOT NULL);

-- A scan that a device denied, and the server denies too, is no conflict.
ALTER TABLE scan_conflict
    DROP CONSTRAINT scan_conflict_kind_check,
    DROP CONSTRAINT scan_conflict_severity_check;

-- What is against a scan whatever else was scanned.
ALTER TABLE scan RENAME COLUMN reason_apart TO stateless_reason;

SELECT wall_off(tenant_table::regclass) FROM unnest(ARRAY[
    'occupancy_reset', 'scan_history_checkpoint'
]) AS tenant_table;
GRANT SELECT, INSERT ON occupancy_reset TO voelgoed_server;
GRANT SELECT, INSERT, UPDATE ON scan_history_checkpoint TO voelgoed_server;

DO $$
DECLARE
    tenant uuid;
BEGIN
    FOR tenant IN SELECT id FROM organization LOOP
        PERFORM set_config('voelgoed.organization_id', tenant::text, true);
        DELETE FROM scan_conflict WHERE kind = 'duplicate_scan';
        UPDATE ticket SET status_since = coalesce(
                   (SELECT max(at) FROM ticket_revocation AS revoked
                     WHERE revoked.organization_id = ticket.organization_id
                       AND revoked.ticket_id = ticket.id AND revoked.issue IS NULL),
                   ticket.updated_at)
         WHERE organization_id = tenant AND status IN ('voided', 'refunded', 'used');
    END LOOP;
END
$$;
ALTER TABLE scan_conflict
    ADD CONSTRAINT scan_conflict_kind_check CHECK (kind = 'double_entry'),
    ADD CONSTRAINT scan_conflict_severity_check CHECK (severity = 'critical');

-- migrate: rollback
