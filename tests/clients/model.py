"""A model that says what a script says: the four APIs that agent clients speak, on loopback.

Each request of the agent's main loop takes the next step of the script, and each of a sub-agent's the next step of its
own; requests without tools (titles, summaries) get a fixed text. What was sent is kept, so that a test can see what the
agent was told.

A step is {"text": ..., "tools": [(name, input), ...], "tokens": ...}. Where an input has a function, it is called with
what the client sent, and gives the value: ids that only the client knows. `tokens` is how many the prompt is said to have.
"""

import gzip
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TITLE = {"text": "A title."}
OVER = {"text": "Which way shall I take?"}
SUMMARY = {"text": "<summary>The library was changed.</summary>"}
SNAPSHOT = {"text": "<state_snapshot>The library was changed.</state_snapshot>"}
# How the clients ask for the summary of a compaction: those that leave the tools in, and one that wants a form of its own.
SUMMARIES = {"create a detailed summary of": SUMMARY, "CONTEXT CHECKPOINT COMPACTION": SUMMARY,
             "<state_snapshot>": SNAPSHOT}


# How the prompt of a judge or a reviewer ends.
TICKET = re.compile(r"Answer now, with the ticket ([0-9a-f]{32})\.")


class Model:
    """A script, how far it has come, and what was sent to it. `prompt` marks the main loop; a request without it that has
    `task` is a sub-agent's. What gate asks is answered by `judge`, a function of the prompt."""

    def __init__(self, steps, prompt="", task="", delegated=()):
        self.steps, self.prompt, self.task = steps, prompt, task
        self.delegated = list(delegated)
        self.taken = 0
        self.sent = []
        self.judge, self.asked = lambda prompt: {}, []
        self.lock = threading.Lock()
        self.count = 0
        model = self

        class Handler(Requests):
            pass

        Handler.model = model
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, request):
        sent = json.dumps(request)
        said = messages(request)
        last = json.dumps(said[-1]) if said else ""
        if tickets := TICKET.findall(sent):
            with self.lock:
                self.asked.append(request)
            return {"text": json.dumps({"ticket": tickets[-1], **self.judge(sent)})}
        if asked := [summary for words, summary in SUMMARIES.items() if words in last]:
            return asked[0]
        if not (request.get("tools") or "additional_tools" in sent):
            return TITLE
        with self.lock:
            start = json.dumps(said[:6])
            if self.task and self.task in start and self.prompt not in start:
                return filled(self.delegated.pop(0) if self.delegated else OVER, sent)
            self.sent.append(sent)
            step = self.steps[self.taken] if self.taken < len(self.steps) else OVER
            self.taken += 1
            return filled(step, sent)

    def number(self):
        with self.lock:
            self.count += 1
            return self.count


def messages(request):
    """What was said so far, by anybody but the model."""
    said = next((request[key] for key in ("messages", "input", "contents") if isinstance(request.get(key), list)), [])
    return [message for message in said if message.get("role") not in ("assistant", "model")]


def filled(step, sent):
    """A step whose functions were asked."""
    if callable(step):
        return step(sent)
    if isinstance(step, dict):
        return {key: filled(value, sent) for key, value in step.items()}
    return [filled(value, sent) for value in step] if isinstance(step, (list, tuple)) else step


