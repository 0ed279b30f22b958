"""A handler of one's own for TorchServe: answers with what it was given. `test/node/workers/echo.js` is its twin."""

import json

from ts.handler_utils.utils import send_intermediate_predict_response
from ts.utils.util import PredictionException


def form_of(value):
    """Returns what a value is: bytes in hexadecimal, a text, or JSON."""
    if isinstance(value, (bytes, bytearray)):
        return {"bytes": bytes(value).hex()}
    if isinstance(value, str):
        return {"text": value}
    return {"json": value}


class Echo:
    def initialize(self, context):
        self.initialized = True

    def handle(self, rows, context):
        return [self.answer(row, index, rows, context) for index, row in enumerate(rows)]

    def answer(self, row, index, rows, context):
        # An envelope may have taken the input out of its fields.
        row = row if isinstance(row, dict) else {"body": row}
        body = row.get("body", row.get("data", row))
        order = body.get("order") if isinstance(body, dict) else None
        if order == "text":
            return "plain text: ä"
        if order == "bytes":
            return b"\x00\x01\xff"
        if order == "number":
            return 1.5
        if order == "list":
            return [1, "two", None, True, {"b": 1, "a": 2}]
        if order == "null":
            return None
        if order == "batch":
            return {"size": len(rows)}
        if order == "exception":
            raise ValueError("the handler's own bug")
        if order == "prediction-exception":
            raise PredictionException("no such thing", 513)
        if order == "stream":
            for part in ("one ", "two "):
                send_intermediate_predict_response([part], context.request_ids, "Intermediate", 200, context)
            return "three"
        if order == "stream-json":
            for part in ({"part": 1}, [2, 3]):
                send_intermediate_predict_response([part], context.request_ids, "Intermediate", 200, context)
            return {"last": True}
        if order == "stream-exception":
            send_intermediate_predict_response(["one "], context.request_ids, "Intermediate", 200, context)
            raise ValueError("the handler's own bug")
        if order == "status":
            context.set_response_status(418, "A teapot", index)
            return {"short": True}
        if order == "headers":
            context.set_response_header(index, "x-own", "of the handler")
            context.set_response_content_type(index, "text/csv")
            return "a,b\n1,2\n"
        if order == "request":
            names = ("x-asked", "x-request-id", "url_path")
            return {name: context.get_request_header(index, name) for name in names}
        return {name: form_of(value) for name, value in row.items()}
