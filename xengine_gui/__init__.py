"""XEngine planner: tensor rematerialization on heterogeneous devices, planned, proved and shown."""

__version__ = "0.1.0"
