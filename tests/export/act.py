"""Acts with an ONNX policy: observations from standard input, actions out.

Reads one JSON object {"file", "inputs": [{name: {"data", "shape", "dtype"}}]}
and prints the actions of each call. A recurrent policy's state goes on.
"""
import json
import sys

import numpy as np
import onnxruntime

task = json.load(sys.stdin)
session = onnxruntime.InferenceSession(task["file"])
names = [output.name for output in session.get_outputs()]
state = None
actions = []
for call in task["inputs"]:
    feed = {
        name: np.asarray(it["data"], dtype=it["dtype"]).reshape(it["shape"])
        for name, it in call.items()
    }
    if state is not None:
        feed["state"] = state
    results = dict(zip(names, session.run(None, feed)))
    actions.append(results["action"].reshape(-1).tolist())
    state = next((v for k, v in results.items() if k.startswith("state")), None)
print(json.dumps(actions))
