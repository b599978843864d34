"""What /metrics says of a process, of accounts and of sales; of the gates, see scanning/metrics.py."""

from prometheus_client import Counter, Gauge, Histogram

FAST = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)

http_requests = Histogram(
    "voelgoed_http_request_duration_seconds",
    "Time from first byte in to last byte out.",
    ("method", "route", "status"),
    buckets=FAST,
)
database_up = Gauge("voelgoed_database_up", "1 when PostgreSQL last answered; 0 when it did not.")
database_restarts = Counter(
    "voelgoed_database_restarts", "How often the embedded PostgreSQL was gone and started again."
)
database_wait = Histogram(
    "voelgoed_database_wait_seconds",
    "Time a request waited for a database connection.",
    buckets=FAST,
)
cache_reads = Counter(
    "voelgoed_cache_reads", "Cache look-ups by tier and outcome.", ("tier", "hit")
)
warm_tier_up = Gauge(
    "voelgoed_warm_tier_up", "1 when Redis last answered; 0 when it did not, or there is none."
)
batch_sizes = Histogram(
    "voelgoed_batch_items",
    "How many items were worked on together.",
    ("batcher",),
    buckets=(1, 2, 5, 10, 20, 50, 100, 200),
)
live_published = Counter("voelgoed_live_published", "Live messages sent to all processes.")
live_coalesced = Counter(
    "voelgoed_live_coalesced", "Live messages replaced by 'read again' because too many waited."
)
live_subscriptions = Gauge("voelgoed_live_subscriptions", "Topics followed over websockets.")
live_missed = Counter("voelgoed_live_missed", "Times a slow reader was told to read again.")
# Not `job`, which is what Prometheus calls those whom it asks.
jobs_run = Counter("voelgoed_jobs", "Background jobs by name and outcome.", ("name", "outcome"))
log_ins = Counter("voelgoed_log_ins", "Log-in attempts by outcome.", ("outcome",))
layout_load = Histogram(
    "voelgoed_layout_load_seconds",
    "Time to make a layout ready that this process did not have at hand.",
    buckets=FAST,
)
layout_reads = Counter(
    "voelgoed_layout_reads", "Layouts asked for, and whether this process had them.", ("hit",)
)
seat_changes = Counter(
    "voelgoed_seat_changes",
    "Seats and places by what became of them; sold / held is the conversion of holds.",
    ("to",),
)
seating_figure = Gauge(
    "voelgoed_seating_figure",
    "Of events on sale: orphan_ratio, vip_utilisation, accessibility_utilisation.",
    ("event_id", "figure"),
)
