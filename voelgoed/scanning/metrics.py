"""The metrics of the gates that /metrics shows."""

from prometheus_client import Counter, Gauge, Histogram

scans_made = Counter(
    "voelgoedevents_scanning_scans",
    "Scans by decision and reason.",
    ("status", "reason"),
)
scan_duration = Histogram(
    "voelgoedevents_scanning_scan_duration_seconds",
    "Time from a device's request to its answer: admitted, denied, unavailable (503), else refused.",
    ("outcome",),
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0),
)
scan_duplicates = Counter(
    "voelgoedevents_scanning_duplicates",
    "Scans denied as already scanned, by who knew: this process, Redis, PostgreSQL.",
    ("tier",),
)
event_occupancy = Gauge(
    "voelgoedevents_scanning_event_occupancy", "Inside, of events that are live.", ("event_id",)
)
event_capacity = Gauge(
    "voelgoedevents_scanning_event_capacity", "Of events that are live.", ("event_id",)
)
gate_occupancy = Gauge(
    "voelgoedevents_scanning_gate_occupancy",
    "Inside, of who came in at a gate today.",
    ("event_id", "gate_id", "gate"),
)
gate_capacity = Gauge(
    "voelgoedevents_scanning_gate_capacity",
    "How many a gate is for; none where nobody said.",
    ("event_id", "gate_id", "gate"),
)
scanning_devices = Gauge(
    "voelgoedevents_scanning_devices",
    "Devices at gates of live events: active, inactive, offline.",
    ("event_id", "status"),
)
device_silence = Gauge(
    "voelgoedevents_scanning_device_silent_seconds",
    "Since an active device at an open gate last said anything.",
    ("event_id", "gate", "device_id", "device"),
)
pending_syncs = Gauge(
    "voelgoedevents_scanning_pending_syncs",
    "Scans that devices have not sent yet, as they last said.",
    ("event_id",),
)
device_queue = Gauge(
    "voelgoedevents_scanning_device_queue",
    "Scans that a device has not sent yet, as it last said.",
    ("event_id", "gate", "device_id", "device"),
)
figures_left_out = Gauge(
    "voelgoedevents_scanning_figures_left_out",
    "Events, gates and devices that are too many to be told one by one.",
    ("what",),
)
manifest_downloads = Counter(
    "voelgoedevents_scanning_manifest_downloads",
    "Manifests given to devices: full, delta, or unchanged (304).",
    ("form", "encoding"),
)
manifest_bytes = Counter(
    "voelgoedevents_scanning_manifest_bytes", "Sent of manifests, as compressed.", ("form",)
)
manifest_build_duration = Histogram(
    "voelgoedevents_scanning_manifest_build_duration_seconds",
    "Time to bring an event's manifest up to date: built, or unchanged.",
    ("outcome",),
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0),
)
occupancy_differences = Counter(
    "voelgoed_occupancy_differences",
    "Counters that a recount found to differ from the scans, each time it did.",
)
alerts_raised = Counter(
    "voelgoedevents_scanning_alerts",
    "Alerts raised; repetitions of one that is not resolved do not count.",
    ("kind", "severity"),
)
scans_unwatched = Counter(
    "voelgoedevents_scanning_unwatched",
    "Scans that nobody looked at for fraud: too many waited, or looking failed.",
)
syncs = Counter(
    "voelgoedevents_scanning_syncs",
    "Batches of scans that devices brought: success, failed, delayed.",
    ("outcome",),
)
sync_duration = Histogram(
    "voelgoedevents_scanning_sync_duration_seconds",
    "Time from a batch's arrival to its answer.",
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0),
)
synced_scans = Counter(
    "voelgoedevents_scanning_synced_scans",
    "Scans brought later: admitted, denied, rejected, known.",
    ("status",),
)
batch_duplicates = Histogram(
    "voelgoedevents_scanning_batch_duplicate_ratio",
    "Which share of a batch's new scans is of tickets that had been scanned; of batches large enough.",
    buckets=(0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0),
)
time_to_sync = Histogram(
    "voelgoedevents_scanning_time_to_sync_seconds",
    "From the first scan of a batch, at the gate, to when all of it was kept here.",
    buckets=(1, 5, 15, 30, 60, 300, 900, 3_600, 14_400, 86_400),
)
conflicts_found = Counter(
    "voelgoedevents_scanning_conflicts",
    "Scans that contradict an earlier one.",
    ("kind", "severity"),
)
