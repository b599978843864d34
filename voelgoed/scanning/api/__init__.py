from voelgoed.scanning.api import alerts, devices, policies, scans, supervision
from voelgoed.scanning.api.scans import SCANS, SCANS_TEMPLATE, answer_scan

__all__ = ["ROUTES", "SCANS", "SCANS_TEMPLATE", "answer_scan"]

ROUTES = [
    *scans.ROUTES,
    *devices.ROUTES,
    *supervision.ROUTES,
    *alerts.ROUTES,
    *policies.ROUTES,
]
