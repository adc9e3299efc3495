"""A real llama.cpp server on this machine, until it is killed: `python llamacpp_server.py MODEL.gguf CONTEXT`.

The first line on standard output is its address.
"""

import sys
import threading

import xllamacpp  # type: ignore[import-untyped]


def main(path: str, context: int) -> None:
    params = xllamacpp.CommonParams()
    params.model.path = path
    params.model_alias = {"smollm2"}
    params.hostnames = ["127.0.0.1"]
    params.n_ctx = context
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.warmup = False
    params.ui = False
    params.endpoint_metrics = True
    params.cache_ram_mib = 0
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
