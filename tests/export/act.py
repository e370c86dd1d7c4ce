"""Acts with an ONNX policy: observations from standard input, actions out.

Reads one JSON object {"file", "inputs": [{name: {"data", "shape", "dtype"}}]}
and prints the actions of each call, shapes of the inputs and metadata. The state
of a recurrent policy goes on where none is given.
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
    if state is not None and "state" not in feed:
        feed["state"] = state
    results = dict(zip(names, session.run(None, feed)))
    actions.append(results["action"].reshape(-1).tolist())
    state = results.get("next_state")
print(json.dumps({
    "actions": actions,
    "shapes": {it.name: it.shape for it in session.get_inputs()},
    "metadata": session.get_modelmeta().custom_metadata_map,
}))
