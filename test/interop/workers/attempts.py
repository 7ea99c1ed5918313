"""One attempt of a job whose rank 1 fails in every attempt but the last.

A store that survived its attempt would give itself away twice: the counter in
it would pass the number of ranks, and the sum over the ranks would mix the
numbers of two attempts.
"""

import os
import sys

import result
import torch
import torch.distributed as dist

attempt = int(os.environ["TORCHELASTIC_RESTART_COUNT"])
dist.init_process_group("gloo")
store = dist.distributed_c10d._get_default_store()
store.add("arrivals", 1)

numbers = torch.tensor([float(attempt)])
dist.all_reduce(numbers)
dist.barrier()
result.write(
    world=dist.get_world_size(),
    sum=numbers.item(),
    arrivals=store.add("arrivals", 0),
    port=os.environ["MASTER_PORT"],
    carrier=os.environ["OTEL_RESOURCE_ATTRIBUTES"],
)
if attempt < int(os.environ["LAST_ATTEMPT"]):
    dist.barrier()  # every rank has written its result
    if dist.get_rank() == 1:
        os._exit(7)  # as abrupt as a crash
    dist.barrier()  # the others wait for a rank that is gone
dist.destroy_process_group()
sys.exit(0)
