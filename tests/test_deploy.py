"""The files in deploy/ load without error, and speak of what /metrics really tells."""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

import httpx
import msgspec
import pytest
import yaml
from msgspec import Meta
from prometheus_client.parser import text_string_to_metric_families

from tests.scanning.support import World, a_world
from tests.scanning.sync_support import send, signed, signed_batch, sync
from tests.support import Tenant
from voelgoed.scanning.actions.figures import publish_figures
from voelgoed.scanning.rules.devices import SILENT_MAX
from voelgoed.services import Services

pytestmark = pytest.mark.own_database

ALERTS = Path("deploy/prometheus/voelgoed-alerts.yml")
DASHBOARD = Path("deploy/grafana/voelgoed-gates.json")
GRID_COLUMNS = 24

Duration = Annotated[str, Meta(pattern=r"^([0-9]+[smhdwy])+$")]
Word = Annotated[str, Meta(pattern=r"^[a-zA-Z_][a-zA-Z0-9_]*$")]
Text = Annotated[str, Meta(min_length=1)]
THEIRS = {"up": {"job", "instance"}}
"""What Prometheus tells of whom it asks."""
ADDED_LABELS = {"instance", "job"}
FUNCTIONS = {
    "sum", "max", "topk", "rate", "increase", "histogram_quantile", "max_over_time", "by", "and"
}  # fmt: skip
SERIES = re.compile(r"\b(voelgoed\w*|up)\b(?:\{([^}]*)\})?")
MATCHER = re.compile(r'(\w+)(=~|!~|!=|=)"((?:[^"\\]|\\.)*)"')
GROUPING = re.compile(r"\b(?:by|on|without)\s*\(([^)]*)\)")


class Rule(msgspec.Struct, forbid_unknown_fields=True, rename={"pause": "for"}):
    """An alert, as Prometheus has it, with what we want of each."""

    alert: Word
    expr: Text
    labels: dict[Word, str]
    annotations: dict[Word, Text]
    pause: Duration = "0s"


class Group(msgspec.Struct, forbid_unknown_fields=True):
    name: Text
    rules: Annotated[list[Rule], Meta(min_length=1)]
    interval: Duration | None = None


class RuleFile(msgspec.Struct, forbid_unknown_fields=True):
    groups: Annotated[list[Group], Meta(min_length=1)]


class StrictLoader(yaml.SafeLoader):
    """Of two keys that are the same YAML keeps the last, and nobody hears of it."""


def _mapping(loader: StrictLoader, node: yaml.MappingNode) -> dict[str, Any]:
    keys = [loader.construct_object(key) for key, _ in node.value]
    assert len(keys) == len(set(keys)), f"twice the same key in line {node.start_mark.line + 1}"
    return loader.construct_mapping(node, deep=True)


StrictLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


@pytest.fixture(scope="session")
def rules(repository: Path) -> list[Rule]:
    text = (repository / ALERTS).read_text()
    file = msgspec.convert(yaml.load(text, StrictLoader), RuleFile)
    assert len({group.name for group in file.groups}) == len(file.groups)
    return [rule for group in file.groups for rule in group.rules]


@pytest.fixture(scope="session")
def dashboard(repository: Path) -> dict[str, Any]:
    return msgspec.json.decode((repository / DASHBOARD).read_bytes())


