# SPDX-License-Identifier: Apache-2.0
"""What each algorithm's turns in a lab cost on links and CPUs, and whether the
network behaves as its name says."""
import dataclasses
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from front_end.errors import UserError

from ..second_job import Sent
from .counters import Queues, cpu_times
from .lab import Lab
from .settings import ETHERNET_HEADER, Links, Settings

CHECKED = "ring_chunked"
CHECKED_ELEMENTS = 1000000
_CHECK_ITERATIONS = 50
_TCP_HEADERS = 52  # IP header, and TCP header with a time stamp
_IDLE_LEAST = 0.03  # share of CPU time
OTHERS_MOST = 0.05


class Accounts:
    """Counts at both ends of turns, for each algorithm and size."""

    def __init__(self, lab: Lab,
                 second: Callable[[], Sent] | None = None) -> None:
        """`second` returns the traffic of a second job on the lab's hosts
        since the last call."""
        self._lab = lab
        self._second = second
        self._hosts = [Queues(host.network) for host in lab.hosts]
        self._switch = Queues(lab.network.switch)
        self._began = Counter()
        self._sums: dict[str, Counter] = {}  # by algorithm

    def take(self, event: Mapping) -> None:
        """Takes a worker's "turn" event, while no worker runs an iteration."""
        self._lab.traffic.check()
        now, second = self._now(), self._second() if self._second else (0, 0)
        if event["begins"]:
            self._began = now
            return
        now.subtract(self._began)
        now["iterations"] = event["iterations"]
        now["second"], now["second_seconds"] = second
        self._sums.setdefault(event["algorithm"], Counter()).update(now)

    def close(self, name: str) -> dict:
        """The lab's fields for that algorithm's row. Its counts then
        restart."""
        settings = self._lab.settings
        spent = self._sums.pop(name)
        hosts, seconds = settings.hosts, spent["seconds"]
        line = settings.links.rate_mbit * 1e6 / 8 * seconds
        lateness = settings.lateness()
        return {
            **settings.about(),
            "wire_fraction": spent["wire"] / hosts / line,
            "wire_bytes_per_iteration":
                spent["wire"] / hosts / spent["iterations"],
            "switch_drops_per_iteration":
                spent["dropped"] / spent["iterations"],
            "flow_mbit": [8e-6 * spent[flow] / seconds
                          for flow in self._lab.traffic.flows],
            "second_mbit": self._second and _second_mbit(name, spent),
            "cpu_idle_fraction": spent["idle"] / spent["total"],
            "cpu_others_fraction": max(0, spent["others"] / spent["total"]),
            "late_rank": lateness and lateness.who}

    def _now(self) -> Counter:
        """All counters: seconds, `wire` (sent by hosts on links, without other
        traffic), `dropped`, CPU times, and bytes by flow."""
        traffic, links = self._lab.traffic, self._lab.settings.links
        flows = dict(zip(traffic.flows, traffic.flow_bytes()))
        packet = links.mtu + ETHERNET_HEADER
        flows_on_wire = (sum(flows.values()) * packet
                         / (links.mtu - _TCP_HEADERS))
        sent = sum(queues.read().sent_bytes for queues in self._hosts)
        return Counter({
            "seconds": time.monotonic(),
            "wire": sent - sum(traffic.burst_bytes()) - flows_on_wire,
            "dropped": self._switch.read().dropped,
            **cpu_times()} | flows)


def _second_mbit(name: str, spent: Mapping) -> float:
    """Raises UserError if it is unknown."""
    if not spent["second_seconds"]:
        raise UserError("the second job (--lab-second) ended too few "
                        f"allreduces during {name}; take fewer --elements, or "
                        "more --seconds")
    return 8e-6 * spent["second"] / spent["second_seconds"]


@dataclasses.dataclass(frozen=True)
class Check:
    """Whether the environment behaves as its name says."""

    text: str
    warning: str | None = None


def check(settings: Settings, rows: Sequence[Mapping]) -> Check | None:
    """None if the rows have no measurement to check, or the environment
    promises nothing."""
    wanted = settings.environment.tail
    found = [row for row in rows if row["algorithm"] == CHECKED
             and row["elements"] == CHECKED_ELEMENTS]
    if wanted is None or not found:
        return None
    row, (low, high) = found[0], wanted
    tail = row["p99_us"] / row["p50_us"]
    name = settings.environment.name
    text = f"{CHECKED}'s P99/50 here: {tail:.2f} ({name}: {low} to {high})"
    if (settings.hosts, settings.links.rate_mbit) != (Settings.hosts,
                                                      Links.rate_mbit):
        return Check(text.removesuffix(")") + f", with {Settings.hosts} hosts "
                     f"at {Links.rate_mbit:g} Mbit/s)")
    warning = None
    if row["iterations"] < _CHECK_ITERATIONS:
        warning = (f"{row['iterations']} iterations of {CHECKED} are too few "
                   f"to tell whether this network is {name}; --seconds makes "
                   "more")
    elif not low <= tail <= high:
        warning = (f"this network is not {name} as it should be: {CHECKED}'s "
                   f"P99/50 is {tail:.2f}, not {low} to {high}. Of this "
                   f"machine's CPUs, everything else took "
                   f"{row['cpu_others_fraction']:.0%} meanwhile, and "
                   f"{row['cpu_idle_fraction']:.0%} were idle; stop other "
                   "programs, or measure for longer (--seconds)")
    return Check(text, warning)


def is_disturbed(row: Mapping) -> bool:
    """Whether other programs took too much CPU time: such a row is no
    measurement."""
    return row["cpu_others_fraction"] > OTHERS_MOST


def disturbed(rows: Sequence[Mapping]) -> str | None:
    """A warning if rows are."""
    names = [row["algorithm"] for row in rows if is_disturbed(row)]
    return (f"other programs took more than {OTHERS_MOST:.0%} of the CPUs in "
            f"the turns of {', '.join(dict.fromkeys(names))} (marked !); do "
            "not use these rows") if names else None


def busy(rows: Sequence[Mapping]) -> str | None:
    """A warning if CPUs were hardly idle in the turns of an algorithm."""
    names = [row["algorithm"] for row in rows
             if row["cpu_idle_fraction"] < _IDLE_LEAST]
    if not names:
        return None
    return (f"the CPUs were hardly idle in the turns of "
            f"{', '.join(dict.fromkeys(names))}: these times are the "
            "machine's, not the network's. Lower --lab-rate, take fewer hosts "
            "(--ranks), or stop other programs")
