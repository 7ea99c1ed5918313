"""What is learned: the numbers that every implementation shares.

A network of INPUTS x HIDDEN x 1 with tanh, mean squared error, and SGD with
momentum. Fixed seeds: two runs of as many ranks print the same losses.
"""

import math
import random

INPUTS, HIDDEN, BATCH = 2, 16, 32  # BATCH is per rank
LEARNING_RATE, MOMENTUM = 0.1, 0.5
SEED = 20260101


def initial_parameters():
    """Flat, in torch's order: W1 (HIDDEN x INPUTS), b1, W2, b2."""
    rng = random.Random(SEED)
    first = [rng.uniform(-2, 2) for _ in range(HIDDEN * INPUTS + HIDDEN)]
    second = [rng.uniform(-0.25, 0.25) for _ in range(HIDDEN + 1)]
    return first + second


def shard(rank):
    """This rank's samples: the same in every attempt, different for each rank."""
    rng = random.Random(f"{SEED}/{rank}")
    xs = [[rng.uniform(-1, 1) for _ in range(INPUTS)] for _ in range(BATCH)]
    ys = [math.sin(3 * x[0]) * 0.5 + x[1] * x[1] for x in xs]
    return xs, ys
