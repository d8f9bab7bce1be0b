"""Makes ../data/traces/traces.jsonl with verifiers 0.4.0 and `aske-testserver --pad-words 6`.

python traces.py http://127.0.0.1:PORT/v1 FOLDER

The folders of its runtimes are cut from the file. verifiers asks for streams and the test server sends none, so a
server stands between that sends a reply as one event.
"""

import json
import os
import sys
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

URL, FOLDER = sys.argv[1:]


class Streaming(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        body.pop("stream", None)
        body.pop("stream_options", None)
        request = urllib.request.Request(
            f"{URL}/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"}
        )
        reply = json.load(urllib.request.urlopen(request))
        choice = reply["choices"][0]
        event = reply | {"object": "chat.completion.chunk"}
        event["choices"] = [{"index": 0, "delta": choice["message"], "finish_reason": choice["finish_reason"]}]
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.wfile.write(f"data: {json.dumps(event)}\n\ndata: [DONE]\n\n".encode())

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Streaming)
threading.Thread(target=server.serve_forever, daemon=True).start()
between = f"http://127.0.0.1:{server.server_port}/v1"
os.environ |= {"TOY_URL": URL, "TOY_KEY": "none"}
sys.path.insert(0, os.path.dirname(__file__))
client = ["--client.base-url", between, "--client.api-key-var", "TOY_KEY"]

from verifiers.v1.cli.eval.main import main  # noqa: E402

main(["toy_asker", "-m", "asker/toy-1", "--no-push", "-o", FOLDER, *client])
