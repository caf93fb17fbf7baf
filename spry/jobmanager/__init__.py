"""The driver's side of a job: its master, which plans epochs, coordinates sources, and sees the job through."""
