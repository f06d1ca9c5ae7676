"""The energy of a plan: what devices take while they compute and links while they copy, above idle.

Powers are whole microwatts and times whole nanoseconds, so energies are exact in femtojoules.
"""

from xengine_gui.model.device import Link
from xengine_gui.model.plan import Compute, Plan, Transfer
from xengine_gui.model.problem import Problem


def missing_power(problem: Problem) -> str:
    """Which power is missing to tell the energy of every plan, in one sentence; empty where none is."""
    links = first_links(problem)
    computing = {name for operator in problem.operators for name, ways in operator.costs.items() if ways}
    for device in problem.devices:
        if device.name in computing and device.power_uw is None:
            return f"device {device.name!r} has no power_uw"
    for way in dict.fromkeys((*links, *((row.source, row.destination) for row in problem.transfers))):
        if way not in links:
            return f"there are transfers from {way[0]!r} to {way[1]!r} but no link, which has the power_uw"
        if links[way].power_uw is None:
            return f"the link from {way[0]!r} to {way[1]!r} has no power_uw"
    return ""


def plan_energy_fj(plan: Plan) -> int | None:
    """The energy of a plan in femtojoules, `None` where a power that it needs is not known."""
    device_uw = {device.name: device.power_uw for device in plan.problem.devices}
    link_uw = {way: link.power_uw for way, link in first_links(plan.problem).items()}
    total_fj = 0
    for event in plan.events:
        if isinstance(event, Compute):
            power_uw = device_uw.get(event.device)
        elif isinstance(event, Transfer):
            power_uw = link_uw.get((event.source, event.destination))
        else:
            continue
        if power_uw is None:
            return None
        total_fj += power_uw * (event.end_ns - event.start_ns)
    return total_fj


def first_links(problem: Problem) -> dict[tuple[str, str], Link]:
    """The link that counts between each two devices: the first, as for every reader of the format."""
    links: dict[tuple[str, str], Link] = {}
    for link in problem.links:
        links.setdefault((link.source, link.destination), link)
    return links
