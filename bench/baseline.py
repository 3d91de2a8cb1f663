"""What fairgauge said before it was restructured, to compare with what it says now: estimates, and chosen tables.

``python -m bench.baseline --check`` recomputes everything that ``bench/baseline.json.xz`` holds and says what differs.
It ends with status 1 if a number is beyond its tolerance, or is there no more.  ``--quick`` takes every tenth,
``--part estimates`` or ``--part tables`` one half of it.

*Estimates.*  300 tallies of some hundred studies, with all numbers that an estimate has, at several kinds of intervals.
The tables are kept as integers, so these are estimates from the same integers: equal to 1e-9 of their size.  Sentences
are compared too, but only told of.

*Tables.*  200 questions, and the table that ``design`` chooses for each: its design, symbols, levels and exact epsilon,
K·Var of what is asked for, and the width that is planned.  Variances and widths may be better, and worse by 0.1 %.

Every study is kept twice: as the bytes of its document, and as plain lists and names.  Whoever changes the API or the
format changes :class:`Today` and nothing else here.  ``--write`` makes the file anew (``bench/baseline_cases.py``);
that is for whoever adds cases, never for whoever has a difference to explain.

The file is removed with these two modules when it has served.
"""

import argparse
import json
import lzma
import math
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from fairgauge.planning.sites import Expected, plan_sites

from fairgauge import Attribute, Metric, Question, Study, Tally, design, estimate
from fairgauge.channel import ROW_SUM, Channel
from fairgauge.errors import FairgaugeError, Impossible
from fairgauge.estimation.fit import fit_p_value
from fairgauge.estimation.kinds import kind_of
from fairgauge.goals.goal import Goal
from fairgauge.planning.widths import planned_width
from fairgauge.study import Comparison, NoisyCounts, counted

FILE = Path(__file__).with_name("baseline.json.xz")
PARTS = ("estimates", "tables")
# Of estimates from the same integers; of variances and widths of tables, which may be better.
CLOSE, NEARLY_ZERO, AS_GOOD = 1e-9, 1e-12, 1e-3
# What is said in words, or names the document, is no number.
WORDS = ("about", "guarantee", "warnings", "study", "refused")
_MOST_SHOWN = 60

Plain = dict[str, Any]


