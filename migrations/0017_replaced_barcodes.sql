-- Which barcode was replaced, by its hash: a device that was alone may know nothing else of what it was shown
-- depends: 0016_station_version

-- migrate: apply

-- Of the barcode of that issue; null for a ticket itself, and for what was replaced before this was kept.
ALTER TABLE ticket_revocation ADD COLUMN barcode_hash bytea;
CREATE INDEX ticket_revocation_by_barcode ON ticket_revocation (barcode_hash);

-- migrate: rollback
