# SPDX-License-Identifier: Apache-2.0
"""An explicit-state model of how calls of a bounded allreduce begin and end.

The model contains everything that affects the end and the result of a call:
the lead, the room that an owner reserves for its shard, closed shards,
retention, calls that throw, contexts that close and ranks that die. It leaves
out time, slots and lost packets: anything that can still arrive may arrive at
any step, and a timeout may pass at any step. explore() visits every state that
any order of steps can reach. It checks two promises (docs/semantics.md):
* progress: while no rank has thrown, left early or died, some step other than
  a timeout is possible until every call has returned;
* agreement: all ranks that return an op return the same result. Once a rank
  has thrown or is gone, every remaining call returns or throws without a
  timeout of its own.
"""

import collections
import dataclasses


@dataclasses.dataclass(frozen=True)
class Job:
    """The explored job. Ranks, ops and threads count from zero."""

    ranks: int
    # By rank: for each of its threads, the ops that it calls, in order.
    programs: tuple
    lead: int = 1  # ops that may have returned here and not everywhere
    room: int = 1  # shards that a rank's arena can keep
    timeouts: bool = False  # calls may throw
    deaths: int = 0  # ranks that may die
    # Results arrive at once. This gives fewer states. For jobs without faults,
    # because a kept result can then only arrive earlier.
    instant: bool = False
    # The rules. The transport has all of them on. A test switches one off to
    # check that the model notices.
    awaited_ops_begin: bool = True  # past the lead, if others have begun them
    reserves: bool = True  # room for the own shard, before an op begins
    holds: bool = True  # a call without room waits until all have its shard
    fills: bool = False  # a call may return without some owner's result
    throw_is_told: bool = True  # a rank that throws fails the others' sessions
    majority: bool = True  # a shard closes once most ranks have entered

    @property
    def ops(self):
        return 1 + max(op for rank in self.programs for thread in rank for op in thread)


# Phases of a call.
IDLE, WAITING, ENTERED, RETURNED, THREW = range(5)
FILLED = -1  # replaces an owner's result

# phase[rank][op]; got[rank][op]: bits of owners whose results are here;
# closed[owner][op]: bits of contributors, 0: open; reserved[rank]: bits of ops
# that have room; failed, gone, dead: bits of ranks; results[op]: the result of
# the first rank that returned the op.
State = collections.namedtuple(
    "State", "phase got closed reserved failed gone dead results")


def put(rows, row, column, value):
    changed = list(rows[row])
    changed[column] = value
    return rows[:row] + (tuple(changed),) + rows[row + 1:]


def put1(values, index, value):
    return values[:index] + (value,) + values[index + 1:]


class Violation(Exception):
    """A broken promise; the text names it and the state."""