class Today:
    """Today's objects from what the baseline holds: the only part that an API or a format of its own changes."""

    # Nobody is offered these any more: 46 of 766 estimates, all of pairs that are read by other kinds, too.
    gone = ("fixed", "chebyshev")

    @staticmethod
    def metric(held: Plain) -> Metric:
        """Return a metric."""
        return Metric(held["name"], held["low"], held["high"])

    @staticmethod
    def attribute(held: Plain) -> Attribute:
        """Return an attribute, crossed or not."""
        more: Plain = {name: held[name] for name in ("shares", "share_error") if held.get(name) is not None}
        if held.get("comparisons") is not None:
            more["comparisons"] = [Comparison(one["of"], one["against"], one["weight"]) for one in held["comparisons"]]
        cross = [Attribute(factor["name"], factor["groups"]) for factor in held.get("cross", ())]
        return Attribute(held["name"], held["groups"], answering=held["answering"], cross=cross, **more)

    @classmethod
    def study(cls, held: Plain) -> Study:
        """Return a study."""
        terms = {name: held[name] for name in ("planned", "order") if held.get(name) is not None}
        if held.get("site") is not None:
            return Study(held["title"], counted(cls.site(held["site"])), **terms)
        return Study(held["title"], [each for table in held["tables"] for each in cls._questions(table)], **terms)

    @classmethod
    def _questions(cls, held: Plain) -> Iterator[Question]:
        attribute = cls.attribute(held["attribute"])
        first, *further = (tuple(asked["levels"]) for asked in held["questions"])
        rows = tuple(map(tuple, held["table"]))
        channel = Channel(rows, first, len(attribute.groups), held["abstain"], tuple(further))
        for asked in held["questions"]:
            known = {name: asked[name] for name in ("expect", "spread", "weight") if asked.get(name) is not None}
            names = (asked["target"], held["design"], held["epsilon"])
            yield Question(cls.metric(asked["metric"]), attribute, *names, channel, **known)

    @classmethod
    def site(cls, held: Plain) -> NoisyCounts:
        """Return what sites count."""
        metric = None if held.get("metric") is None else cls.metric(held["metric"])
        records, levels = held["records"], held.get("levels")
        attribute = cls.attribute(held["attribute"])
        return NoisyCounts(attribute, held["outcome"], held["epsilon"], records=records, metric=metric, levels=levels)

    @staticmethod
    def tally(study: Study, held: Plain) -> Tally:
        """Return a tally of a study: counts, and of sites also how many there are and the products of their counts."""
        counts = tuple(held["counts"])
        if isinstance(study.mechanism, Channel):
            return Tally(study.digest, counts)
        return Tally(study.digest, counts, held["sites"], tuple(held["products"]))

    @staticmethod
    def estimate(study: Study, tally: Tally, asked: Plain, digest: str) -> Plain:
        """Return an estimate, or why there is none; the fit as if the study still had the digest that it had."""
        try:
            found = estimate(study, tally, **asked).to_dict()
        except FairgaugeError as refusal:
            return {"refused": str(refusal)}
        if study.digest != digest and isinstance(study.mechanism, Channel):
            # How answers are split for the fit follows from the study's digest.
            for index, (told, question) in enumerate(zip(found["questions"], study.questions, strict=True)):
                if told["fit_p_value"] is not None:
                    rows, own = np.array(question.channel.table) / ROW_SUM, tally.for_question(study, index)
                    told["fit_p_value"] = fit_p_value(rows, tuple(own), name=f"{digest} {index}")
        return found

    @classmethod
    def choose(cls, held: Plain) -> Plain:
        """Return what is chosen for a question, or why nothing is."""
        try:
            return cls._plan_sites(held) if "site" in held else cls._choose(held)
        except FairgaugeError as refusal:
            return {"refused": str(refusal), "impossible": isinstance(refusal, Impossible)}

    @classmethod
    def _choose(cls, held: Plain) -> Plain:
        metrics, attribute = [cls.metric(each) for each in held["metrics"]], cls.attribute(held["attribute"])
        named = ("epsilon", "target", "design", "expect", "spread", "abstain", "abstaining", "weights")
        options = {name: held[name] for name in named if held.get(name) is not None}
        reading = held["reading"]
        asked = Study("Chosen", design(metrics, attribute, clients=reading["clients"], **options))
        kind, alpha = kind_of(reading["interval"]), 1 - reading["confidence"]
        found = []
        for questions in asked.tables:
            channel, share = questions[0].channel, len(asked.tables)
            goals = [Goal.of(question) for question in questions]
            widths = [planned_width(goal, channel, reading["clients"] / share, kind, alpha) for goal in goals]
            scales = [question.metric.scale for question in questions]
            found.append(
                {
                    "design": questions[0].design,
                    "symbols": channel.symbols,
                    "levels": [len(levels) for levels in channel.axes],
                    "epsilon": channel.epsilon,
                    "private": channel.within(Decimal(held["epsilon"])),
                    "metrics": [question.metric.name for question in questions],
                    "variance": [share * goal.variance(channel) for goal in goals],
                    "totals": [[share * total for total in goal.totals(channel)] for goal in goals],
                    "width": [scale * width for scale, width in zip(scales, widths, strict=True)],
                }
            )
        return {"tables": found}

    @classmethod
    def _plan_sites(cls, held: Plain) -> Plain:
        rows = plan_sites(cls.site(held["site"]), Expected(**held["expected"]), confidence=held["confidence"])
        return {"metrics": {row.metric: {"width": row.error, "plain": row.error_without_privacy} for row in rows}}

    @classmethod
    def document_differs(cls, document: str, held: Plain) -> str | None:
        """Return what is wrong with a document of before beside its description; None if they are the same study."""
        try:
            read = Study.from_bytes(json.dumps(_converted(json.loads(document))).encode())
        except FairgaugeError as refusal:
            return str(refusal)
        return None if read == cls.study(held) else "is not the study that its description makes"


def _converted(document: Plain) -> Plain:
    """Return a document of before in the format of today: it had two formats then, 1 and 2, and this was the second."""
    if "questions" not in document:
        return {**document, "format": 1}
    metrics, attributes, tables = {}, {}, []
    for each in document["questions"]:
        name, shares = each["attribute"]["name"], each["attribute"]["shares"]
        known = {} if shares is None else {"shares": shares, "answering": "alike"}
        attributes[name] = {"name": name, "groups": each["attribute"]["groups"], **known}
        metrics[each["metric"]["name"]] = each["metric"]
        asked = {"metric": each["metric"]["name"], "target": each["target"], "levels": each["levels"]}
        own = {part: each[part] for part in ("design", "epsilon", "abstain", "table")}
        tables.append({"attribute": name, "questions": [asked], **own})
    said = {part: document[part] for part in ("opens", "closes", "contact") if document[part] is not None}
    listed = {"metrics": [*metrics.values()], "attributes": [*attributes.values()], "tables": tables}
    return {"format": 1, "title": document["title"], **said, **listed}


