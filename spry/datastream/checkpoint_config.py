"""CheckpointConfig, under the module name that PyFlink uses."""

from spry.common.checkpoint_config import CheckpointConfig, ExternalizedCheckpointCleanup

__all__ = ["CheckpointConfig", "ExternalizedCheckpointCleanup"]
