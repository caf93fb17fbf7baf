"""Lists, maps and arrays within declared types."""

from pyflink.common import Types


def define(env):
    kind = Types.TUPLE([Types.LIST(Types.INT()), Types.MAP(Types.STRING(), Types.INT())])
    return (
        env.from_collection([3, 1])
        .map(lambda n: (list(range(n)), {"n": n}), kind)
        .map(lambda pair: (len(pair[0]), sorted(pair[1].items())))
    )
