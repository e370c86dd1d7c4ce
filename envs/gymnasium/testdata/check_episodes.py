"""Checks the log of actions of the host's episodes; prints nothing if it is fine."""

import os
import sys
from types import SimpleNamespace

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from host import episodes

# Room for 4000 steps of two copies with an action of one byte.
episodes.LOG_BYTES = 8000
log = episodes.Episodes([SimpleNamespace(row_bytes=1)], 2)
log.begin(0, {"seed": 0})
log.begin(1, {"seed": 1}, b"\x07\x07")
for step in range(10_000):
    log.add(bytes((step % 251, step % 241)))
    assert len(log.log) <= 4000
    if step < 3999:
        assert log.actions(0) is not None
    # The long episode of the one makes nothing of the other be forgotten.
    assert log.actions(1) is not None
    # Copy 1 begins anew now and then, copy 0 never does.
    if step == 500:
        assert log.actions(1) == b"\x07\x07" + bytes(i % 241 for i in range(501))
    if step == 1500:
        assert log.actions(1) == bytes(i % 241 for i in range(1000, 1501))
    if step % 1000 == 999:
        log.begin(1, {"seed": 1})
for step in range(30):
    log.add(bytes((step, step)))
assert log.actions(0) is None
assert log.actions(1) == bytes(range(30))

# What nobody needs is forgotten early.
log.begin(0, {"seed": 0})
for step in range(2000):
    log.begin(0, {"seed": 0})
    log.begin(1, {"seed": 1})
    log.add(b"\x00\x00")
assert len(log.log) <= 1024
