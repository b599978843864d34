from voelgoed.scanning.api import (
    alerts,
    conflicts,
    devices,
    event_scans,
    manifests,
    outlook,
    policies,
    recoveries,
    scans,
    supervision,
    syncs,
)
from voelgoed.scanning.api.scans import SCANS, SCANS_TEMPLATE, answer_scan

__all__ = ["ROUTES", "SCANS", "SCANS_TEMPLATE", "answer_scan"]

ROUTES = [
    *scans.ROUTES,
    *event_scans.ROUTES,
    *syncs.ROUTES,
    *devices.ROUTES,
    *manifests.ROUTES,
    *supervision.ROUTES,
    *outlook.ROUTES,
    *alerts.ROUTES,
    *conflicts.ROUTES,
    *recoveries.ROUTES,
    *policies.ROUTES,
]
