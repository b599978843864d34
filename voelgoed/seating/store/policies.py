from voelgoed.infra.database import Transaction
from voelgoed.seating.model.policy import SeatingPolicy


async def find_policy(tx: Transaction) -> SeatingPolicy | None:
    return await tx.row(
        SeatingPolicy,
        """
        SELECT organization_id AS id, allow_reserved_seating, allow_ga_seating,
               allow_hybrid_ga_reserved, allow_vip_zones, enforce_accessibility_rules,
               companion_release_occupancy_threshold, max_wheelchair_seats_per_booking,
               accessibility_audit_enabled, max_seats_per_booking, orphan_avoidance_strict,
               group_adjacency_strict, max_group_split, prefer_clustering_over_selection,
               default_hold_ttl_minutes, max_holds_per_user, max_holds_per_ip, mandatory,
               version, created_at, updated_at
          FROM seating_policy
        """,
    )


async def write_policy(tx: Transaction, policy: SeatingPolicy) -> int:
    """Writes the next version of what was read; 0 when somebody else was first."""
    return await tx.run(
        """
        INSERT INTO seating_policy AS policy (
            organization_id, allow_reserved_seating, allow_ga_seating, allow_hybrid_ga_reserved,
            allow_vip_zones, enforce_accessibility_rules, companion_release_occupancy_threshold,
            max_wheelchair_seats_per_booking, accessibility_audit_enabled, max_seats_per_booking,
            orphan_avoidance_strict, group_adjacency_strict, max_group_split,
            prefer_clustering_over_selection, default_hold_ttl_minutes, max_holds_per_user,
            max_holds_per_ip, mandatory, version, created_at, updated_at)
        VALUES (current_organization(), $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,
                $15, $16, $17, $18, $19, $20)
        ON CONFLICT (organization_id) DO UPDATE SET
            allow_reserved_seating = $1, allow_ga_seating = $2, allow_hybrid_ga_reserved = $3,
            allow_vip_zones = $4, enforce_accessibility_rules = $5,
            companion_release_occupancy_threshold = $6, max_wheelchair_seats_per_booking = $7,
            accessibility_audit_enabled = $8, max_seats_per_booking = $9,
            orphan_avoidance_strict = $10, group_adjacency_strict = $11, max_group_split = $12,
            prefer_clustering_over_selection = $13, default_hold_ttl_minutes = $14,
            max_holds_per_user = $15, max_holds_per_ip = $16, mandatory = $17, version = $18,
            updated_at = $20
        WHERE policy.version = $18 - 1
        """,
        policy.allow_reserved_seating,
        policy.allow_ga_seating,
        policy.allow_hybrid_ga_reserved,
        policy.allow_vip_zones,
        policy.enforce_accessibility_rules,
        policy.companion_release_occupancy_threshold,
        policy.max_wheelchair_seats_per_booking,
        policy.accessibility_audit_enabled,
        policy.max_seats_per_booking,
        policy.orphan_avoidance_strict,
        policy.group_adjacency_strict,
        policy.max_group_split,
        policy.prefer_clustering_over_selection,
        policy.default_hold_ttl_minutes,
        policy.max_holds_per_user,
        policy.max_holds_per_ip,
        policy.mandatory,
        policy.version,
        policy.created_at,
        policy.updated_at,
    )
