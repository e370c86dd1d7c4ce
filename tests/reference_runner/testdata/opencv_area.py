"""Makes opencv_area.json: pictures of noise as OpenCV 5.0 on x86-64 averages them.
Needs numpy and opencv-python.

    python opencv_area.py
"""

import json
import os

import cv2
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
SIZES = [
    # from (width, height), to, channels
    ((20, 21), (14, 10), 1),
    ((40, 26), (21, 11), 3),
    ((33, 10), (10, 10), 4),
    ((10, 33), (7, 5), 2),
    ((16, 24), (8, 12), 1),
    ((16, 8), (8, 4), 3),
    ((16, 8), (8, 4), 2),
    ((24, 24), (8, 4), 1),
    ((9, 9), (1, 1), 1),
    ((5, 4), (5, 4), 3),
]


def noise(count, seed):
    x, values = seed, []
    for _ in range(count):
        x = (1664525 * x + 1013904223) % 2**32
        values.append(x >> 24)
    return np.array(values, np.uint8)


def main():
    cases = []
    for seed, (size, to, channels) in enumerate(SIZES):
        shape = size[1], size[0], channels
        picture = noise(int(np.prod(shape)), seed).reshape(shape)
        small = cv2.resize(picture, to, interpolation=cv2.INTER_AREA)
        sizes = {
            it: {"width": w, "height": h} for it, (w, h) in {"from": size, "to": to}.items()
        }
        cases.append(
            {"seed": seed, **sizes, "channels": channels, "pixels": small.tobytes().hex()}
        )
    with open(f"{HERE}/opencv_area.json", "w") as file:
        json.dump(cases, file, indent=2)
        file.write("\n")


if __name__ == "__main__":
    main()
