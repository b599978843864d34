import json
import subprocess
import sys

SCRIPT = """
import structlog, logging
from voelgoed.infra.log import configure_logs
configure_logs("info", "json")
log = structlog.get_logger()
log.info("hello", password="hunter2", api_key="vgk_1", request={"authorization": "Bearer x", "path": "/"})
log.debug("not shown")
logging.getLogger("some.library").warning("from outside")
try:
    1 / 0
except ZeroDivisionError:
    log.exception("failed", session_token="vgs_1")
"""


def test_a_line_is_json_and_holds_no_secret():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True
    )
    hello, outside, failed = [json.loads(line) for line in done.stderr.splitlines()]
    assert hello["event"] == "hello"
    assert hello["request"] == {"authorization": "[redacted]", "path": "/"}
    assert outside["event"] == "from outside"
    assert "ZeroDivisionError" in failed["exception"]
    for secret in ("hunter2", "vgk_1", "Bearer x", "vgs_1"):
        assert secret not in done.stderr
