"""Links as they are written on the command line: `cpu:gpu=pcie4` or `cpu:gpu=24GB/s,10us`."""

from collections.abc import Sequence
from dataclasses import dataclass

from xengine_gui.cost import LINK_PRESETS
from xengine_gui.errors import InputError, did_you_mean
from xengine_gui.model.device import Link
from xengine_gui.model.problem import Problem
from xengine_gui.units import parse_bytes_per_s, parse_duration_ns


@dataclass(frozen=True, slots=True)
class AskedLink:
    """Both directions between two devices, whose names are told apart only where the devices are known."""

    text: str
    devices: str
    bandwidth_bytes_per_s: int
    latency_ns: int

    def links_in(self, problem: Problem) -> tuple[Link, Link]:
        """The two directions; where there is a link already, its power stays."""
        names = [device.name for device in problem.devices]
        parts = self.devices.split(":")
        pairs = [(":".join(parts[:i]).strip(), ":".join(parts[i:]).strip()) for i in range(1, len(parts))]
        known = next(((a, b) for a, b in pairs if a in names and b in names and a != b), None)
        if known is None:
            guess = did_you_mean(next((n for pair in pairs for n in pair if n not in names), ""), names)
            raise InputError(self.text, f"must name two of the devices {', '.join(names)}{guess}")
        power = {(link.source, link.destination): link.power_uw for link in problem.links}
        there, back = (
            Link(a, b, self.bandwidth_bytes_per_s, self.latency_ns, power.get((a, b))) for a, b in (known, known[::-1])
        )
        return there, back


def parse_link(text: str) -> AskedLink:
    """A link such as `cpu:gpu=pcie4`, `cpu:gpu=24GB/s` (no latency) or `cpu:gpu=24GB/s,10us`."""
    source = f"--link {text}"
    devices, equals, rest = text.rpartition("=")
    if not equals or ":" not in devices or not rest.strip():
        raise InputError(source, "is not of the form A:B=BUS or A:B=BANDWIDTH[,LATENCY]")
    preset = next((p for p in LINK_PRESETS if p.key == rest.strip().lower()), None)
    if preset is not None:
        return AskedLink(source, devices, preset.bandwidth_bytes_per_s, preset.latency_ns)
    bandwidth, comma, latency = rest.partition(",")
    try:
        rate = parse_bytes_per_s(bandwidth)
        latency_ns = parse_duration_ns(latency) if comma else 0
    except InputError as error:
        guess = did_you_mean(rest, (p.key for p in LINK_PRESETS))
        raise InputError(source, f"{'; '.join(error.mistakes)}{guess}") from None
    if rate < 1:
        raise InputError(source, "the bandwidth must be more than 0")
    return AskedLink(source, devices, rate, latency_ns)


def with_asked_links(problem: Problem, asked: Sequence[AskedLink]) -> Problem:
    """The problem with the links that are asked for."""
    for one in asked:
        problem = problem.with_links(one.links_in(problem))
    return problem
