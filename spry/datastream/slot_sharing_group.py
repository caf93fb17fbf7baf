"""Slot sharing groups: operators in different groups never share a slot."""

from __future__ import annotations

from dataclasses import dataclass, field

from spry.common.config_options import parse_memory_size

__all__ = ["MemorySize", "SlotSharingGroup"]


@dataclass(frozen=True, order=True)
class MemorySize:
    """An amount of memory.

    >>> MemorySize.parse("2 mb").get_bytes()
    2097152
    """

    bytes_size: int

    @staticmethod
    def of_mebi_bytes(mebi_bytes: int) -> MemorySize:
        return MemorySize(mebi_bytes << 20)

    @staticmethod
    def parse(text: str) -> MemorySize:
        return MemorySize(parse_memory_size(text))

    def get_bytes(self) -> int:
        return self.bytes_size

    def get_kibi_bytes(self) -> int:
        return self.bytes_size >> 10

    def get_mebi_bytes(self) -> int:
        return self.bytes_size >> 20

    def get_gibi_bytes(self) -> int:
        return self.bytes_size >> 30

    def get_tebi_bytes(self) -> int:
        return self.bytes_size >> 40

    def __str__(self) -> str:
        return f"{self.bytes_size} bytes"


@dataclass(frozen=True)
class SlotSharingGroup:
    """A named group, with the resources that it should have.

    The resources describe the group; Spark's executors decide what a slot really gets.
    """

    name: str
    cpu_cores: float | None = None
    task_heap_memory: MemorySize | None = None
    task_off_heap_memory: MemorySize | None = None
    managed_memory: MemorySize | None = None
    external_resources: dict[str, float] = field(default_factory=dict, compare=False)

    def get_name(self) -> str:
        return self.name

    def get_cpu_cores(self) -> float | None:
        return self.cpu_cores

    def get_task_heap_memory(self) -> MemorySize | None:
        return self.task_heap_memory

    def get_task_off_heap_memory(self) -> MemorySize | None:
        return self.task_off_heap_memory

    def get_managed_memory(self) -> MemorySize | None:
        return self.managed_memory

    def get_external_resources(self) -> dict[str, float]:
        return dict(self.external_resources)

    @staticmethod
    def builder(name: str) -> SlotSharingGroup.Builder:
        return SlotSharingGroup.Builder(name)

    class Builder:
        """Builds a group."""

        def __init__(self, name: str) -> None:
            if not name:
                raise ValueError("a slot sharing group needs a name")
            self._name = name
            self._cpu: float | None = None
            self._memory: dict[str, MemorySize] = {}
            self._external: dict[str, float] = {}

        def set_cpu_cores(self, cpu_cores: float) -> SlotSharingGroup.Builder:
            if cpu_cores <= 0:
                raise ValueError(f"slot sharing group '{self._name}': CPU cores must be more than 0, not {cpu_cores}")
            self._cpu = cpu_cores
            return self

        def _set(self, kind: str, size: MemorySize | str) -> SlotSharingGroup.Builder:
            self._memory[kind] = MemorySize.parse(size) if isinstance(size, str) else size
            return self

        def set_task_heap_memory(self, task_heap_memory: MemorySize | str) -> SlotSharingGroup.Builder:
            return self._set("task_heap_memory", task_heap_memory)

        def set_task_heap_memory_mb(self, task_heap_memory_mb: int) -> SlotSharingGroup.Builder:
            return self._set("task_heap_memory", MemorySize.of_mebi_bytes(task_heap_memory_mb))

        def set_task_off_heap_memory(self, task_off_heap_memory: MemorySize | str) -> SlotSharingGroup.Builder:
            return self._set("task_off_heap_memory", task_off_heap_memory)

        def set_task_off_heap_memory_mb(self, task_off_heap_memory_mb: int) -> SlotSharingGroup.Builder:
            return self._set("task_off_heap_memory", MemorySize.of_mebi_bytes(task_off_heap_memory_mb))

        def set_managed_memory(self, managed_memory: MemorySize | str) -> SlotSharingGroup.Builder:
            return self._set("managed_memory", managed_memory)

        def set_managed_memory_mb(self, managed_memory_mb: int) -> SlotSharingGroup.Builder:
            return self._set("managed_memory", MemorySize.of_mebi_bytes(managed_memory_mb))

        def set_external_resource(self, name: str, value: float) -> SlotSharingGroup.Builder:
            self._external[name] = value
            return self

        def build(self) -> SlotSharingGroup:
            return SlotSharingGroup(self._name, self._cpu, external_resources=dict(self._external), **self._memory)