def expressions(dashboard: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Of every panel: its title, what it asks, what it calls the answer."""
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"], target["legendFormat"]


Told = dict[str, list[dict[str, str]]]


async def what_metrics_tell(client: httpx.AsyncClient) -> Told:
    """Labels of all series by their name."""
    told: Told = {}
    for family in text_string_to_metric_families((await client.get("/metrics")).text):
        for sample in family.samples:
            told.setdefault(sample.name, []).append(sample.labels)
    return told


@pytest.fixture
async def told(services: Services, client: httpx.AsyncClient, tenant: Tenant) -> Told:
    """By a server at which somebody was let in, somebody was not, several with one ticket were by
    devices alone, and a device failed to bring anything."""
    world: World = await a_world(services, client, tenant)
    device, ticket = await world.device(), await world.ticket()
    assert await world.verdict(device, ticket.code) == "admitted"
    assert await world.verdict(device, ticket.code) == "already_scanned"
    assert (await client.post("/api/scans", json={})).status_code == 401
    scan = await signed(world, device, ticket, timedelta(minutes=1))
    assert (await sync(world, device, scan))["conflicts"]
    await sync(world, device, await signed(world, device, ticket, timedelta(seconds=30)))
    other = await world.device(name="another")
    assert (await send(world, other, signed_batch(device, scan))).status_code == 403
    await publish_figures(services.database)
    return await what_metrics_tell(client)


def labels_of(told: Told, name: str) -> set[str]:
    if name in THEIRS:
        return THEIRS[name]
    assert name in told, f"/metrics does not tell {name}"
    return set(told[name][0]) | ADDED_LABELS


def judge(told: Told, expr: str) -> set[str]:
    """That all it speaks of is there. Gives the labels of the answer."""
    asked = expr.replace("$event", ".*")
    known: set[str] = set()
    found = list(SERIES.finditer(asked))
    assert found, f"{expr} asks for nothing"
    for series in found:
        name, matchers = series[1], series[2] or ""
        labels = labels_of(told, name)
        known |= labels
        used = MATCHER.findall(matchers)
        assert MATCHER.sub("", matchers).strip(", ") == "", f"cannot read {{{matchers}}}"
        for label, how, value in used:
            assert label in labels, f"{name} has no label {label}"
            assert how in ("=", "=~")
            re.compile(value)
    groups = [set(re.findall(r"\w+", each)) for each in GROUPING.findall(asked)]
    for group in groups:
        assert group <= known, f"no series of {expr} has all of {group}"
    words = set(re.findall(r"[a-zA-Z_]\w*", re.sub(r"\[\w+\]", "", _bare(asked))))
    assert words <= FUNCTIONS, f"{words - FUNCTIONS} in {expr}"
    _require_brackets(asked)
    aggregates = re.search(r"\b(sum|max)\b(?!_)", asked) is not None
    return set.union(set(), *groups) if aggregates else known


def _bare(expr: str) -> str:
    """Without series and groupings; what is left are functions and numbers."""
    return SERIES.sub("", GROUPING.sub("by", expr))


def _require_brackets(expr: str) -> None:
    pairs, open_ones = {")": "(", "]": "[", "}": "{"}, list[str]()
    for character in re.sub(r'"[^"]*"', "", expr):
        if character in "([{":
            open_ones.append(character)
        elif character in pairs:
            assert open_ones.pop() == pairs[character], expr
    assert open_ones == [], expr


def test_every_alert_says_how_bad_it_is_and_what_to_do(rules: list[Rule]):
    assert len({rule.alert for rule in rules}) == len(rules)
    for rule in rules:
        assert rule.labels["severity"] in ("critical", "warning", "info"), rule.alert
        assert set(rule.annotations) == {"summary", "runbook"}, rule.alert
        assert re.search(r"[.)]$", rule.annotations["runbook"]), rule.alert


def test_a_device_is_silent_to_the_operators_when_it_is_offline_to_everybody(rules: list[Rule]):
    [rule] = [each for each in rules if each.alert == "VoelgoedDeviceSilent"]
    _, limit = rule.expr.rsplit(">", 1)
    assert int(limit) == SILENT_MAX.total_seconds()


async def test_every_alert_asks_for_what_is_told(rules: list[Rule], told: Told):
    for rule in rules:
        labels = judge(told, rule.expr)
        shown = re.findall(r"\$labels\.(\w+)", " ".join(rule.annotations.values()))
        assert set(shown) <= labels, rule.alert


async def test_every_panel_asks_for_what_is_told(dashboard: dict[str, Any], told: Told):
    for title, expr, legend in expressions(dashboard):
        labels = judge(told, expr)
        assert set(re.findall(r"{{(\w+)}}", legend)) <= labels, title
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            asked = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable["query"]["query"])
            assert asked, variable
            assert asked[2] in labels_of(told, asked[1])


async def test_values_that_are_asked_for_exist(
    rules: list[Rule], dashboard: dict[str, Any], told: Told
):
    """A label that is always something else would never alert."""
    exact = re.compile(r"^[a-z_]+([.|][a-z_]+)*$", re.IGNORECASE)
    rare = {"voelgoed"}  # the name under which Prometheus asks us
    for expr in [rule.expr for rule in rules] + [each for _, each, _ in expressions(dashboard)]:
        for series in SERIES.finditer(expr):
            for label, _, value in MATCHER.findall(series[2] or ""):
                for one in value.split("|") if exact.match(value) else []:
                    seen = {labels.get(label) for labels in told.get(series[1], [])}
                    assert one in seen | rare, f"{label}={one} in {expr}"


def test_a_judge_that_is_easily_content_is_none():
    """The control of the tests above."""
    told: Told = {"voelgoed_x_total": [{"tier": "hot"}]}
    assert judge(told, 'sum by (tier) (rate(voelgoed_x_total{tier="hot"}[5m])) > 1') == {"tier"}
    for wrong in (
        "voelgoed_y_total",
        'voelgoed_x_total{teir="hot"}',
        "sum by (gate) (voelgoed_x_total)",
        "summ(voelgoed_x_total)",
        "sum(voelgoed_x_total))",
        "1 > 0",
    ):
        with pytest.raises((AssertionError, IndexError)):
            judge(told, wrong)


async def test_no_label_of_ours_is_one_that_prometheus_adds(told: Told):
    for name, series in told.items():
        assert not ADDED_LABELS & set(series[0]), name


def test_the_dashboard_has_every_row_and_its_own_number_for_each_panel(dashboard: dict[str, Any]):
    panels = dashboard["panels"]
    assert [panel["title"] for panel in panels if panel["type"] == "row"] == [
        "Scans",
        "Latency",
        "Denials by reason",
        "Occupancy",
        "Devices",
        "Caches",
        "Database",
        "Live messages",
    ]
    assert len({panel["id"] for panel in panels}) == len(panels)
    names = {variable["name"] for variable in dashboard["templating"]["list"]}
    used = set(re.findall(r"\$\{?(\w+)\}?", msgspec.json.encode(panels).decode()))
    assert used == names
    for panel in panels:
        letters = [target["refId"] for target in panel.get("targets", [])]
        assert len(set(letters)) == len(letters), panel["title"]
        assert panel["type"] == "row" or letters, panel["title"]


def test_no_panel_lies_over_another(dashboard: dict[str, Any]):
    taken: dict[tuple[int, int], str] = {}
    for panel in dashboard["panels"]:
        at = panel["gridPos"]
        assert at["x"] + at["w"] <= GRID_COLUMNS
        for x in range(at["x"], at["x"] + at["w"]):
            for y in range(at["y"], at["y"] + at["h"]):
                other = taken.setdefault((x, y), panel["title"])
                assert other == panel["title"]
