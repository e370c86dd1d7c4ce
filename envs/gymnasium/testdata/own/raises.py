def broken():
    return undefined_name


broken()
