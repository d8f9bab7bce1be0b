"""The servers behind the nginx configuration of docs/serve.md: TLS, the proxy's name, the token, streams and cookies.

    python crates/serve/tests/behind_nginx.py PROGRAM
"""

import http.client
import json
import os
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[3]
NAME, TOKEN = "aske.example.org", "0123456789abcdef0123456789abcdef"


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


class Proxy:
    """nginx with the configuration of the documentation, which passes on to `port`."""

    def __init__(self, folder, port):
        self.port, self.folder = free_port(), folder
        self.certificate = folder / "cert.pem"
        if not self.certificate.exists():
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", f"/CN={NAME}",
                 "-addext", f"subjectAltName=DNS:{NAME}", "-keyout", folder / "key.pem", "-out", self.certificate],
                check=True, capture_output=True,
            )
        block = re.search(r"```nginx\n(.*?)```", (ROOT / "docs/serve.md").read_text(), re.S)[1]
        for old, new in [
            ("listen 443 ssl", f"listen 127.0.0.1:{self.port} ssl"),
            ("/etc/ssl/aske.example.org.pem", str(self.certificate)),
            ("/etc/ssl/aske.example.org.key", str(folder / "key.pem")),
            ("127.0.0.1:8078", f"127.0.0.1:{port}"),
        ]:
            assert old in block, old
            block = block.replace(old, new)
        paths = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        config = f"daemon off;\npid {folder}/pid;\nerror_log {folder}/error.log;\nevents {{}}\nhttp {{\naccess_log {folder}/access.log;\n{paths}{block}}}\n"
        (folder / "nginx.conf").write_text(config)
        self.process = subprocess.Popen(["nginx", "-c", folder / "nginx.conf", "-p", folder], stderr=subprocess.DEVNULL)
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except OSError:
                time.sleep(0.1)
        raise SystemExit((folder / "error.log").read_text())

    def call(self, method, path, body=None, token=TOKEN, **headers):
        context = ssl.create_default_context(cafile=self.certificate)
        connection = http.client.HTTPSConnection(NAME, self.port, context=context, timeout=60)
        sock = socket.create_connection(("127.0.0.1", self.port))
        connection.sock = context.wrap_socket(sock, server_hostname=NAME)
        headers |= {"Authorization": f"Bearer {token}"} if token else {}
        data = None if body is None else json.dumps(body)
        connection.request(method, path, data, {"Content-Type": "application/json", "Host": NAME} | headers)
        reply = connection.getresponse()
        return reply, reply.read().decode()

    def end(self):
        self.process.terminate()
        self.process.wait(10)


def serve(folder, *arguments):
    server = subprocess.Popen(
        [PROGRAM, *arguments, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder,
        env=os.environ | {"ASKE_TOKEN": TOKEN},
    )
    return server, int(re.search(r":(\d+)", server.stdout.readline().removeprefix("http:"))[1])


def behind(folder, check, *arguments):
    server, port = serve(folder, *arguments)
    proxy = Proxy(folder, port)
    try:
        check(proxy, server)
    finally:
        proxy.end()
        server.terminate()
        assert server.wait(20) == 0
    for log in ("access.log", "error.log"):
        assert TOKEN not in (folder / log).read_text(), f"the token is in {log}"
    print(" ".join(arguments[:2]) + ": as it should be")


def environment(proxy, _):
    assert proxy.call("GET", "/healthz", token=None)[0].status == 200
    reply, said = proxy.call("GET", "/v1/pairs", token=None)
    assert reply.status == 401 and "hint" in said, said
    assert proxy.call("GET", "/v1/pairs", token=TOKEN + "0")[0].status == 401
    reply, said = proxy.call("POST", "/v1/sessions", {})
    assert reply.status == 201, said
    assert proxy.call("GET", "/v1/pairs", Host="evil.example")[0].status == 421


def models(proxy, _):
    body = {"model": "nano-15k", "messages": [{"role": "user", "content": "What is 2 + 2?"}], "max_tokens": 5, "stream": True}
    reply, said = proxy.call("POST", "/v1/chat/completions", body)
    assert reply.status == 200 and said.rstrip().endswith("data: [DONE]"), said
    assert proxy.call("POST", "/v1/chat/completions", body, token="any")[0].status == 401


def viewer(proxy, server):
    link = re.search(r"/login\?code=\w+", server.stderr.readline())[0]
    assert proxy.call("GET", "/api/runs", token=None)[0].status == 401
    reply, _ = proxy.call("GET", link, token=None)
    cookie = reply.headers["Set-Cookie"]
    assert reply.status == 200 and "; Secure" in cookie and "HttpOnly" in cookie, cookie
    reply, said = proxy.call("GET", "/api/runs", token=None, Cookie=cookie.split(";")[0])
    assert reply.status == 200 and json.loads(said)["runs"], said
    assert proxy.call("GET", link, token=None)[0].status == 401, "a link works once"


def unnamed(proxy, _):
    reply, said = proxy.call("GET", "/v1/pairs")
    assert reply.status == 421 and "--allow-host" in said, said


def main():
    if not shutil.which("nginx") or not shutil.which("openssl"):
        print("there is no nginx or no openssl here: not checked")
        return
    small = ("--solvers", "nano-15k,nano-40k")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.chmod(folder, 0o755)
        behind(folder, environment, "serve", "env", "--run", "run", *small, "--allow-host", NAME)
        behind(folder, unnamed, "serve", "env", "--run", "run", *small)
        behind(folder, models, "serve", "models", "nano-15k", "--allow-host", NAME)
        behind(folder, viewer, "view", "run", "--allow-host", NAME)


main()
