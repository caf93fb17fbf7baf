"""Records of one key meet in one reduce, in their order."""


def define(env):
    return (
        env.from_collection(["apple", "avocado", "bean", "almond", "beet"])
        .key_by(lambda w: w[0])
        .reduce(lambda a, b: f"{a}+{b}")
    )
