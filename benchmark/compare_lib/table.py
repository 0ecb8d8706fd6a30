# SPDX-License-Identifier: Apache-2.0
"""Formats rows as a text table."""
from front_end.columns import align, three_digits

_GIB = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def human_bytes(count):
    for unit, name in _GIB:
        if count >= unit:
            text = f"{count / unit:.1f}".removesuffix(".0")
            return f"{text} {name}"
    return f"{count} B"


def _milliseconds(key):
    def text(row):
        return three_digits(
            None if row[key] is None else row[key] / 1000)
    return text


def _gigabytes(key):
    return lambda row: three_digits(row[key] / 1e9)


def _lost(row):
    loss = row["loss_fraction"]
    return "0" if loss == 0 else f"{loss:.2g}"


def verdict(row):
    if not row["verified"]:
        return "WRONG"
    never_bounded = row["transport"] == "ubt" and row["bounded_ops"] == 0
    return "not bounded" if never_bounded else "yes"


_WHY = {"not bounded": " (smaller than GLOO_UBT_MIN_BYTES, or warm-up, "
                       "GLOO_UBT_WARMUP_OPS, took all of --seconds)"}


def why(row):
    """A possible reason for the row's verdict, shown after it."""
    return _WHY.get(verdict(row), "")


def is_sound(row):
    return verdict(row) == "yes"


# Heading, text of a row. The first two columns are words, the rest numbers.
_COLUMNS = (
    ("algorithm", lambda row: row["algorithm"]),
    ("transport", lambda row: row["transport"]),
    ("bytes", lambda row: human_bytes(row["bytes"])),
    ("n", lambda row: str(row["iterations"])),
    ("p50 ms", _milliseconds("p50_us")),
    ("p90 ms", _milliseconds("p90_us")),
    ("p99 ms", _milliseconds("p99_us")),
    ("p99.9 ms", _milliseconds("p999_us")),
    ("algbw GB/s", _gigabytes("algbw_bytes_per_s")),
    ("busbw GB/s", _gigabytes("busbw_bytes_per_s")),
    ("CPU s/GB", lambda row: three_digits(row["cpu_s_per_gb"])),
    ("lost", _lost),
    ("verified", verdict),
)
# Only if an algorithm is bounded.
_BOUNDED_COLUMNS = (
    ("bound ms", _milliseconds("bound_us")),
    ("bounded", lambda row: str(row["bounded_ops"])
     if row["transport"] == "ubt" else ""),
    ("expired", lambda row: str(row["expired_ops"])
     if row["transport"] == "ubt" else ""),
)
# Only in a lab.
_LAB_COLUMNS = (
    ("wire", lambda row: f"{row['wire_fraction']:.3f}"),
    ("CPU idle", lambda row: f"{row['cpu_idle_fraction']:.2f}"),
    ("others'", lambda row: f"{row['cpu_others_fraction']:.2f}"),
)
_FLOW_COLUMN = ("flow Mbit/s", lambda row: "+".join(
    f"{rate:.0f}" for rate in row["flow_mbit"]))
_WORD_COLUMNS = 2


def render(rows):
    """Returns the table, with a blank line between sizes."""
    columns = _COLUMNS
    if any(row["transport"] == "ubt" for row in rows):
        columns += _BOUNDED_COLUMNS
    if "lab_environment" in rows[0]:
        columns += _LAB_COLUMNS
        if rows[0]["flow_mbit"]:
            columns += (_FLOW_COLUMN,)
    heading, *aligned = align(
        [[heading for heading, _ in columns]]
        + [[text(row) for _, text in columns] for row in rows], _WORD_COLUMNS)
    lines = [heading]
    previous = None
    for row, line in zip(rows, aligned):
        if row["bytes"] != previous:
            lines.append("")
        previous = row["bytes"]
        lines.append(line)
    return "\n".join(lines) + "\n"
