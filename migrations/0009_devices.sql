-- An administrator may demand that a device changes its key; what it sent in error is counted
-- depends: 0008_at_once

-- migrate: apply

ALTER TABLE scan_device
    ADD COLUMN rotation_demanded_at timestamptz,  -- and not followed yet
    ADD COLUMN rotation_id uuid;     -- by which a device asked for its present key: null, it was paired

-- Partial: who scans as they should does not pay for it.
CREATE INDEX audit_entry_of_refused_scans ON audit_entry (actor_id, at DESC)
    WHERE action = 'scan_refused';

-- migrate: rollback
