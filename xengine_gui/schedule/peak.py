"""How much memory a graph takes when everything is computed once and nothing is dropped before its last use."""

from xengine_gui.model.problem import Problem


def one_device_peak_bytes(problem: Problem, device: str | None = None) -> int:
    """The peak of running the whole graph in base order on one device, all parameters included.

    Each tensor is freed after its last use. Workspaces are those of the fastest implementation on `device`, or on any
    device where that one cannot run the operator or none is named.
    """
    indexed = problem.indexed
    here = [problem.device(device).name] if device is not None else []
    last_use = {t: o for o in range(indexed.operator_count) for t in (*indexed.outputs[o], *indexed.inputs[o])}
    ending: list[list[int]] = [[] for _ in range(indexed.operator_count)]
    for tensor, last in last_use.items():
        if tensor not in indexed.keep:
            ending[last].append(tensor)
    level = peak = sum(indexed.parameter_bytes[p] for p in {p for parameters in indexed.parameters for p in parameters})
    for o, operator in enumerate(problem.operators):
        level += sum(indexed.tensor_bytes[t] for t in indexed.outputs[o])
        ways = [way for name in here for way in operator.costs.get(name, ())]
        ways = ways or [way for rows in operator.costs.values() for way in rows]
        peak = max(peak, level + min(ways, key=lambda way: way.time_ns).workspace_bytes)
        level -= sum(indexed.tensor_bytes[t] for t in ending[o])
    return peak
