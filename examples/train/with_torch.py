"""The training step with PyTorch, gloo and DistributedDataParallel, on CPU."""

import importlib.util
import os
import re
import sys
from datetime import timedelta

from task import HIDDEN, INPUTS, LEARNING_RATE, MOMENTUM, initial_parameters, shard
from worker import Lost


class TorchTrainer:
    """The same network by torch.nn, gloo and DistributedDataParallel."""

    name = "PyTorch, gloo"

    def __init__(self, me, timeout):
        import torch

        self.torch, self.dist = torch, torch.distributed
        # torch takes its place from the environment, for one rank alone too.
        for name, value in (("RANK", 0), ("WORLD_SIZE", 1), ("MASTER_PORT", 0)):
            os.environ.setdefault(name, str(value))
        os.environ.setdefault("MASTER_ADDR", me.address)
        with PeersMayGo():
            self.dist.init_process_group("gloo", timeout=timedelta(seconds=timeout))
        self.net = torch.nn.Sequential(
            torch.nn.Linear(INPUTS, HIDDEN), torch.nn.Tanh(), torch.nn.Linear(HIDDEN, 1)
        ).double()
        self._fill(self.net.parameters(), torch.tensor(initial_parameters(), dtype=torch.float64))
        with PeersMayGo():
            self.model = torch.nn.parallel.DistributedDataParallel(self.net)
        self.sgd = torch.optim.SGD(self.net.parameters(), lr=LEARNING_RATE, momentum=MOMENTUM)
        xs, ys = shard(me.rank)
        self.xs = torch.tensor(xs, dtype=torch.float64)
        self.ys = torch.tensor(ys, dtype=torch.float64).unsqueeze(1)

    def _fill(self, tensors, flat):
        with self.torch.no_grad():
            for tensor in tensors:
                tensor.copy_(flat[: tensor.numel()].view_as(tensor))
                flat = flat[tensor.numel() :]

    def step(self, stop):
        """One step on all ranks: (mean loss, does any rank want to stop)."""
        loss = ((self.model(self.xs) - self.ys) ** 2).mean()
        self.sgd.zero_grad()
        with PeersMayGo():
            loss.backward()  # DDP averages the gradients over the ranks here
            both = self.torch.tensor([loss.item(), float(stop)], dtype=self.torch.float64)
            self.dist.all_reduce(both)
        self.sgd.step()
        return both[0].item() / self.dist.get_world_size(), both[1].item() > 0

    def state(self):
        parameters, velocity = [], []
        for tensor in self.net.parameters():
            buffer = self.sgd.state[tensor].get("momentum_buffer")
            parameters += tensor.detach().flatten().tolist()
            velocity += [0.0] * tensor.numel() if buffer is None else buffer.flatten().tolist()
        return parameters + velocity

    def restore(self, step, state):
        """Give every rank rank 0's state; returns rank 0's step."""
        everything = self.torch.tensor([float(step)] + state, dtype=self.torch.float64)
        with PeersMayGo():
            self.dist.broadcast(everything, src=0)
        step, numbers = int(everything[0].item()), everything[1:]
        half = len(numbers) // 2
        buffers = [self.torch.zeros_like(tensor) for tensor in self.net.parameters()]
        self._fill(self.net.parameters(), numbers[:half])
        self._fill(buffers, numbers[half:])
        for tensor, buffer in zip(self.net.parameters(), buffers):
            self.sgd.state[tensor]["momentum_buffer"] = buffer
        return step

    def close(self):
        self.dist.destroy_process_group()


class PeersMayGo:
    """Turns what gloo raises when a peer is gone into Lost."""

    def __enter__(self):
        return self

    def __exit__(self, kind, err, trace):
        # gloo and the store raise RuntimeError or a subclass of it, beginning
        # with the place in gloo's own sources.
        if isinstance(err, RuntimeError):
            reason = re.sub(r"^\[[^\]]*\] ", "", str(err).strip().splitlines()[0])
            raise Lost(reason) from err
        return False


def has_torch():
    """Is there a torch that imports and has gloo? A broken one counts as none."""
    if importlib.util.find_spec("torch") is None:
        return False
    try:
        import torch

        return torch.distributed.is_available() and torch.distributed.is_gloo_available()
    except Exception as err:  # a half-installed torch raises nearly anything
        print(f"torch cannot be used ({err}): going on without", file=sys.stderr)
        return False
