"""What functions get from their runtime context: set-up and clean-up, files, parameters, accumulators, metrics."""

import json
import tempfile
from pathlib import Path

from spry.common import Types
from spry.datastream import MapFunction, RuntimeContext, StreamExecutionEnvironment


class Translate(MapFunction):
    """Replaces words by those in a dictionary file that every worker is given."""

    def open(self, runtime_context: RuntimeContext) -> None:
        """Called once in every subtask, before the first record."""
        path = runtime_context.get_distributed_cache().get_file("dictionary")
        self.dictionary: dict[str, str] = json.loads(Path(path).read_text(encoding="utf-8"))
        self.mark = runtime_context.get_job_parameter("unknown-mark", "?")
        self.unknown = runtime_context.get_histogram("unknown words")
        self.words = runtime_context.get_metrics_group().counter("words")
        self.closed = runtime_context.get_int_counter("subtasks closed")

    def map(self, value: str) -> str:
        self.words.inc()
        known = self.dictionary.get(value)
        if known is None:
            self.unknown.add(value)
            return value + self.mark
        return known

    def close(self) -> None:
        """Called once in every subtask at the end, also after a failure."""
        self.closed.add(1)


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "dictionary.json"
        path.write_text(json.dumps({"flink": "nimble", "schnell": "fast", "und": "and"}), encoding="utf-8")
        env = StreamExecutionEnvironment.get_execution_environment()
        env.set_parallelism(1)
        env.register_cached_file(str(path), "dictionary")
        env.get_config().set_global_job_parameters({"unknown-mark": "*"})
        words = env.from_collection(["flink", "und", "schnell", "und", "munter"], Types.STRING())
        words.map(Translate(), Types.STRING()).name("translate").print()
        client = env.execute_async("rich functions")
        result = client.get_job_execution_result().result()
    print("unknown words:", result.get_accumulator_result("unknown words"))
    print("subtasks closed:", result.get_accumulator_result("subtasks closed"))
    print("words, by metric:", {k: v for k, v in client.get_metrics().items() if k.endswith("words")})


if __name__ == "__main__":
    main()
