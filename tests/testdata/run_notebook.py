"""Runs a notebook by Deno's kernel: run_notebook.py NOTEBOOK FOLDER. It prints what
the cells of code show, by their ids, as JSON."""

import json
import sys

import nbformat
from nbclient import NotebookClient


async def wait_for_output(cell, cell_index, execute_reply):
    """Waits for the output of a cell: sometimes the kernel says that it is idle first,
    after which nbclient takes no more."""
    while not cell.outputs:
        message = await client.kc.iopub_channel.get_msg(timeout=30)
        client.process_message(message, cell, cell_index)


path, folder = sys.argv[1:]
notebook = nbformat.read(path, as_version=4)
nbformat.validate(notebook)
client = NotebookClient(
    notebook,
    kernel_name="deno",
    timeout=120,
    resources={"metadata": {"path": folder}},
    on_cell_executed=wait_for_output,
)
client.execute()
cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
print(json.dumps({cell.id: cell.outputs for cell in cells}))