class Model:
    def __init__(self, job):
        self.job = job
        self.ranks = range(job.ranks)
        self.all = (1 << job.ranks) - 1

    def first(self):
        ops = self.job.ops
        zeros = tuple((0,) * ops for _ in self.ranks)
        return State(zeros, zeros, zeros, (0,) * self.job.ranks, 0, 0, 0,
                     (None,) * ops)

    def away(self, state, rank):
        return (state.gone | state.dead) >> rank & 1

    def has_failed(self, state, rank):
        return state.failed >> rank & 1

    def done_everywhere(self, state, op):
        return all(state.phase[rank][op] == RETURNED or self.away(state, rank)
                   for rank in self.ranks)

    def everyone_has(self, state, owner, op):
        """Whether no rank may still ask the owner for its shard."""
        return all(rank == owner or state.phase[rank][op] == RETURNED or
                   state.got[rank][op] >> owner & 1 or self.away(state, rank)
                   for rank in self.ranks)

    def keeps(self, state, owner, op):
        """Whether the owner can still send its shard."""
        if self.away(state, owner) or not state.closed[owner][op]:
            return False
        phase = state.phase[owner][op]
        if phase == RETURNED:
            return bool(state.reserved[owner] >> op & 1)
        return phase != THREW

    def lead_of(self, state, rank):
        return sum(state.phase[rank][op] == RETURNED and
                   not self.done_everywhere(state, op)
                   for op in range(self.job.ops))

    def room_of(self, state, rank):
        used = sum(state.reserved[rank] >> op & 1 and
                   not self.done_everywhere(state, op)
                   for op in range(self.job.ops))
        return self.job.room - used

    def may_begin(self, state, rank, op):
        """None: not yet. Otherwise whether the op gets room."""
        awaited = self.job.awaited_ops_begin and any(
            state.phase[other][op] >= ENTERED for other in self.ranks)
        lead = self.lead_of(state, rank)
        if lead >= self.job.lead and not awaited:
            return None
        if not self.job.reserves:
            return False
        if self.room_of(state, rank) > 0:
            return True
        # If there is nothing to wait for, it begins without room and holds its
        # call.
        return False if awaited or lead == 0 else None

    def steps(self, state):
        """All (name, next state) that need no timeout."""
        for rank in self.ranks:
            if not self.away(state, rank):
                yield from self.calls(state, rank)
                yield from self.progress(state, rank)
                yield from self.ends(state, rank)

    def calls(self, state, rank):
        if self.has_failed(state, rank):
            return
        for thread in self.job.programs[rank]:
            for op in thread:
                phase = state.phase[rank][op]
                if phase == IDLE:
                    yield (f"{rank} calls {op}", state._replace(
                        phase=put(state.phase, rank, op, WAITING)))
                if phase != RETURNED:
                    break
        for op in range(self.job.ops):
            if state.phase[rank][op] == WAITING:
                room = self.may_begin(state, rank, op)
                if room is not None:
                    reserved = state.reserved[rank] | (1 << op if room else 0)
                    yield (f"{rank} enters {op}", state._replace(
                        phase=put(state.phase, rank, op, ENTERED),
                        reserved=put1(state.reserved, rank, reserved)))

    def progress(self, state, rank):
        for op in range(self.job.ops):
            entered = sum(1 << other for other in self.ranks
                          if state.phase[other][op] in (ENTERED, RETURNED))
            enough = (2 * bin(entered).count("1") > self.job.ranks
                      if self.job.majority else entered)
            if not state.closed[rank][op] and enough and (
                    not self.has_failed(state, rank)):
                yield (f"{rank} closes {op}", state._replace(
                    closed=put(state.closed, rank, op, entered)))
            if state.phase[rank][op] != ENTERED:
                continue
            for owner in self.ranks:
                if (self.keeps(state, owner, op) and
                        not state.got[rank][op] >> owner & 1):
                    yield (f"{rank} gets {op} of {owner}", state._replace(
                        got=put(state.got, rank, op,
                                state.got[rank][op] | 1 << owner)))

    def settled(self, state):
        """The state; for an instant job, after all kept results have
        arrived."""
        if not self.job.instant:
            return state
        for rank in self.ranks:
            for op in range(self.job.ops):
                if state.phase[rank][op] == ENTERED:
                    got = state.got[rank][op]
                    for owner in self.ranks:
                        got |= self.keeps(state, owner, op) << owner
                    state = state._replace(got=put(state.got, rank, op, got))
        return state

    def ends(self, state, rank):
        for op in range(self.job.ops):
            if state.phase[rank][op] != ENTERED:
                continue
            complete = state.got[rank][op] == self.all
            has_room = (not self.job.reserves or not self.job.holds or
                        state.reserved[rank] >> op & 1)
            if (complete and (has_room or self.everyone_has(state, rank, op))
                    or self.job.fills):
                yield f"{rank} returns {op}", self.returned(state, rank, op)
        told = state.dead | state.gone
        if self.job.throw_is_told:
            told |= state.failed
        # A rank that leaves after all its calls causes no failure.
        harmed = state.dead | state.failed
        if (told & harmed & ~(1 << rank)) and not self.has_failed(state, rank):
            yield f"{rank} hears of a failure", self.failed(state, rank)

    def returned(self, state, rank, op):
        result = tuple(
            state.closed[owner][op] if state.got[rank][op] >> owner & 1 or
            owner == rank else FILLED for owner in self.ranks)
        first = state.results[op]
        if first is not None and first != result:
            raise Violation(f"op {op}: rank {rank} returns {result}, "
                            f"another rank returned {first}")
        return state._replace(phase=put(state.phase, rank, op, RETURNED),
                              results=put1(state.results, op, result))

    def failed(self, state, rank):
        """The rank's session fails: its calls that lack something throw."""
        phases = tuple(THREW if phase == WAITING or
                       (phase == ENTERED and state.got[rank][op] != self.all)
                       else phase
                       for op, phase in enumerate(state.phase[rank]))
        return state._replace(phase=state.phase[:rank] + (phases,) +
                              state.phase[rank + 1:],
                              failed=state.failed | 1 << rank)

    def choices(self, state):
        """Optional events: timeouts, deaths, contexts that close."""
        for rank in self.ranks:
            if self.away(state, rank):
                continue
            yield from self.leaves(state, rank)
            if self.job.timeouts and not self.has_failed(state, rank):
                for op, phase in enumerate(state.phase[rank]):
                    if phase in (WAITING, ENTERED):
                        thrown = state._replace(
                            phase=put(state.phase, rank, op, THREW))
                        yield f"{rank} times out in {op}", self.failed(thrown, rank)
            if bin(state.dead).count("1") < self.job.deaths:
                yield f"{rank} dies", state._replace(dead=state.dead | 1 << rank)

    def leaves(self, state, rank):
        """A context closes after it has served the ranks that still need
        it."""
        if any(phase in (WAITING, ENTERED) for phase in state.phase[rank]):
            return
        over = all(state.phase[rank][op] in (RETURNED, THREW)
                   for thread in self.job.programs[rank] for op in thread)
        lingers = any(state.phase[rank][op] == RETURNED and
                      not self.done_everywhere(state, op)
                      for op in range(self.job.ops))
        if self.has_failed(state, rank) or (over and not lingers):
            yield f"{rank} leaves", state._replace(gone=state.gone | 1 << rank)

    def is_over(self, state):
        """No living rank is inside a call, or will call again."""
        for rank in self.ranks:
            if self.away(state, rank):
                continue
            phases = state.phase[rank]
            if any(phase in (WAITING, ENTERED) for phase in phases):
                return False
            if not self.has_failed(state, rank) and any(
                    phases[op] == IDLE
                    for thread in self.job.programs[rank] for op in thread):
                return False
        return True


def explore(job, states_max=5_000_000):
    """Visits every state of a job. Returns the number of states.

    Raises Violation with the steps that lead to the broken promise, and
    ValueError if there are more than `states_max` states.
    """
    model = Model(job)
    first = model.first()
    came_from = {first: None}
    queue = collections.deque([first])

    def path(state):
        steps = []
        while came_from[state] is not None:
            state, step = came_from[state]
            steps.append(step)
        return "; ".join(reversed(steps))

    while queue:
        state = queue.popleft()
        try:
            steps = list(model.steps(state))
            if not steps and not model.is_over(state):
                raise Violation("no call can end but by its timeout")
            choices = list(model.choices(state))
        except Violation as violation:
            raise Violation(f"{violation} after: {path(state)}") from None
        for step, after in steps + choices:
            after = model.settled(after)
            if after not in came_from:
                came_from[after] = state, step
                queue.append(after)
        if len(came_from) > states_max:
            raise ValueError(f"more than {states_max} states")
    return len(came_from)
