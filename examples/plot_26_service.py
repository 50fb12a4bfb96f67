"""
A server that learns
====================

Examples arrive over HTTP. Each is logged, learned and acknowledged; the same server answers predictions meanwhile. The
reply to ``learn`` has the predictions before each example was learned, so the error is honest.
"""

import random
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

from rosenblatt.service.client import Client

with socket.socket() as free:  # a port that nobody uses
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
log = Path(tempfile.mkdtemp()) / "spam.sqlite"
command = [sys.executable, "-m", "rosenblatt", "serve", "--learner", "averaged", "--learn", log, "--port", port]
server = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

random.seed(0)
words = {"spam": ["win", "free", "cash", "prize", "now"], "ham": ["lunch", "home", "noon", "meeting", "now"]}
errors = []
try:
    with Client(f"http://127.0.0.1:{port}") as client:
        for _ in range(60):
            labels = random.choices(["spam", "ham"], k=5)
            rows = [dict.fromkeys(random.sample(words[label] + ["the", "you", "are"], 3), 1.0) for label in labels]
            reply = client.learn(rows, labels)
            errors += reply["mistaken"]
        print(client.predict([{"win": 1.0, "you": 1.0}, {"lunch": 1.0}]))
finally:
    server.terminate()
    server.wait()

rate = [sum(errors[: k + 1]) / (k + 1) for k in range(len(errors))]
figure, axes = plt.subplots(figsize=(5.5, 4))
axes.plot(range(1, len(rate) + 1), rate)
axes.set(xlabel="examples", ylabel="error so far", ylim=(0, 1))
plt.show()
