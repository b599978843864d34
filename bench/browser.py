"""The apps in a browser: what people wait for. The measuring itself is in `web/bench`."""

import os
import subprocess


def main() -> None:
    parts = {"PARTS": "browser | 2 | cd web && npm run bench"}
    subprocess.run(["tools/bootstrap", "parts"], env=os.environ | parts, check=True)
