"""ExternalizedCheckpointRetention, under the module name that PyFlink uses."""

from spry.common.state_choices import ExternalizedCheckpointRetention

__all__ = ["ExternalizedCheckpointRetention"]
