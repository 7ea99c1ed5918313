#!/usr/bin/env python3
"""Data-parallel training of a very small network, to see a launcher at work.

Started once per rank by lenslaunch (or torchrun), which say who is who in
RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT. With PyTorch the ranks meet by
gloo and DistributedDataParallel; without it they meet by a socket all-reduce
that needs the standard library only. Both do the same arithmetic on the same
numbers, share the checkpoint format, and are deterministic.

Python 3.8 or newer. Exit code: 0 done, 1 failed, 2 wrong usage,
128 + signal number when asked to stop (after saving).
"""

import argparse
import os
import signal
import sys
import time
import traceback

from checkpoint import load_checkpoint, save_checkpoint
from plain import PlainTrainer
from progress import Bar
from with_torch import TorchTrainer, has_torch
from worker import Failure, Identity, Lost, StopRequest, report_error


class Run:
    """The step loop, and what is done on the way out of it."""

    def __init__(self, me, options):
        self.me, self.options = me, options
        trainer = PlainTrainer if options.no_torch or not has_torch() else TorchTrainer
        self.trainer = trainer(me, options.timeout)
        self.done = self.saved = self._resume()

    def say(self, text):
        if self.me.rank == 0:
            print(text, flush=True)

    def _resume(self):
        found = None
        if self.me.rank == 0 and self.options.checkpoint_dir:
            found = load_checkpoint(self.options.checkpoint_dir)
        step, state = found or (0, self.trainer.state())
        self.say(f"training on {self.me.world} ranks ({self.trainer.name})")
        if found:
            self.say(f"resuming after step {step}")
        return self.trainer.restore(step, state)

    def steps(self, stop):
        """Runs to the end, or until a rank is asked to stop; True at the end."""
        every = self.options.checkpoint_every
        bar = Bar(self.done, self.options.steps) if self.options.bar else None
        try:
            while self.done < self.options.steps:
                self._fail_if_asked(self.done + 1)
                time.sleep(self.options.step_time)
                loss, stopping = self.trainer.step(stop.signal)
                self.done += 1
                if bar:
                    bar.step(f"loss {loss:.6f}")
                else:
                    self.say(f"step {self.done:3}/{self.options.steps}  loss {loss:.6f}")
                if self.done % every == 0:
                    self.save()
                if stopping and self.done < self.options.steps:
                    return False
            return True
        finally:
            if bar:
                bar.close()

    def _fail_if_asked(self, step):
        wanted = self.options.fail_rank
        wanted = self.me.world - 1 if wanted is None else wanted
        # Only the first attempt fails, so that the second one shows a recovery.
        if (self.me.attempt, self.me.rank, self.options.fail_at_step) == (0, wanted, step):
            raise Failure(f"failing at step {step}, as --fail-at-step asks")

    def save(self):
        if self.me.rank == 0 and self.options.checkpoint_dir and self.done != self.saved:
            save_checkpoint(self.options.checkpoint_dir, self.done, self.trainer.state())
            self.saved = self.done
            self.say(f"saved after step {self.done}")


def train(me, options):
    """Returns the exit code."""
    print(me.describe_carrier(), flush=True)
    run = Run(me, options)
    # Before this point there is nothing to save: SIGTERM simply ends us.
    stop = StopRequest()
    try:
        finished = run.steps(stop)
    except Lost:
        # The state is that of the last whole step, so it is worth keeping.
        run.save()
        if stop.signal:
            return 128 + stop.signal
        raise
    run.save()
    run.trainer.close()
    if not finished:
        run.say(f"stopped after step {run.done}, as asked")
        return 128 + (stop.signal or signal.SIGTERM)
    run.say("done")
    return 0


def parse_options(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--steps", type=int, default=40, metavar="N", help="steps in all (40)")
    add("--checkpoint-dir", metavar="DIR", help="save there and resume from there (none)")
    add("--checkpoint-every", type=int, default=10, metavar="N", help="steps between (10)")
    add("--fail-at-step", type=int, metavar="N", help="fail before step N of attempt 0")
    add("--fail-rank", type=int, metavar="R", help="the rank that fails (the last)")
    add("--step-time", type=float, default=0.0, metavar="S", help="seconds to add to a step (0)")
    add("--bar", action="store_true", help="a progress bar of every rank instead of lines of rank 0")
    add("--timeout", type=float, default=60.0, metavar="S", help="longest wait for a peer (60)")
    add("--no-torch", action="store_true", help="the standard library even if torch is there")
    options = parser.parse_args(arguments)
    if options.checkpoint_every < 1 or options.timeout <= 0 or options.step_time < 0:
        parser.error("--checkpoint-every and --timeout must be positive")
    return options


def main():
    options = parse_options(sys.argv[1:])
    try:
        me = Identity(os.environ)
    except ValueError as err:
        print(f"train.py: wrong environment: {err}", file=sys.stderr)
        return 2
    try:
        return train(me, options)
    except Exception as err:
        report_error(err)
        if not isinstance(err, Failure):
            traceback.print_exc()
        what = "lost its peers" if isinstance(err, Lost) else "failed"
        print(f"rank {me.rank} {what}: {err}", file=sys.stderr, flush=True)
        return 1


if __name__ == "__main__":
    sys.exit(main())
