"""Rebalance, shuffle, rescale and forward neither lose nor double records."""


def define(env):
    numbers = env.from_collection(range(5))
    moved = [
        numbers.rebalance().map(lambda n: ("rebalance", n)),
        numbers.shuffle().map(lambda n: ("shuffle", n)),
        numbers.rescale().map(lambda n: ("rescale", n)),
        numbers.map(lambda n: n).forward().map(lambda n: ("forward", n)),
    ]
    return moved[0].union(*moved[1:])
