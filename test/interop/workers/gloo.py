"""torch.distributed as any script uses it: init, all_reduce, barrier, DDP."""

import os

import result
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()

total = torch.tensor([float(rank + 1)])
dist.all_reduce(total)
dist.barrier()

# DistributedDataParallel averages: every rank ends with the same gradient.
torch.manual_seed(rank)  # different weights, which it must make equal
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 1))
model(torch.full((1, 3), float(rank))).sum().backward()
gradient = model.module.weight.grad.tolist()[0]
weights = [round(value, 6) for value in model.module.weight.tolist()[0]]

dist.destroy_process_group()
result.write(
    torch=torch.__version__,
    world=world,
    total=total.item(),
    gradient=gradient,
    weights=weights,
    threads=os.environ["OMP_NUM_THREADS"],
)
