"""A device that scans until it is killed, and prints every scan that it has answered:

python -m tests.device.scan_until_killed STATE
"""

import asyncio
import sys
from pathlib import Path

import httpx

from voelgoed.device.cli import show_logs
from voelgoed.device.client import Device
from voelgoed.device.scanning import scan


async def main(state: Path) -> None:
    async with httpx.AsyncClient(verify=False) as client:
        device = Device(state, client)
        while True:
            answer = await scan(device, "7K2M-9QXD-4F1A", offline=True)
            print(answer.scan_id, flush=True)


if __name__ == "__main__":
    show_logs()
    asyncio.run(main(Path(sys.argv[1])))
