# SPDX-License-Identifier: Apache-2.0
"""What each algorithm's turns in a lab cost on links and CPUs, and whether the
network behaves as its name says."""
import dataclasses
import time
from collections.abc import Mapping, Sequence

from .counters import Queues, cpu_times
from .lab import Lab
from .settings import ETHERNET_HEADER, Links, Settings

CHECKED = "ring_chunked"
CHECKED_ELEMENTS = 1000000
_CHECK_ITERATIONS = 50
_TCP_HEADERS = 52  # IP header, and TCP header with a time stamp
_IDLE_LEAST = 0.03  # share of CPU time


@dataclasses.dataclass
class _Sample:
    """All counters, at one moment or the difference of two."""

    seconds: float
    wire: float  # sent by hosts on links, without other traffic
    dropped: float
    cpu_idle: float  # of all CPUs together, in seconds
    cpu_others: float
    cpu_total: float
    flows: list[int]

    def combined(self, other: "_Sample", sign: int) -> "_Sample":
        mine, others = vars(self), vars(other)
        return _Sample(**{
            name: ([x + sign * y for x, y in zip(value, others[name])]
                   if name == "flows" else value + sign * others[name])
            for name, value in mine.items()})


class Accounts:
    """Counts at both ends of turns, for each algorithm and size."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._hosts = [Queues(host.network) for host in lab.hosts]
        self._switch = Queues(lab.network.switch)
        self._began: _Sample | None = None
        self._sums: dict[str, _Sample] = {}
        self._iterations: dict[str, int] = {}

    def take(self, event: Mapping) -> None:
        """Takes a worker's "turn" event, while no worker runs an iteration."""
        self._lab.traffic.check()
        now = self._now()
        if event["begins"]:
            self._began = now
            return
        assert self._began is not None
        name, spent = event["algorithm"], now.combined(self._began, -1)
        before = self._sums.get(name)
        self._sums[name] = before.combined(spent, 1) if before else spent
        self._iterations[name] = (self._iterations.get(name, 0)
                                  + event["iterations"])

    def close(self, name: str) -> dict:
        """The lab's fields for that algorithm's row. Its counts then
        restart."""
        settings = self._lab.settings
        spent, iterations = self._sums.pop(name), self._iterations.pop(name)
        line = settings.links.rate_mbit * 1e6 / 8 * spent.seconds
        links = settings.hosts
        lateness = settings.lateness()
        return {
            **settings.about(),
            "wire_fraction": spent.wire / links / line,
            "wire_bytes_per_iteration": spent.wire / links / iterations,
            "switch_drops_per_iteration": spent.dropped / iterations,
            "flow_mbit": [8e-6 * count / spent.seconds
                          for count in spent.flows],
            "cpu_idle_fraction": spent.cpu_idle / spent.cpu_total,
            "cpu_others_fraction": max(0, spent.cpu_others / spent.cpu_total),
            "late_rank": lateness and lateness.who}

    def _now(self) -> _Sample:
        flows = self._lab.traffic.flow_bytes()
        links = self._lab.settings.links
        packet = links.mtu + ETHERNET_HEADER
        flows_on_wire = sum(flows) * packet / (links.mtu - _TCP_HEADERS)
        sent = sum(queues.read().sent_bytes for queues in self._hosts)
        times = cpu_times()
        return _Sample(
            time.monotonic(),
            sent - sum(self._lab.traffic.burst_bytes()) - flows_on_wire,
            self._switch.read().dropped, times.idle, times.others, times.total,
            flows)


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
