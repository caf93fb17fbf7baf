"""Sliding count windows with a slide of two, and their numbers."""

from pyflink.datastream import WindowFunction


class Show(WindowFunction):
    def apply(self, key, window, inputs):
        yield f"{key} {window.id} {list(inputs)}"


def define(env):
    return env.from_collection(range(1, 16)).key_by(lambda n: n % 2).count_window(4, 2).apply(Show())