@dataclass
class Differences:
    """What differs: beyond its tolerance, better than before, and in words only."""

    beyond: list[str] = field(default_factory=list)
    better: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    cases: set[str] = field(default_factory=set)

    def add(self, name: str, what: str) -> None:
        """Note a difference that is beyond its tolerance."""
        self.cases.add(name)
        self.beyond.append(f"{name}: {what}")

    def compare_estimates(self, name: str, before: Any, now: Any, at: str = "") -> None:
        """Compare two estimates, part by part; texts are told of, and everything else must be there and equal."""
        if at.rsplit(".", 1)[-1] in WORDS:
            if before != now:
                self.words.append(f"{name}: {at}: {before!r} is now {now!r}")
        elif isinstance(before, dict) and isinstance(now, dict):
            for key in dict.fromkeys([*before, *now]):
                if (key in before) != (key in now):
                    self.add(name, f"{at}.{key} is {'there no more' if key in before else 'new'}")
                else:
                    self.compare_estimates(name, before[key], now[key], f"{at}.{key}")
        elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
            for index, (old, new) in enumerate(zip(before, now, strict=True)):
                self.compare_estimates(name, old, new, f"{at}.{index}")
        elif not _equal(before, now):
            self.add(name, f"{at} was {before!r} and is {now!r}")

    def compare_tables(self, name: str, before: Plain, now: Plain) -> None:
        """Compare what is chosen: the choice must be the same, and its variances and widths as good."""
        if before.get("impossible") and "tables" in now:
            self.better.append(f"{name}: was {_short(before)} and is {_short(now)}")
        elif before.keys() != now.keys():
            self.add(name, f"was {_short(before)} and is {_short(now)}")
        elif "metrics" in before:
            self._compare_sites(name, before["metrics"], now["metrics"])
        elif "tables" in before:
            old, new = _by_metric(before["tables"]), _by_metric(now["tables"])
            for metric in dict.fromkeys([*old, *new]):
                if metric in old and metric in new:
                    self._compare_table(f"{name}, {metric}", old[metric], new[metric], name)
                else:
                    self.add(name, f"{metric} is {'there no more' if metric in old else 'new'}")

    def _compare_sites(self, name: str, before: Plain, now: Plain) -> None:
        if before.keys() != now.keys():
            self.add(name, f"metrics were {', '.join(before)} and are {', '.join(now)}")
            return
        for metric, widths in before.items():
            for what in widths:
                self._compare_good(f"{name}, {metric}", f"{what} of sites", widths[what], now[metric][what], name)

    def _compare_table(self, place: str, before: Plain, now: Plain, name: str) -> None:
        if not now["private"]:
            self.add(name, f"the table has epsilon {now['epsilon']!r}, above what was asked for")
        if before["design"] != now["design"]:
            self.add(name, f"the design was {before['design']} and is {now['design']}")
        for what in ("symbols", "levels", "epsilon"):
            if before[what] != now[what]:
                self.words.append(f"{place}: {what} was {before[what]} and is {now[what]}")
        for what in ("variance", "width"):
            self._compare_good(place, what, before[what], now[what], name)
        if len(before["totals"]) != len(now["totals"]):
            self.add(name, f"{len(before['totals'])} numbers were wanted, and are {len(now['totals'])}")
        # Of several gaps one may be better at the cost of another, if the worst is as good.
        elif len(before["totals"]) == 1:
            self._compare_good(place, "total", before["totals"][0], now["totals"][0], name)

    def _compare_good(self, place: str, what: str, before: float | None, now: float | None, name: str) -> None:
        was, is_now = (math.inf if number is None else number for number in (before, now))
        if was == is_now or abs(is_now - was) <= AS_GOOD * abs(was):
            return
        told = f"{what} was {was:.8g} and is {is_now:.8g} ({is_now / was - 1:+.2%})"
        if is_now < was:
            self.better.append(f"{place}: {told}")
        else:
            self.add(name, f"{place}: {told}")


def _equal(before: object, now: object) -> bool:
    """Tell whether two values are equal, numbers but for rounding; what is true is no 1."""
    numbers = all(isinstance(each, int | float) and not isinstance(each, bool) for each in (before, now))
    if not numbers:
        return type(before) is type(now) and before == now
    was, is_now = float(before), float(now)  # type: ignore[arg-type]  # both are numbers
    return was == is_now or math.isclose(was, is_now, rel_tol=CLOSE, abs_tol=NEARLY_ZERO)


