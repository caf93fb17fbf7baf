"""One stream goes two ways and comes together again."""


def define(env):
    numbers = env.from_collection(range(6))
    even = numbers.filter(lambda n: n % 2 == 0).map(lambda n: f"even {n}")
    odd = numbers.filter(lambda n: n % 2 == 1).map(lambda n: f"odd {n}")
    return even.union(odd)
