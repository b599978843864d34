-- How an audit entry came.
-- depends: 0012_device_assignments

-- migrate: apply

-- What an action says of how it came, besides the caller's address and agent. Null where that is all,
-- as it is for scans: the entries of the gates are written by the thousand and stay as small as they were.
ALTER TABLE audit_entry ADD COLUMN metadata jsonb;

-- migrate: rollback
