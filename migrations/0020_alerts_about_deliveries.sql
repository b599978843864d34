-- Of very many tickets in one delivery there is one alert, about that delivery
-- depends: 0019_annulled_heads

-- migrate: apply

ALTER TABLE scan_alert
    DROP CONSTRAINT scan_alert_subject_type_check,
    ADD CONSTRAINT scan_alert_subject_type_check
        CHECK (subject_type IN ('ticket', 'gate', 'device', 'event', 'batch'));

-- migrate: rollback
