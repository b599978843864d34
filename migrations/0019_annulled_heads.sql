-- Whoever was let in with what is no ticket of ours can be taken back like others
-- depends: 0018_clock_periods

-- migrate: apply

-- null: it was no ticket of ours
ALTER TABLE scan_annulment ALTER COLUMN ticket_id DROP NOT NULL;

-- migrate: rollback
