"""The least that a Python server can do: one ASGI function, one fixed answer."""

import sys

import uvicorn

BODY = b'{"status":"ok"}'
START = {
    "type": "http.response.start",
    "status": 200,
    "headers": [(b"content-type", b"application/json"), (b"content-length", b"15")],
}


async def app(scope, receive, send):
    await send(START)
    await send({"type": "http.response.body", "body": BODY})


if __name__ == "__main__":
    uvicorn.run(app, port=int(sys.argv[1]), lifespan="off", access_log=False, log_config=None)