def _by_metric(tables: Iterable[Plain]) -> dict[str, Plain]:
    """Return the numbers of each metric, in whichever table it is."""
    own = ("variance", "width", "totals")
    return {
        metric: {**table, **{name: table[name][place] for name in own}}
        for table in tables
        for place, metric in enumerate(table["metrics"])
    }


def _short(chosen: Plain) -> str:
    return f"refused ({chosen['refused']})" if "refused" in chosen else f"{len(chosen.get('tables', ()))} tables"


def load() -> Plain:
    """Return what is stored."""
    found: Plain = json.loads(lzma.decompress(FILE.read_bytes()))
    return found


def store(held: Plain) -> None:
    """Keep it; the same cases give the same bytes."""
    text = json.dumps(held, ensure_ascii=False, separators=(",", ":"))
    FILE.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


def progress(what: str, done: int, of: int) -> None:
    """Say how far it is, every tenth case."""
    if done % 10 == 0 or done == of:
        print(f"{what} {done} of {of}, {time.process_time():.0f} s of CPU", file=sys.stderr, flush=True)


def check_estimates(held: Plain, found: Differences, *, step: int) -> int:
    """Compare the estimates of every pair of a study and a tally, or of every so many."""
    pairs = held["pairs"][::step]
    studies: dict[int, Study] = {}
    for number, pair in enumerate(pairs, start=1):
        place = pair["study"]
        entry = held["studies"][place]
        name = f"pair {held['pairs'].index(pair)} ({entry['kind']})"
        if place not in studies:
            studies[place] = Today.study(entry["description"])
            wrong = Today.document_differs(entry["document"], entry["description"])
            if wrong is not None:
                found.add(name, f"the document of study {place} {wrong}")
        study = studies[place]
        tally = Today.tally(study, pair["tally"])
        for asked, before in pair["estimates"]:
            if asked["interval"] in Today.gone:
                continue
            now = json.loads(json.dumps(Today.estimate(study, tally, asked, entry["digest"])))
            found.compare_estimates(f"{name}, {asked['interval']}", before, now)
        progress("estimates", number, len(pairs))
    return len(pairs)


def check_tables(held: Plain, found: Differences, *, step: int) -> int:
    """Compare what is chosen for every question, or for every so many."""
    questions = held["questions"]
    picked = range(0, len(questions), step)
    for number, place in enumerate(picked, start=1):
        entry = questions[place]
        now = json.loads(json.dumps(Today.choose(entry["question"])))
        found.compare_tables(f"question {place} ({entry['kind']})", entry["chosen"], now)
        progress("tables", number, len(picked))
    return len(picked)


def check(parts: Iterable[str], *, step: int) -> int:
    """Compare and say what differs; return the status to end with."""
    held, found = load(), Differences()
    counts = []
    for part in parts:
        done = {"estimates": check_estimates, "tables": check_tables}[part](held, found, step=step)
        counts.append(f"{done} {'pairs' if part == 'estimates' else 'questions'}")
    for title, said in (("in words only", found.words), ("better", found.better), ("beyond", found.beyond)):
        if said:
            print(f"\n{len(said)} differences, {title}:")
            print("\n".join(f"  {one}" for one in said[:_MOST_SHOWN]))
            print(f"  ... and {len(said) - _MOST_SHOWN} more" if len(said) > _MOST_SHOWN else "", end="")
    if found.cases:
        print(f"\nBeyond their tolerance: {'; '.join(sorted(found.cases))}")
    print(f"\n{' and '.join(counts)}: {len(found.beyond)} numbers differ beyond their tolerance,", end=" ")
    print(f"{len(found.better)} are better, {len(found.words)} texts and sizes are others")
    return 1 if found.beyond else 0


def main() -> int:
    """Check or write, as asked."""
    parser = argparse.ArgumentParser(prog="python -m bench.baseline", description=(__doc__ or "").split("\n", 1)[0])
    verb = parser.add_mutually_exclusive_group(required=True)
    verb.add_argument("--check", action="store_true", help="recompute everything and say what differs")
    verb.add_argument("--write", action="store_true", help="make the file anew; today becomes the baseline")
    parser.add_argument("--quick", action="store_true", help="check every tenth")
    parser.add_argument("--part", choices=PARTS, help="one of the two parts")
    asked = parser.parse_args()
    parts = PARTS if asked.part is None else (asked.part,)
    if asked.check:
        return check(parts, step=10 if asked.quick else 1)
    from bench.baseline_cases import make

    held = load() if FILE.exists() else {}
    for part in parts:
        held |= make(part)
        store(held)
    return 0


if __name__ == "__main__":
    sys.exit(main())
