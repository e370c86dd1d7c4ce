import os


def broken(:
    pass
