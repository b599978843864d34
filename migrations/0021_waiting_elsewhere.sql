-- Scans that wait for review are listed at the event of the gate which they name, too
-- depends: 0020_alerts_about_deliveries

-- migrate: apply

ALTER TABLE batch_sync ADD COLUMN waiting_elsewhere uuid[] NOT NULL DEFAULT '{}';
-- Few deliveries have any.
CREATE INDEX batch_sync_waiting ON batch_sync (organization_id, id) WHERE state IS NOT NULL;

-- migrate: rollback