class Requests(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model = None

    def log_message(self, *_):
        pass

    def answer(self, value, code=200):
        body = json.dumps(value).encode()
        self.send_response(code)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True

    def event(self, data, name=None):
        text = data if isinstance(data, str) else json.dumps(data)
        head = f"event: {name}\n" if name else ""
        self.wfile.write(f"{head}data: {text}\n\n".encode())
        self.wfile.flush()

    def do_HEAD(self):
        self.answer({})

    def do_GET(self):
        if self.path.split("?")[0].endswith("/models"):
            return self.answer({"object": "list", "data": [], "models": []})
        return self.answer({"error": {"message": "nothing here"}}, 404)

    def body(self):
        if "chunked" in self.headers.get("transfer-encoding", ""):
            body = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
        return gzip.decompress(body) if self.headers.get("content-encoding") == "gzip" else body

    def do_POST(self):
        request = json.loads(self.body() or b"{}")
        path = self.path.split("?")[0]
        if path.endswith(("/count_tokens", ":countTokens")):
            return self.answer({"input_tokens": 100, "totalTokens": 100})
        step = self.model.answer(request)
        if path.endswith("/messages"):
            return self.say_anthropic(request, step)
        if path.endswith("/responses"):
            return self.say_responses(request, step)
        if path.endswith("/chat/completions"):
            return self.say_chat(request, step)
        if "enerateContent" in path:
            return self.say_gemini(request, step, "stream" in path)
        return self.answer({"error": {"message": "nothing here"}}, 404)

    def say_anthropic(self, request, step):
        content = [{"type": "text", "text": step["text"]}] if step.get("text") else []
        for name, value in step.get("tools", []):
            content.append({"type": "tool_use", "id": f"toolu_{self.model.number():06}", "name": name, "input": value})
        stop = "tool_use" if step.get("tools") else "end_turn"
        usage = {"input_tokens": step.get("tokens", 100), "output_tokens": 20, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
        message = {"id": f"msg_{self.model.number():06}", "type": "message", "role": "assistant", "content": [],
                   "model": request.get("model", "m"), "stop_reason": None, "stop_sequence": None, "usage": usage}
        if not request.get("stream"):
            return self.answer({**message, "content": content, "stop_reason": stop})
        self.stream()
        self.event({"type": "message_start", "message": message}, "message_start")
        for index, block in enumerate(content):
            if block["type"] == "text":
                empty, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
            else:
                empty = {**block, "input": {}}
                delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            for kind, field in (("start", "content_block"), ("delta", "delta"), ("stop", None)):
                event = {"type": f"content_block_{kind}", "index": index}
                if field:
                    event[field] = empty if kind == "start" else delta
                self.event(event, event["type"])
        end = {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage}
        self.event(end, "message_delta")
        self.event({"type": "message_stop"}, "message_stop")

    def say_responses(self, request, step):
        self.stream()
        base = {"id": f"resp_{self.model.number():06}", "object": "response", "created_at": 0, "status": "in_progress",
                "model": request.get("model", "m"), "output": []}
        self.event({"type": "response.created", "sequence_number": 0, "response": base}, "response.created")
        output = []
        if step.get("text"):
            part = {"type": "output_text", "text": step["text"], "annotations": []}
            output.append({"type": "message", "id": f"msg_{self.model.number():06}", "role": "assistant",
                           "status": "completed", "content": [part]})
        for name, value in step.get("tools", []):
            number = self.model.number()
            if isinstance(value, str):
                item = {"type": "custom_tool_call", "input": value}
            else:
                item = {"type": "function_call", "arguments": json.dumps(value)}
            space, _, tool = name.rpartition(".")
            item.update({"namespace": space} if space else {})
            output.append({**item, "id": f"fc_{number:06}", "call_id": f"call_{number:06}", "name": tool,
                           "status": "completed"})
        for index, item in enumerate(output):
            for kind in ("added", "done"):
                event = {"type": f"response.output_item.{kind}", "output_index": index, "item": item}
                self.event(event, event["type"])
        tokens = step.get("tokens", 100)
        usage = {"input_tokens": tokens, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 20,
                 "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": tokens + 20}
        done = {**base, "status": "completed", "output": output, "usage": usage}
        self.event({"type": "response.completed", "response": done}, "response.completed")

    def say_chat(self, request, step):
        calls = [{"index": index, "id": f"call_{self.model.number():06}", "type": "function",
                  "function": {"name": name, "arguments": json.dumps(value)}}
                 for index, (name, value) in enumerate(step.get("tools", []))]
        finish = "tool_calls" if calls else "stop"
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        base = {"id": f"chat_{self.model.number():06}", "created": 0, "model": request.get("model", "m")}
        text = step.get("text") or ""
        if not request.get("stream"):
            message = {"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})}
            choice = {"index": 0, "message": message, "finish_reason": finish}
            return self.answer({**base, "object": "chat.completion", "choices": [choice], "usage": usage})
        self.stream()
        base["object"] = "chat.completion.chunk"
        deltas = [({"role": "assistant", "content": text}, None)] + [({"tool_calls": [call]}, None) for call in calls]
        for delta, reason in deltas + [({}, finish)]:
            self.event({**base, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
                        **({"usage": usage} if reason else {})})
        self.event("[DONE]")

    def say_gemini(self, request, step, stream):
        text = step.get("text")
        config = request.get("generationConfig", {})
        if text and (config.get("responseMimeType") == "application/json" or config.get("responseJsonSchema")):
            text = json.dumps({"reasoning": "as scripted", "next_speaker": "user", "model_choice": "pro"})
        parts = ([{"text": text}] if text else []) + [
            {"functionCall": {"name": name, "args": value}} for name, value in step.get("tools", [])]
        tokens = step.get("tokens", 100)
        usage = {"promptTokenCount": tokens, "candidatesTokenCount": 20, "totalTokenCount": tokens + 20}
        value = {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
                 "usageMetadata": usage, "modelVersion": "scripted", "responseId": f"r{self.model.number()}"}
        if not stream:
            return self.answer(value)
        self.stream()
        self.event(value)
