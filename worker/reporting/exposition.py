"""Prometheus' text format, written exactly: families of samples with escaped label values.

The format has three rules that matter, so it is written by hand; prometheus_client keeps its
numbers in the process, and ours are read from the database.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from worker.evidence.terminal_text import printable

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
# A label is a name for people; whatever is longer was never meant as one.
MAX_LABEL = 100
OTHER = "other"
UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Sample:
    """One number of a metric, by its labels."""

    name: str
    labels: Mapping[str, str]
    value: float

    def line(self) -> str:
        """Write it as Prometheus reads it."""
        return f"{self.name}{_labels(self.labels)} {number(self.value)}"


@dataclass(slots=True)
class Family:
    """One metric: its name, its kind, what it means, and its samples."""

    name: str
    kind: str
    help: str
    samples: list[Sample] = field(default_factory=list)

    def add(self, value: float, labels: Mapping[str, str] | None = None, suffix: str = "") -> None:
        """Add one sample; `suffix` is `_bucket`, `_sum` or `_count` in a histogram."""
        self.samples.append(Sample(f"{self.name}{suffix}", labels or {}, value))

    def add_histogram(
        self,
        below: Iterable[tuple[float, int]],
        count: int,
        total: float,
        labels: Mapping[str, str],
    ) -> None:
        """Add a histogram: how many lie below each bound, how many there are, and their sum."""
        for bound, observed in below:
            self.add(observed, {**labels, "le": number(bound)}, "_bucket")
        self.add(count, {**labels, "le": "+Inf"}, "_bucket")
        self.add(total, labels, "_sum")
        self.add(count, labels, "_count")


def gauge(name: str, help: str, value: float | None = None) -> Family:
    """Begin a gauge; a value that is known already needs no labels."""
    family = Family(name, "gauge", help)
    if value is not None:
        family.add(value)
    return family


def counter(name: str, help: str) -> Family:
    """Begin a counter; its name ends in `_total`."""
    return Family(name, "counter", help)


def render(families: Iterable[Family]) -> str:
    """Write families as text; one without samples is left out."""
    return "".join(
        f"# HELP {each.name} {_escaped(each.help)}\n# TYPE {each.name} {each.kind}\n"
        + "".join(f"{sample.line()}\n" for sample in each.samples)
        for each in families
        if each.samples
    )


def as_json(families: Iterable[Family]) -> list[dict[str, Any]]:
    """Give the same for programs that do not read Prometheus' format."""
    return [
        {
            "name": each.name,
            "kind": each.kind,
            "help": each.help,
            "samples": [
                {"name": sample.name, "labels": dict(sample.labels), "value": _finite(sample.value)}
                for sample in each.samples
            ],
        }
        for each in families
        if each.samples
    ]


def _finite(value: float) -> float | None:
    if not math.isfinite(value):
        return None
    return int(value) if value == int(value) else float(value)


def number(value: float) -> str:
    """Write a number as Prometheus reads it."""
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return str(int(value)) if value == int(value) else repr(float(value))


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    pairs = (f'{name}="{_label_value(value)}"' for name, value in labels.items())
    return "{" + ",".join(pairs) + "}"


def _label_value(value: str) -> str:
    return _escaped(value[:MAX_LABEL] or UNKNOWN).replace('"', '\\"')


def _escaped(text: str) -> str:
    # Task names are strangers' words, and the text is shown on terminals too; printable text has no
    # half characters either, which cannot be sent as UTF-8.
    return printable(text).replace("\\", "\\\\").replace("\n", "\\n")
