"""PyTorch on a GPU: an update is one CUDA graph, its batch comes from the host."""
import time
from statistics import median

import torch


def use(device):
    """Makes the device that of new tensors, with the precision of ours: float32."""
    torch.set_default_device(device)
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = False


def graph_of(step):
    """Records a step as a CUDA graph; on a CPU it is the step itself."""
    if torch.get_default_device().type != "cuda":
        return step
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def wait():
    if torch.get_default_device().type == "cuda":
        torch.cuda.synchronize()


def update_ms(update, batch, repeats):
    """Median milliseconds of an update, its batch sent at each."""
    held = [it.clone() for it in batch]
    sent = [it.cpu() for it in batch]
    if torch.get_default_device().type == "cuda":
        sent = [it.pin_memory() for it in sent]
    run = graph_of(lambda: update(*held))
    times = []
    for _ in range(20 + repeats):
        started = time.perf_counter()
        for to, origin in zip(held, sent):
            to.copy_(origin, non_blocking=True)
        run()
        wait()
        times.append((time.perf_counter() - started) * 1000)
    return median(times[20:])
