"""Names of side outputs."""

from __future__ import annotations

from typing import Any

from spry.common.typeinfo import RowTypeInfo, TypeInformation, Types

__all__ = ["OutputTag"]


class OutputTag:
    """Names a side output and says which type its elements have.

    Yield ``tag, value`` from a process function to emit to it, and read it with
    ``stream.get_side_output(tag)``.

    >>> OutputTag("late", Types.STRING())
    OutputTag('late', String)

    :param tag_id: The name of the output, different for each side output of an operator.
    :param type_info: The type of its elements; a list of types stands for a row of these; whatever can be
        pickled if left out.
    """

    __slots__ = ("tag_id", "type_info")

    tag_id: str
    type_info: TypeInformation

    def __init__(self, tag_id: str, type_info: TypeInformation | list[TypeInformation] | None = None) -> None:
        if not tag_id or type(tag_id) is not str:
            raise ValueError(f"the tag_id of an OutputTag must be a string that is not empty, got {tag_id!r}")
        if type_info is None:
            type_info = Types.PICKLED_BYTE_ARRAY()
        elif isinstance(type_info, list):
            type_info = RowTypeInfo(type_info)
        elif not isinstance(type_info, TypeInformation):
            raise TypeError(
                f"the type_info of OutputTag({tag_id!r}) must be a type such as Types.INT(), a list of types "
                f"or None, got {type_info!r}"
            )
        self.tag_id = tag_id
        self.type_info = type_info

    def __eq__(self, other: object) -> bool:
        return self.tag_id == other.tag_id if isinstance(other, OutputTag) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.tag_id)

    def __reduce__(self) -> tuple[Any, ...]:
        return OutputTag, (self.tag_id, self.type_info)

    def __repr__(self) -> str:
        return f"OutputTag({self.tag_id!r}, {self.type_info!r})"
