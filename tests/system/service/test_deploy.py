"""The files for a proxy, systemd and Docker, tried as far as this machine can."""

import re
import shlex
import shutil
import socket
import ssl
import subprocess
from pathlib import Path

import pytest
from command import COMMAND
from rejected import rejected
from running import Server, running, wait_for
from written import put

from rosenblatt.cli.serve import command
from rosenblatt.service.client import Client, ServiceError
from rosenblatt.service.server import check_certificate

DEPLOY = Path(__file__).resolve().parents[3] / "deploy"
TOKEN = "t" * 20


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def test_behind_nginx(tmp_path: Path, certificate: tuple[Path, Path]) -> None:
    nginx = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
    if nginx is None:
        pytest.skip("nginx is not installed: apt-get install nginx-light")
    tokens = put(tmp_path / "tokens", f"admin {TOKEN}\n")
    tokens.chmod(0o600)
    words = ("--learner", "averaged", "--learn", tmp_path / "log.sqlite", "--token-file", tokens)
    with running(tmp_path, *words, "--limit", "body=32M") as server:
        port = free_port()
        text = (DEPLOY / "nginx.conf").read_text()
        for old, new in [
            ("127.0.0.1:8000", f"127.0.0.1:{server.port}"),
            ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
            ("model.example.org;", "localhost;"),
            ("/etc/ssl/model.example.org.pem", str(certificate[0])),
            ("/etc/ssl/model.example.org.key", str(certificate[1])),
        ]:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / "site.conf").write_text(text)
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        paths = "".join(f"{kind}_temp_path {tmp_path}/{kind};" for kind in kinds)
        main = f"daemon off; master_process off; pid {tmp_path}/pid; error_log {tmp_path}/error.log; events {{}}"
        (tmp_path / "nginx.conf").write_text(f"{main} http {{ access_log off; {paths} include {tmp_path}/site.conf; }}")
        process = subprocess.Popen([nginx, "-e", str(tmp_path / "first.log"), "-c", str(tmp_path / "nginx.conf")])
        try:
            wait_for(lambda: _listens(port))
            context = ssl.create_default_context(cafile=str(certificate[0]))
            address = f"https://localhost:{port}"
            with Client(address, TOKEN, context=context) as client:
                learned = client.learn([{"a": 1.0}, {"b": 1.0}], ["x", "y"])
                assert client.predictions([{"b": 1.0}], min_seq=learned["last"])[0]["label"] == "y"
                assert len(client.file()) > 100
                # The live page asks from where it came: by the name and port of the proxy.
                told = {"Origin": address}
                assert client.request("POST", "/predict", b'{"row":{"a":1}}', told)
                with pytest.raises(ServiceError) as refused:
                    client.request("POST", "/learn", b" " * (17 << 20))
                assert (refused.value.status, refused.value.code) == (413, "too_large")  # by the proxy already
            with pytest.raises(ServiceError) as unknown, Client(address, "u" * 20, context=context) as client:
                client.model()
            assert unknown.value.status == 401
            server.stop()
            with pytest.raises(ServiceError) as down, Client(address, TOKEN, patience=0, context=context) as client:
                client.model()
            assert (down.value.status, down.value.code) == (503, "unavailable")
        finally:
            process.terminate()
            process.wait()


def test_a_file_of_tls_that_cannot_be_used_is_named(tmp_path: Path, certificate: tuple[Path, Path]) -> None:
    cert, key = map(str, certificate)
    (tmp_path / "junk").write_text("junk")
    junk, absent = str(tmp_path / "junk"), str(tmp_path / "absent")
    check_certificate(cert, key)
    for bad_cert in (junk, key, absent, str(tmp_path)):
        with rejected("parameter", f"--tls-cert {bad_cert}: "):
            check_certificate(bad_cert, key)
    for bad_key in (junk, cert, absent, str(tmp_path)):
        with rejected("parameter", f"--tls-key {bad_key}: "):
            check_certificate(cert, bad_key)


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
        return True
    except OSError:
        return False


def test_the_unit_of_systemd_is_sound(tmp_path: Path) -> None:
    text = (DEPLOY / "rosenblatt.service").read_text()
    line = re.search(r"^ExecStart=(.+)$", text, re.MULTILINE)
    assert line is not None
    words = shlex.split(line[1])
    given = command.make_context("serve", words[2:]).params  # the command knows these options
    assert given["log"] == "/var/lib/rosenblatt/log.sqlite"
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed: apt-get install systemd")
    unit = put(tmp_path / "rosenblatt.service", text.replace(words[0], shutil.which("true") or "/bin/true"))
    found = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False)
    complaints = [said for said in found.stderr.splitlines() if "rosenblatt.service" in said]
    assert not complaints


def test_the_image_runs_what_the_command_knows() -> None:
    text = (DEPLOY / "Dockerfile").read_text().replace("\\\n", "")
    entry = re.search(r"^ENTRYPOINT (\[.+\])$", text, re.MULTILINE)
    assert entry is not None
    import json

    given = command.make_context("serve", [*json.loads(entry[1])[2:], "--learner", "averaged"]).params
    assert (given["log"], given["host"], given["token_file"]) == ("/data/log.sqlite", "0.0.0.0", "/run/tokens")
    stages = re.findall(r"^FROM (\S+)", text, re.MULTILINE)
    assert len(stages) == 2
    assert len(set(stages)) == 1
    assert "USER rosenblatt" in text
    assert "STOPSIGNAL SIGTERM" in text


def test_the_address_of_the_health_check_answers(server: Server) -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    code = re.search(r'"(import urllib.request; .+?)"\]', text)
    assert code is not None
    exec(code[1].replace("8000", str(server.port)))


def test_the_alerts_name_figures_that_the_server_has(tmp_path: Path) -> None:
    page = (DEPLOY.parent / "docs" / "operate.md").read_text()
    (tmp_path / "x.csv").write_text("age,y\n" + "".join(f"{at % 50},{'ab'[at % 50 > 20]}\n" for at in range(200)))
    subprocess.run([*COMMAND, "train", "x.csv", "--learner", "averaged", "-o", "m"], cwd=tmp_path, check=True)
    with running(tmp_path, tmp_path / "m", "--learn", tmp_path / "log.sqlite") as server:
        server.post("/predict", {"rows": [{"age": 30}] * 50})
        found = set(re.findall(r"^(rosenblatt_\w+)", server.get("/metrics").decode(), re.MULTILINE))
    rules = page.partition("## Alerts")[2] + (DEPLOY / "alerts.yml").read_text()
    assert set(re.findall(r"\brosenblatt_\w+", rules)) <= found


def test_prometheus_reads_the_alerts() -> None:
    if shutil.which("promtool") is None:
        pytest.skip("promtool is not installed: apt-get install prometheus")
    subprocess.run(["promtool", "check", "rules", str(DEPLOY / "alerts.yml")], check=True)
