-- An administrator may demand that a device changes its key
-- depends: 0006_scanning

-- migrate: apply

ALTER TABLE scan_device
    ADD COLUMN rotation_demanded_at timestamptz,  -- and not followed yet
    ADD COLUMN rotation_id uuid;     -- by which a device asked for its present key: null, it was paired

-- migrate: rollback
