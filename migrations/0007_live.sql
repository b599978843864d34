-- Live messages in one round trip
-- depends: 0006_scanning

-- migrate: apply

-- Many messages in one call: numbered by topic, and told to every process when this commits. The
-- row locks make numbers and the order of telling agree between processes; topics are taken in one
-- order, so that nobody waits in a circle. A lost hint is harmless: no need to wait for the disk.
CREATE FUNCTION tell_live(
    organization uuid, at timestamptz, channel text,
    dropped text[],         -- payloads about cache keys, told before anything else
    topics text[], counts bigint[],
    payload_numbers integer[], parcel_topics text[], firsts bigint[], contents text[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    told bigint;
BEGIN
    PERFORM set_config('voelgoed.organization_id', organization::text, true),
            set_config('synchronous_commit', 'off', true),
            -- For somebody who looks before he tells of the same topic: then its readers read again.
            set_config('lock_timeout', '1000', true);
    PERFORM pg_notify(channel, payload) FROM unnest(dropped) AS payload;
    WITH numbered AS (
        INSERT INTO live_topic (organization_id, topic, seq, touched_at)
        SELECT organization, new.topic, new.added, at
          FROM unnest(topics, counts) AS new (topic, added) ORDER BY new.topic
        ON CONFLICT ON CONSTRAINT live_topic_pkey DO UPDATE
            SET seq = live_topic.seq + EXCLUDED.seq, touched_at = EXCLUDED.touched_at
        RETURNING live_topic.topic, live_topic.seq - counts[array_position(topics, live_topic.topic)]
                  AS last
    ), payload AS (
        SELECT parcel.payload_number,
               '[' || string_agg(format('["%s",%s,%s,%s,[]]', organization, to_json(parcel.topic),
                                        numbered.last + parcel.first, parcel.content),
                                 ',' ORDER BY parcel.number) || ']' AS content
          FROM unnest(payload_numbers, parcel_topics, firsts, contents) WITH ORDINALITY
            AS parcel (payload_number, topic, first, content, number)
          JOIN numbered ON numbered.topic = parcel.topic
         GROUP BY parcel.payload_number ORDER BY parcel.payload_number
    )
    SELECT count(pg_notify(channel, payload.content)) INTO told FROM payload;
END
$$;
REVOKE ALL ON FUNCTION tell_live(uuid, timestamptz, text, text[], text[], bigint[], integer[], text[],
                                 bigint[], text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION tell_live(uuid, timestamptz, text, text[], text[], bigint[], integer[], text[],
                                    bigint[], text[]) TO voelgoed_server;

-- migrate: rollback
