"""Records what Gymnasium's MuJoCo environments do, for ours to follow."""
import json
import os
import pathlib
import runpy
import sys
import tempfile

task = json.loads(sys.argv[1])
root = pathlib.Path(__file__).resolve().parents[2]
recorder = root / "tests/mujoco/record_trajectories.py"
folder = root / task["folder"]
sys.argv = [str(recorder), str(folder), str(task.get("steps", 1000))]
# MuJoCo writes its warnings into a file of the working folder.
os.chdir(tempfile.gettempdir())
runpy.run_path(str(recorder), run_name="__main__")
print(json.dumps({"recorded": 1}))
