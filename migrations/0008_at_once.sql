-- For what is read or written in a single round trip: statements that check themselves
-- depends: 0007_live

-- migrate: apply

-- Ends a statement, and undoes what it wrote, when it finds that it must not have been.
CREATE FUNCTION abort(code text, reason text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '%', reason USING ERRCODE = code;
END
$$;
REVOKE ALL ON FUNCTION abort(text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION abort(text, text) TO voelgoed_server;

-- It locked the organisation's row, for every entry that anybody wrote.
ALTER TABLE audit_entry DROP CONSTRAINT audit_entry_organization_id_fkey;

-- migrate: rollback
