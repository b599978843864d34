-- What was measured of a device's clock, from one jump to the next
-- depends: 0017_replaced_barcodes

-- migrate: apply

-- Scans that were read by a clock which was another at that moment wait for review.
ALTER TABLE scan_device ADD COLUMN clock_periods json NOT NULL DEFAULT '[]';

-- migrate: rollback
