"""CheckpointingMode, under the module name that PyFlink uses."""

from spry.common.state_choices import CheckpointingMode

__all__ = ["CheckpointingMode"]
