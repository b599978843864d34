-- Counts say when the venue was last declared empty
-- depends: 0014_heads

-- migrate: apply

-- Whoever changes a count learns it from the row itself, which is the newest even where the statement began
-- before the venue was declared empty.
ALTER TABLE occupancy ADD COLUMN emptied_at timestamptz;

-- migrate: rollback
