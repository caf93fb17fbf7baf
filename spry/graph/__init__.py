"""The graphs of a job: Transformations -> StreamGraph -> JobGraph -> ExecutionGraph."""
