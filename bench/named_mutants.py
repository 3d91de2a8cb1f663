"""Small errors that would break a promise, each with its name and the tests that are to notice.

A mutant is found by what it changes and not by where that is: its text stands exactly once somewhere in
``src/fairgauge``, and its tests are the functions of these names, wherever in ``tests`` they are.  So code and tests
may move.  Where the text itself changes, the mutant is written anew or the run fails: a promise does not lose its guard
unnoticed.  Between the words of ``before`` there may be any white space, so that lines may be wrapped in another way.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from pathlib import Path

ROOT = Path(__file__).parents[1]
_KINDS = (".py", ".js", ".html", ".json")


@dataclass(frozen=True)
class NamedMutant:
    """An error with a name.

    Args:
        name: The room or promise, and what is broken: ``ledger: charges the cheapest question``.
        before: The text that is changed, which is there exactly once.
        after: What it becomes.  Words at both ends that are the same stay as they are, on lines of their own or not:
            ``if low == 0: return None`` becomes ``if low == 0: continue``.
        tests: Names of test functions that are to notice; ``file::name`` or ``Class::name`` where there are several of
            one name, and ``name[case]`` for one case.
    """

    name: str
    before: str
    after: str
    tests: tuple[str, ...]

    def has(self, texts: Sequence[str]) -> bool:
        """Tell whether one of some texts is in the name; every mutant has what nobody asked for."""
        return not texts or any(text in self.name for text in texts)


@dataclass(frozen=True)
class Place:
    """Where a mutant is: a module by its path, and the whole of it with the change."""

    module: str
    source: str


def places_of(mutant: NamedMutant, source: Path) -> list[Place]:
    """Return every place that a mutant could be in: one, if it still fits."""
    words = mutant.before.split()
    rarest = sorted(set(words), key=len, reverse=True)
    pattern, new = _change(words, mutant.after.split())
    return [
        Place(module, text[: found.start("old")] + new + text[found.end("old") :])
        for module, text in _texts(source)
        if all(word in text for word in rarest)
        for found in pattern.finditer(text)
    ]


def _change(before: list[str], after: list[str]) -> tuple[re.Pattern[str], str]:
    """Return what finds a mutant's text, with the words that change as the group "old", and what they become.

    Words at both ends that stay are left as they are in the source, with the lines and the indents around them.
    """
    start = _alike(before, after)
    end = _alike(before[start:][::-1], after[start:][::-1])
    old, new = before[start : len(before) - end], " ".join(after[start : len(after) - end])
    first, last, group = _pattern(before[:start]), _pattern(before[len(before) - end :]), f"(?P<old>{_pattern(old)})"
    if old:
        return re.compile(r"\s+".join(part for part in (first, group, last) if part)), new
    # Words more: before what follows, or at the end.
    return (re.compile(f"{first}\\s+{group}{last}"), f"{new} ") if last else (re.compile(first + group), f" {new}")


def _alike(some: list[str], others: list[str]) -> int:
    """Return with how many of the same words two lists begin."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(some, others, strict=False)))


def _pattern(words: list[str]) -> str:
    return r"\s+".join(map(re.escape, words))


def killers_of(mutant: NamedMutant, root: Path) -> list[str]:
    """Return the tests that are to notice as pytest names them; none if one of them is not there exactly once."""
    found = []
    for name in mutant.tests:
        function, bracket, case = name.partition("[")
        within, _, function = function.rpartition("::")
        every = _tests(root).get(function, [])
        there = [test for test in every if not within or f"/{within}.py::" in test or f"::{within}::" in test]
        if len(there) != 1:
            return []
        found.append(there[0] + bracket + case)
    return found


@cache
def _texts(source: Path) -> list[tuple[str, str]]:
    files = sorted(path for path in source.rglob("*") if path.suffix in _KINDS)
    return [(str(path.relative_to(source)), path.read_text(encoding="utf-8")) for path in files]


@cache
def _tests(root: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in sorted((root / "tests").rglob("test_*.py")):
        for name, test in _functions(path.read_text(encoding="utf-8")):
            found.setdefault(name, []).append(f"{path.relative_to(root)}::{test}")
    return found


def _functions(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name of each test of a file, and with its class, if it has one."""
    inside = ""
    for kind, name in re.findall(r"^(class|(?: {4})?(?:async )?def) (\w+)", text, re.MULTILINE):
        if kind == "class":
            inside = f"{name}::"
        elif name.startswith("test_"):
            yield name, (inside if kind.startswith(" ") else "") + name


def _mutant(name: str, before: str, after: str, *tests: str) -> NamedMutant:
    return NamedMutant(name, before, after, tests)


NAMED: tuple[NamedMutant, ...] = (
    # -------------------- channel
    _mutant(
        "channel: loss ignores the last column",
        "for column in zip(*table, strict=True): high, low = max(column), min(column)",
        "for column in [*zip(*table, strict=True)][:-1]: high, low = max(column), min(column)",
        "test_loss_is_the_largest_column_ratio",
    ),
    _mutant(
        "channel: a symbol that excludes an input costs nothing",
        "if low == 0: return None",
        "if low == 0: continue",
        "test_a_symbol_that_excludes_an_input_costs_everything",
    ),
    _mutant(
        "channel: the smaller of two losses is kept",
        "if high * smallest > largest * low:",
        "if high * smallest < largest * low:",
        "test_loss_is_the_largest_column_ratio",
    ),
    _mutant(
        "channel: epsilon is rounded to the nearest float",
        "return nearest if Decimal(nearest) >= bound else math.nextafter(nearest, math.inf)",
        "return nearest",
        "test_epsilon_is_rounded_up_never_to_nearest",
    ),
    _mutant(
        "channel: the logarithm is not rounded up",
        "return _UPWARD.next_plus(_UPWARD.ln(quotient))",
        "return _UPWARD.ln(quotient)",
        "test_epsilon_is_the_next_double_above_the_logarithm",
    ),
    _mutant(
        "randomiser: a symbol is drawn from the row below",
        "(below, above)[given < t] for (below, above, t), given in zip(places, drawn, strict=True)",
        "(below, below)[given < t] for (below, above, t), given in zip(places, drawn, strict=True)",
        "test_the_first_draw_rounds_to_a_neighbouring_level",
    ),
    _mutant(
        "randomiser: a draw at the end of a weight belongs to the symbol before",
        "return bisect_right(list(accumulate(row)), bits(ROW_BITS))",
        "return bisect_right(list(accumulate(row)), bits(ROW_BITS) - 1)",
        "test_running_sums_decide_the_symbol",
    ),
    _mutant(
        "randomiser: whoever abstains answers as the first group",
        "row = (channel.row(member, *picked), channel.row_without(drawn[0]))[lacks]",
        "row = channel.row(member, *picked)",
        "test_without_group_or_value_the_abstain_row_is_drawn",
    ),
    _mutant(
        "channel: a value beyond its range counts as more than the end",
        "numerator = max(-LEVEL_UNIT * denominator, min(LEVEL_UNIT * denominator, numerator))",
        "numerator = max(-LEVEL_UNIT * denominator, numerator)",
        "test_a_position_outside_is_the_nearest_end",
    ),
    _mutant(
        "channel: who lacks something has always the first row",
        "drawn * self.rows >> ROW_BITS",
        "drawn * self.rows >> 2 * ROW_BITS",
        "test_without_a_row_to_abstain_any_row_is_drawn",
    ),
    _mutant(
        "channel: rounding between levels is off by one in 2^53",
        "threshold = ROW_SUM * (numerator - low * denominator) // ((high - low) * denominator)",
        "threshold = ROW_SUM * (numerator - low * denominator) // ((high - low) * denominator) + 1",
        "test_running_sums_decide_the_symbol",
    ),
    _mutant(
        "channel: rows need not sum to 2^53",
        "if sum(row) != ROW_SUM:",
        "if sum(row) > ROW_SUM:",
        "test_bad_tables_are_refused_with_the_place_at_fault",
    ),
    _mutant(
        "channel: negative weights pass",
        "if type(weight) is not int or weight < 0:",
        "if type(weight) is not int:",
        "test_bad_tables_are_refused_with_the_place_at_fault",
    ),
    _mutant(
        "channel: draws 52 bits for a row",
        "ROW_BITS = 53 ROW_SUM",
        "ROW_BITS = 52 ROW_SUM",
        "test_the_units_are_those_of_every_published_study",
    ),
    # -------------------- ledger
    _mutant(
        "ledger: charges the cheapest question of an attribute",
        "found[factor.name] = max(found.get(factor.name, Decimal(0)), question.mechanism.epsilon_bound)",
        "found[factor.name] = min(found.get(factor.name, Decimal(99)), question.mechanism.epsilon_bound)",
        "test_each_attribute_pays_the_most_that_a_question_about_it_spends",
    ),
    _mutant(
        "ledger: charges nothing for the second factor of crossed attributes",
        "for factor in question.attribute.factors: # an answer",
        "for factor in question.attribute.factors[:1]: # an answer",
        "test_crossed_attributes_are_charged_each",
    ),
    _mutant(
        "ledger: what pays depends on the form in which a group is given",
        "costs = charges(study) limits",
        'costs = {n if isinstance(profile["group"], Mapping) else "": c for n, c in charges(study).items()} limits',
        "test_what_pays_depends_on_the_study_alone",
    ),
    _mutant(
        "ledger: a person's text is taken for the name of an attribute",
        "in parts if mark and name in own]",
        "in parts if mark]",
        "test_a_mark_names_an_attribute_only_if_the_study_has_it",
    ),
    _mutant(
        "site: a quote that one record leaves open hides others",
        "for line in file: row = _row(line) if",
        "for row in csv.reader(file): if",
        "test_one_record_moves_the_counts_by_no_more_than_one",
    ),
    _mutant(
        "site: the end of a line within a record makes several of it",
        'path.open(newline="\\n", encoding="utf-8-sig", errors="surrogateescape")',
        'path.open(newline="", encoding="utf-8-sig", errors="surrogateescape")',
        "test_one_record_moves_the_counts_by_no_more_than_one",
    ),
    _mutant(
        "silence: a class of the app's own decides whether there is an answer",
        "return places.get(plain_text(group))",
        "return places.get(group if isinstance(group, str) else None)",
        "test_no_entry_of_a_person_keeps_a_device_from_answering",
    ),
    _mutant(
        "silence: an agent gives no answer for a profile that is none",
        "found = profile if isinstance(profile, dict) else {}",
        "found = profile",
        "test_whatever_the_profile_says_there_is_an_answer_and_it_is_charged",
    ),
    _mutant(
        "silence: who asks can count the letters of a profile",
        "if self.profile is not None and (seen := length_seen(self.profile, self.mode)) is not None:",
        "if self.profile is not None and (seen := length_seen(self.profile, 0o600)) is not None:",
        "test_how_long_a_profile_is_cannot_be_seen_by_those_who_may_ask",
    ),
    _mutant(
        "silence: who asks can count the letters of records",
        "if (seen := length_seen(path, self._mode)) is not None:",
        "if (seen := None) is not None:",
        "test_how_long_a_sites_records_are_cannot_be_seen_either",
    ),
    _mutant(
        "silence: what is no number takes fewer steps",
        "placed = self._placed(max(low,",
        "placed = None if number is None else self._placed(max(low,",
        "test_everybody_takes_the_same_steps_to_an_answer[device]",
    ),
    _mutant(
        "silence: a profile without one of its parts is refused",
        'if not isinstance(profile, Mapping) or not set(profile) <= {"group", "values"}:',
        'if not isinstance(profile, Mapping) or set(profile) != {"group", "values"}:',
        "test_a_part_of_a_profile_that_is_missing_is_what_the_person_lacks",
    ),
    _mutant(
        "silence: whoever is outside answers by the first row",
        "channel.row_without(drawn[0])",
        "channel.row_without(0)",
        "test_what_is_drawn_for_those_outside_follows_the_fixed_mixture[device]",
    ),
    _mutant(
        "silence: a foreign group is refused",
        "return places.get(plain_text(group))",
        "return places[plain_text(group)]",
        "test_nothing_but_what_was_drawn_tells_people_apart[device]",
    ),
    _mutant(
        "silence: a value out of range is refused",
        'placed = self._placed(max(low, min(high, cast("Fraction", (number, low)[number is None]))))',
        "placed = self.position(number)",
        "test_nothing_but_what_was_drawn_tells_people_apart[device]",
    ),
    _mutant(
        "silence: one person's missing code changes how everybody's is read",
        "return text if whole is None else whole[1]",
        "return text",
        "test_one_persons_group_does_not_change_how_those_of_others_are_read",
    ),
    _mutant(
        "silence: how long a profile takes to read is told with every answer",
        "@lru_cache(maxsize=64) def _parts_of(data: bytes)",
        "def _parts_of(data: bytes)",
        "test_a_profile_is_read_once_and_again_when_it_is_another",
    ),
    _mutant(
        "silence: a site stops at a record that is missing",
        "counts[(site.size, cell)[met[person] <= most]] += 1",
        "counts[(None, cell)[met[person] <= most and cell < site.size]] += 1",
        "test_no_record_of_a_person_changes_what_a_site_says",
    ),
    _mutant(
        "ledger: a new name is a new budget for a group without one",
        "if unnamed: limits.check_unnamed(",
        "if False: limits.check_unnamed(",
        "test_a_new_name_is_no_new_budget_for_a_group_without_one",
    ),
    _mutant(
        "ledger: what a group without a name cost counts against no attribute with one",
        "for name in (account, ANY))",
        "for name in (account,))",
        "test_both_forms_together_are_within_one_limit",
    ),
    _mutant(
        "ledger: a lifetime without an attribute's name counts earlier answers by their cheapest question",
        "before = add_up(max(costs.values()) for costs in spent)",
        "before = add_up(min(costs.values()) for costs in spent)",
        "test_a_group_without_a_name_counts_each_answer_by_its_dearest_question",
    ),
    _mutant(
        "ledger: an answer without an attribute's name is charged by its cheapest question",
        "after = add_up((before, max(charges.values())))",
        "after = add_up((before, min(charges.values())))",
        "test_a_group_without_a_name_counts_each_answer_by_its_dearest_question",
    ),
    _mutant(
        "ledger: what an answer without a name may have cost any attribute is its cheapest question",
        "_charge_any(connection, study, max(costs.values()))",
        "_charge_any(connection, study, min(costs.values()))",
        "test_an_answer_without_a_name_costs_each_attribute_its_dearest_question",
    ),
    _mutant(
        "silence: a text that names no attribute has a name where a study has several",
        "if not pairs and len(typed) <= 1:",
        "if not pairs and len(typed) <= len(known) == 1:",
        "test_no_study_gives_a_group_that_begins_like_a_name_a_budget_of_its_own",
    ),
    _mutant(
        "silence: what of a site's prepared file is damaged goes by its records",
        "if digest != _digest(head, body):",
        "if False:",
        "test_damage_to_what_is_prepared_is_refused_whatever_a_record_holds",
    ),
    _mutant(
        "silence: a group that begins with a sign and = has a name that the study made up",
        "own = {name for name in known if name[-1] not in _COMPARES}",
        "own = set(known)",
        "test_no_study_gives_a_group_that_begins_like_a_name_a_budget_of_its_own",
    ),
    _mutant(
        "silence: a study's attribute takes the beginning of a group for its name",
        'parts = [text.partition("=") for text in typed]',
        'parts = [text.rpartition("=") for text in typed]',
        "test_a_name_ends_at_the_first_mark_whatever_attributes_the_study_makes_up",
    ),
    _mutant(
        "silence: a study's metric takes a group that is typed with it",
        'line.partition("=")[0] in metrics',
        'line.rpartition("=")[0] in metrics',
        "test_a_metric_whose_name_a_study_makes_up_takes_no_group_from_standard_input",
    ),
    _mutant(
        "javascript: what a group without a name cost counts against no attribute with one",
        "return unnamed ? charges.map(",
        "return false ? charges.map(",
        "test_both_forms_together_are_within_one_limit_in_javascript_either",
    ),
    _mutant(
        "javascript: on the page a new name is a new budget",
        "straight: true, named: false }",
        "straight: true }",
        "test_a_new_name_is_no_new_budget_on_the_page",
    ),
    _mutant(
        "silence: a site's table is read when the study is known",
        "if not isinstance(held, Records): raise",
        "if held is None: raise",
        "test_a_table_is_no_records_yet",
    ),
    _mutant(
        "javascript: a new name is a new budget for a group without one",
        "if (unnamed) checkUnnamed(",
        "if (false) checkUnnamed(",
        "test_a_new_name_is_no_new_budget_in_javascript_either",
    ),
    _mutant(
        "silence: how many digits a value has is told by the time",
        "{name: _bounded(value) for name, value in values.items()}",
        "{name: exact(value) for name, value in values.items()}",
        "test_a_number_of_a_profile_has_one_length",
    ),
    _mutant(
        "silence: a table is read when a study asks",
        "records = None if known else own.load_records()",
        "records = None if known else own.prepare()",
        "test_what_a_table_becomes_changes_nothing_for_who_asks",
    ),
    _mutant(
        "silence: records that were prepared for other columns are answered from",
        "if head != counted.head(rows) or len(body) != len(keys) * rows * _BYTES:",
        "if len(body) != len(keys) * rows * _BYTES:",
        "test_a_site_that_is_not_set_up_for_its_settings_says_so_of_everyone",
    ),
    _mutant(
        "silence: people whose names are no UTF-8 are one person",
        'encoding="utf-8-sig", errors="surrogateescape"',
        'encoding="utf-8-sig", errors="replace"',
        "test_people_whose_names_are_no_utf8_stay_apart",
    ),
    _mutant(
        "silence: one text that is no UTF-8 keeps a site from being set up",
        "return [_entry(one, row) for row in range(rows)]",
        "raise",
        "test_bytes_that_are_no_text_spoil_their_own_record_only",
    ),
    _mutant(
        "silence: what cannot be said to a person shows in the status of the command",
        "with suppress(OSError): if sys.stderr is not None:",
        "with suppress(ValueError): if sys.stderr is not None:",
        "test_what_cannot_be_said_does_not_show_in_how_it_ends",
    ),
    _mutant(
        "silence: others read what was prepared",
        'os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode=0o600), "wb")',
        'os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode=0o644), "wb")',
        "test_what_is_prepared_is_for_its_owner_and_as_long_whatever_it_holds",
    ),
    _mutant(
        "silence: an agent answers from records that others can read",
        '("prepared", own.prepared, READ | WRITE, True),',
        '("prepared", own.prepared, WRITE, True),',
        "test_files_that_an_asker_could_read_or_write_are_refused",
    ),
    _mutant(
        "silence: a record that counts takes more steps",
        "met[person] += cell < site.size",
        "met[person] += 1 if cell < site.size else 0 + 0 * met[person]",
        "test_every_record_takes_the_same_steps",
    ),
    _mutant(
        "silence: an agent whose profile is gone does not start",
        'return [f"the profile {self.profile} cannot be read: {problem.strerror}"]',
        'raise CannotAnswer(f"the profile {self.profile} cannot be read: {problem.strerror}")',
        "test_what_is_no_profile_is_told_to_its_owner_and_the_agent_starts",
    ),
    _mutant(
        "agent: who owns a folder above the ledger may move it away",
        'if owned and found.st_uid not in (0, os.geteuid()): return f"the folder',
        'if False and found.st_uid not in (0, os.geteuid()): return f"the folder',
        "test_a_folder_that_others_could_move_is_no_place_for_a_ledger",
    ),
    _mutant(
        "agent: who may write to a folder further up may move the ledger away",
        "for folder in place.parents:",
        "for folder in [place.parent]:",
        "test_a_folder_that_others_could_move_is_no_place_for_a_ledger",
    ),
    _mutant(
        "agent: who may put a journal beside the ledger rolls it back",
        "sticky = folder != place.parent or not forbidden & READ",
        "sticky = True",
        "test_a_folder_that_others_could_move_is_no_place_for_a_ledger",
    ),
    _mutant(
        "silence: an agent whose profile is gone gives no answer",
        'except OSError: data = b""',
        'except ValueError: data = b""',
        "test_a_profile_that_is_gone_is_answered_like_one_with_nothing_in_it",
    ),
    _mutant(
        "policy: a study may list some of the groups",
        "set(own.groups) == set(asked.groups)",
        "set(own.groups) >= set(asked.groups) or True",
        "test_what_may_be_asked_is_settled_before_the_profile_is_opened",
    ),
    _mutant(
        "policy: a study may halve the range",
        "own is not None and _range(own) == _range(asked)",
        "own is not None",
        "test_what_may_be_asked_is_settled_before_the_profile_is_opened",
    ),
    _mutant(
        "policy: a site's study names columns of its own choice",
        "if policy.counted is None:",
        "if False:",
        "test_a_file_that_is_none",
    ),
    _mutant(
        "policy: an agent that would not start tells of its profile",
        "for line in (line for lines in _look_at_agent(agent.settings) for line in lines):",
        "for line in _look_at_agent(agent.settings)[1][0:0] + [_look_at_agent(agent.settings)[1][0]]:",
        "test_an_agent_says_at_its_start_what_it_will_answer_and_starts_though_the_profile_does_not_fit",
    ),
    _mutant(
        "federation: a node that nobody knows counts",
        "(self.nodes is not None and node not in self.nodes)",
        "(self.nodes is not None and node is None)",
        "test_only_certain_nodes_count",
    ),
    _mutant(
        "change: a gap that turns round is called narrower",
        "if high < 0 and far + high < 0:",
        "if high < 0 and far + high < -9:",
        "test_a_gap_that_turns_round_is_not_called_narrower",
    ),
    _mutant(
        "ledger: sums of costs are rounded down",
        "_UPWARD = Context(prec=50, rounding=ROUND_CEILING) @dataclass",
        "_UPWARD = Context(prec=50) @dataclass",
        "test_sums_are_rounded_up",
    ),
    _mutant(
        "ledger: the lifetime limit is not compared with what was spent before",
        "if after > self.lifetime",
        "if after > 1000 * self.lifetime",
        "TestLifetime::test_decides_to_the_last_digit",
    ),
    _mutant(
        "ledger: a study that was answered is answered again",
        "if found is None: check_held(study, profile)",
        "if True: check_held(study, profile)",
        "test_a_study_is_answered_once",
    ),
    _mutant(
        "ledger: an answer is handed out without a charge",
        "self._charge(connection, study, costs) if unnamed:",
        "if unnamed:",
        "test_a_study_is_answered_once",
    ),
    _mutant(
        "ledger: a power cut may undo an answer",
        (
            'connection.execute("PRAGMA synchronous = EXTRA") connection.execute("PRAGMA fullfsync = ON") '
            'connection.execute("PRAGMA trusted_schema = OFF")'
        ),
        'connection.execute("PRAGMA trusted_schema = OFF")',
        "test_a_commit_waits_for_the_disk_and_the_folder",
    ),
    _mutant(
        "ledger: two processes answer the same study at once",
        'connection.execute("BEGIN IMMEDIATE") try: self._identify',
        'connection.execute("BEGIN") try: self._identify',
        "test_processes_share_a_ledger",
    ),
    _mutant(
        "ledger: a new one is readable by everyone",
        "os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode=0o600))",
        "os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode=0o644))",
        "test_is_for_its_owner_only",
    ),
    _mutant(
        "ledger: the folder is not synced before an answer is handed out",
        "still undo the answer that we found. Not after this. self._sync_folder()",
        "still undo the answer that we found. Not after this.",
        "test_an_answer_is_returned_only_when_it_is_on_the_disk",
    ),
    _mutant(
        "ledger: what was delivered may be refused later",
        "WHERE study = ? AND state <> 'delivered'\"",
        'WHERE study = ?"',
        "test_what_was_delivered_stays_delivered",
    ),
    _mutant(
        "ledger: an empty file becomes a new ledger",
        "if found.st_size == 0: rule",
        "if found.st_size < 0: rule",
        "test_a_file_that_cannot_be_trusted_is_left_as_it_is",
    ),
    _mutant(
        "ledger: keeps the order in which studies were answered",
        "PRIMARY KEY (study, attribute) ) WITHOUT ROWID",
        "PRIMARY KEY (study, attribute))",
        "test_a_new_one_gets_its_name_when_it_is_whole",
    ),
    _mutant(
        "ledger: readers of a crowd are charged the local epsilon's worth of nothing",
        ("if study.release is None: return {account: ToReaders(cost, Decimal(0)) for account, cost in costs.items()}"),
        (
            "if study.release is None: return {account: ToReaders(Decimal(0), Decimal(0)) for account, cost in "
            "costs.items()}"
        ),
        "test_holds_what_it_says_and_no_more",
    ),
    _mutant(
        "ledger: charges the last question of an attribute",
        "found[factor.name] = max(found.get(factor.name, Decimal(0)), question.mechanism.epsilon_bound)",
        "found[factor.name] = question.mechanism.epsilon_bound",
        "test_each_attribute_pays_the_most_that_a_question_about_it_spends",
    ),
    _mutant(
        "ledger: charges the first question of an attribute",
        "found[factor.name] = max(found.get(factor.name, Decimal(0)), question.mechanism.epsilon_bound)",
        "found.setdefault(factor.name, question.mechanism.epsilon_bound)",
        "test_each_attribute_pays_the_most_that_a_question_about_it_spends",
    ),
    # -------------------- limits
    _mutant(
        "limits: a device that says nothing spends 40 on a study",
        "STUDY_LIMIT = Decimal(4)",
        "STUDY_LIMIT = Decimal(40)",
        "test_one_study_may_cost_4",
    ),
    _mutant(
        "limits: a device that says nothing spends 80 in its life",
        "LIFETIME_LIMIT = Decimal(8)",
        "LIFETIME_LIMIT = Decimal(80)",
        "test_an_attribute_may_cost_8",
    ),
    _mutant(
        "limits: only the first question of a study is checked",
        "for index, question in enumerate(study.questions): if not question.mechanism.within(self.study):",
        "for index, question in enumerate(study.questions[:1]): if not question.mechanism.within(self.study):",
        "test_every_question_of_a_study_is_within_the_limit_whichever_the_coin_picks",
    ),
    _mutant(
        "limits: a site's epsilon is not compared with the limit",
        "return self.loss <= Fraction(epsilon)",
        "return self.loss <= 9 * Fraction(epsilon)",
        "test_the_limit_of_one_study",
    ),
    # -------------------- answer
    _mutant(
        "answer: the coin always picks the first table",
        "picked = secrets.randbelow(len(inputs))",
        "picked = secrets.randbelow(1)",
        "test_the_coin_is_tossed_among_all_questions",
    ),
    _mutant(
        "answer: what is no ticket is shown",
        "if ticket is not None: check_ticket(ticket) check_able(study, ticket)",
        "check_able(study, ticket)",
        "test_what_is_no_ticket_is_refused_and_not_shown",
    ),
    _mutant(
        "answer: a closed study is answered",
        "if study.closes is not None and now >= study.closes:",
        "if study.closes is not None and now > study.closes and not study.opens:",
        "test_at_other_times_nothing_is_drawn",
    ),
    _mutant(
        "answer: a study is answered before it opens",
        "if study.opens is not None and now < study.opens:",
        "if study.opens is not None and now > study.opens and False:",
        "test_at_other_times_nothing_is_drawn",
    ),
    _mutant(
        "answer: the cell of crossed attributes takes the first one fastest",
        'cell = cell * len(factor.groups) + cast("int", (place, 0)[place is None])',
        'cell = cell + len(factor.groups) * cast("int", (place, 0)[place is None])',
        "test_a_table_answers_several_questions_at_once",
    ),
    _mutant(
        "sites: how long a value is looked for tells where it is among levels",
        "above = max(1, bisect_left(levels, value))",
        "above = max(1, next(index for index, level in enumerate(levels) if level >= value))",
        "test_a_value_is_found_in_as_many_steps_wherever_the_study_puts_its_levels",
    ),
    _mutant(
        "sites: the cell of crossed attributes takes the first one fastest",
        "stride //= len(factor.groups) places",
        "stride = len(factor.groups) * 2 if stride == site.size else 4 places",
        "test_crossed_attributes",
    ),
    _mutant(
        "answer: ids have half the length",
        "ID_BYTES = 16 @dataclass",
        "ID_BYTES = 8 @dataclass",
        "test_answer::test_round_trip",
    ),
    # -------------------- noise
    _mutant(
        "noise: its scale is halved",
        "size, minus = (rest + t * whole) // s, below(2)",
        "size, minus = (rest + t * whole) // (2 * s), below(2)",
        "test_the_law",
    ),
    _mutant(
        "noise: zero comes twice as often",
        "if size or not minus:",
        "if True:",
        "test_the_law",
    ),
    _mutant(
        "noise: the geometric part stops early",
        "while _happens(1, 1, below): whole += 1",
        "if _happens(1, 1, below): whole += 1",
        "test_the_law",
    ),
    _mutant(
        "noise: exp is met one step late",
        "return step % 2 == 1",
        "return step % 2 == 0 or step == 1",
        "test_the_law",
    ),
    # -------------------- site
    _mutant(
        "site: noise is made for one cell that a person moves",
        "return 2 * self.records",
        "return self.records",
        "test_noise_is_made_for_two_cells_that_one_person_moves",
    ),
    _mutant(
        "site: a cell without people gets no noise",
        "noisy = [count + draw_noise(decay.numerator, decay.denominator) for count in count_records(site, records)]",
        (
            "noisy = [count and count + draw_noise(decay.numerator, decay.denominator) for count in "
            "count_records(site, records)]"
        ),
        "test_noise_is_made_for_two_cells_that_one_person_moves",
    ),
    _mutant(
        "site: one record of a person too many is kept",
        "cells_of(site, records), records.numbers[PERSON], site.records",
        "cells_of(site, records), records.numbers[PERSON], site.records + 1",
        "test_no_person_counts_more_often_than_the_study_says",
    ),
    _mutant(
        "site: a person's first records are always the ones kept",
        "return sorted(rows, key=array(",
        "return rows or sorted(rows, key=array(",
        "test_each_record_of_a_person_is_as_likely_to_be_kept",
    ),
    _mutant(
        "site: truth and prediction change places",
        "_further(found, _numbers(records, TRUTH), [0, 2, out])",
        "_further(found, _numbers(records, PREDICTION), [0, 2, out])",
        "test_by_group_then_truth_then_prediction",
    ),
    # -------------------- crowd
    _mutant(
        "crowd: e is left out of the certificate",
        "below = _DOWN.multiply(_DOWN.multiply(_DOWN.next_minus(_DOWN.exp(Decimal(1))), t), Decimal(draws + 1))",
        "below = _DOWN.multiply(_DOWN.multiply(_DOWN.next_minus(_DOWN.exp(Decimal(2))), t), Decimal(draws + 1))",
        "test_it_is_the_formula_rounded_up",
    ),
    _mutant(
        "crowd: the worst pair is the mildest",
        "return max((sum(map(mul, own[x], other[y]), start=Decimal(0)), (x, y)) for x, y in pairs)",
        "return min((sum(map(mul, own[x], other[y]), start=Decimal(0)), (x, y)) for x, y in pairs)",
        "test_it_is_the_formula_rounded_up",
    ),
    _mutant(
        "crowd: the person's own symbol hides them",
        "above = weight / (len(blankets) * ROW_SUM) * _power(mean, draws + 1)",
        "above = weight / (len(blankets) * ROW_SUM) * _power(mean, draws + 2)",
        "test_it_is_the_formula_rounded_up",
    ),
    _mutant(
        "crowd: a symbol is taken for one of a whole row more",
        "Decimal(1))), t), Decimal(draws + 1))",
        "Decimal(1))), t), Decimal(draws + 2))",
        "test_it_is_the_formula_rounded_up",
    ),
    _mutant(
        "crowd: the blanket's weight is squared",
        "above = weight / (len(blankets) * ROW_SUM) *",
        "above = (weight / (len(blankets) * ROW_SUM)) ** 2 *",
        "test_it_is_the_formula_rounded_up",
    ),
    _mutant(
        "crowd: several tables weigh as one",
        "weight / (len(blankets) * ROW_SUM)",
        "weight / (len(blankets) ** 2 * ROW_SUM)",
        "test_it_is_the_formula_rounded_up",
    ),
    _mutant(
        "crowd: the factor is that of twice the epsilon",
        "factor = _DOWN.multiply(t, _DOWN.next_minus(_DOWN.exp(epsilon)))",
        "factor = _DOWN.multiply(t, _DOWN.next_minus(_DOWN.exp(2 * epsilon)))",
        "test_it_is_the_formula_rounded_up",
    ),
    _mutant(
        "crowd: the certificate rounds down",
        "_UP = Context(prec=_DIGITS, rounding=ROUND_CEILING",
        "_UP = Context(prec=_DIGITS, rounding=ROUND_FLOOR",
        "test_it_is_the_formula_rounded_up",
    ),
    _mutant(
        "crowd: an exponential is taken one step too small",
        "rise = _UP.next_plus(_UP.exp(",
        "rise = _UP.next_minus(_UP.exp(",
        "test_it_is_the_formula_rounded_up",
    ),
    _mutant(
        "crowd: the usual delta is a tenth of one in the batch however small it is",
        "return min(LARGEST_DELTA, Context",
        "return max(LARGEST_DELTA, Context",
        "test_the_usual_delta",
    ),
    _mutant(
        "crowd: the largest delta is 1e-6",
        'LARGEST_DELTA = Decimal("1e-8")',
        'LARGEST_DELTA = Decimal("1e-6")',
        "test_it_is_far_below_the_local_epsilon",
    ),
    _mutant(
        "crowd: an epsilon that is not certified is promised",
        "if bound <= delta: return epsilon",
        "if bound <= 2 * delta: return epsilon",
        "test_what_floats_find_too_small_is_not_promised",
    ),
    _mutant(
        "crowd: symbols with other ratios are merged",
        "scale = math.gcd(*column)",
        "scale = min(column)",
        "test_nearly_the_same_is_not_the_same",
    ),
    _mutant(
        "crowd: draws are spread evenly over the symbols",
        "return Counter(bisect_right(ends, secrets.randbelow(ends[-1])) for _ in range(count))",
        "return Counter(secrets.randbelow(len(ends)) for _ in range(count))",
        "test_every_number_below_the_weight_gives_its_symbol",
    ),
    _mutant(
        "crowd: a number on the edge goes to the symbol before",
        "return Counter(bisect_right(ends,",
        "return Counter(bisect_left(ends,",
        "test_every_number_below_the_weight_gives_its_symbol",
    ),
    _mutant(
        "crowd: the blanket is the first row",
        "return tuple(min(column) for channel in channels",
        "return tuple(column[0] for channel in channels",
        "test_the_blanket_is_the_least_of_each_column_tables_side_by_side",
    ),
    _mutant(
        "crowd: a quarter of the blanket is drawn unless said",
        "(2 * ROW_SUM * len(channels))",
        "(4 * ROW_SUM * len(channels))",
        "test_unless_said_half_of_the_batch_s_blanket",
    ),
    _mutant(
        "crowd: counts without draws pass for counts with them",
        "wanted = study.release.draws * study.release.batches(answers)",
        "wanted = sum(more)",
        "test_what_is_left_at_closing_is_a_batch_of_its_own_with_its_own_draws",
    ),
    _mutant(
        "crowd: the reader is not told that it rests on the collector",
        'return f"It rests on the collector adding {answers} before it shows counts,',
        'return f"It rests on {answers} and on no collector before it shows counts,',
        "test_what_readers_learn_and_what_that_rests_on",
    ),
    _mutant(
        "draws: what draws win counts as won",
        "@ counts - draws.won(np.multiply.outer(stakes, gains))",
        "@ counts",
        "test_money_is_a_martingale_with_draws",
    ),
    _mutant(
        "draws: what draws win at every look counts as won",
        "np.log(weights) - self.draws.won(staked)",
        "np.log(weights)",
        "test_with_draws_the_right_value_is_rejected_no_more_often_than_stated",
    ),
    _mutant(
        "draws: their mean stays in the counts",
        "return np.asarray(counts - sizes * self.part_of(float(counts.sum())) * self.law)",
        "return counts",
        "test_what_answers_have_of_a_mean_follows_from_all",
    ),
    _mutant(
        "draws: the tails forget what draws scatter by",
        "drawn = self.drawn.count * self.drawn.variance return self.answers",
        "drawn = 0 * self.drawn.variance return self.answers",
        "test_tails_with_draws_are_bounded_by_the_convolution",
    ),
    _mutant(
        "draws: the tails forget that draws are skewed",
        "drawn = self.moments.third, self.drawn.count * self.drawn.third",
        "drawn = self.moments.third, 0 * self.drawn.third",
        "test_tails_with_draws_are_bounded_by_the_convolution",
    ),
    _mutant(
        "draws: counts are refused as no draws by one side of Chernoff's bound alone",
        "allowed = math.log(2 * len(weights) * _SELDOM)",
        "allowed = math.log(len(weights) * _SELDOM)",
        "test_the_worst_that_passes_is_rarer_than_one_in_ten_to_the_nine_and_not_much_rarer",
    ),
    _mutant(
        "draws: a tally may hide how many draws it has",
        "if each and (drawn % each or not 0 <= drawn <= contributors * each):",
        "if each and not 0 <= drawn <= contributors * each:",
        "test_a_tally_has_whole_batches_of_draws",
    ),
    _mutant(
        "simulation: no draws are added",
        "drawn = study.release.draws * study.release.batches(answers) counts",
        "drawn = 0 * study.release.batches(answers) counts",
        "test_a_simulated_study_has_its_draws",
    ),
    _mutant(
        "crowd plan: draws cost nothing",
        "draws = Draws(answers * drawn, self._blanket)",
        "draws = Draws(1e-9 * drawn, self._blanket)",
        "test_draws_cost_what_they_scatter_by",
    ),
    _mutant(
        "crowd plan: fewer draws than keep the aim",
        "return crowd_at(draws).epsilon <= aim.epsilon",
        "return crowd_at(draws).epsilon <= aim.epsilon * Decimal('1.02')",
        "test_they_keep_the_aim_and_hardly_fewer_would",
    ),
    _mutant(
        "seal: a tally whose draws were left out passes",
        "if drawn != wanted:",
        "if drawn > wanted:",
        "test_what_is_left_at_closing_is_a_batch_of_its_own_with_its_own_draws",
    ),
    # -------------------- hiding
    _mutant(
        "hiding: the study is asked for again when the answer leaves",
        "if kept is not None: return read_study(kept,",
        "if False: return read_study(kept,",
        "test_the_study_comes_through_the_relay_once_and_the_collector_is_never_asked_by_the_device",
    ),
    _mutant(
        "hiding: the collector sees who reads its study",
        "study = read_study(request.study, digest=request.digest, relay=request.relay)",
        "study = read_study(request.study, digest=request.digest)",
        "test_the_study_comes_through_the_relay_once_and_the_collector_is_never_asked_by_the_device",
    ),
    _mutant(
        "hiding: nobody is told that the collector saw who asked for a study",
        "if study.gateway is not None and request.relay is None:",
        "if False:",
        "test_who_asks_without_a_relay_is_told_that_the_collector_saw_it",
    ),
    _mutant(
        "hiding: a study need not be everybody's",
        "if study.unlinkable: _check_everybodys(",
        "if False: _check_everybodys(",
        "test_without_an_issuer_the_digest_is_shown_and_confirmed",
    ),
    _mutant(
        "hiding: a collector that names itself as the issuer is its study's witness",
        "if not study.unlinkable or digest == study.digest or",
        "if not study.unlinkable or study.issuer or digest == study.digest or",
        "test_a_collector_that_names_itself_as_the_issuer_gets_no_answer",
    ),
    _mutant(
        "hiding: a study is loaded on its collector's word",
        "check_witness(study, digest=digest, issuer=issuer)",
        "check_witness(study, digest=study.digest, issuer=issuer)",
        "test_a_study_is_not_loaded_on_its_collectors_word",
    ),
    _mutant(
        "hiding: blind tickets need no witness",
        'return self.gateway is not None or self.admission == "blind"',
        "return self.gateway is not None",
        "test_a_study_that_hides_who_answers_has_a_witness",
    ),
    _mutant(
        "hiding: the relay is at the collector's own address",
        'check_apart("relay", self.url, url)',
        "",
        "test_a_relay_at_the_collectors_own_address_carries_nothing",
    ),
    _mutant(
        "hiding: a relay at the collector's own address is asked for its key",
        'check_apart("relay", relay, url) # before',
        "# before",
        "test_a_relay_at_the_collectors_own_address_carries_nothing",
    ),
    _mutant(
        "hiding: the issuer is at the collector's own address",
        'if collector is not None and collector.startswith(("http://", "https://")): check_apart(',
        "if False: check_apart(",
        "test_a_collector_that_names_itself_as_the_issuer_gets_no_answer",
    ),
    _mutant(
        "hiding: a name within the collector's is somebody else's",
        'within = f".{own}".endswith(f".{other}") or f".{other}".endswith(f".{own}")',
        "within = own == other",
        "test_a_party_at_the_collectors_own_host_is_refused",
    ),
    _mutant(
        "hiding: a study that the collector does not name to everybody is answered",
        "if study not in listed:",
        "if False:",
        "test_a_study_that_the_collector_does_not_name_to_everybody_is_not_answered",
    ),
    _mutant(
        "hiding: whoever gave out a ticket reads the answer in a proof",
        'if study.release is not None and study.admission != "blind" and ticket is not None:',
        "if False:",
        "test_in_the_crowd_no_ticket_is_the_id_of_an_answer",
    ),
    _mutant(
        "hiding: the directory leaves out a study",
        "return sorted([one.digest for one in running if (await self.entry(one.digest)).hidden])",
        "return sorted([one.digest for one in running if not (await self.entry(one.digest)).hidden])",
        "test_a_study_and_the_directory_come_in_envelopes_padded_to_a_power_of_two",
    ),
    _mutant(
        "hiding: a reply that tells a problem has a size of its own",
        "if size > SIZE and self.status != _FINE:",
        "if False:",
        "test_a_response_that_is_too_long_loses_its_body",
    ),
    _mutant(
        "hiding: the length of a study is told to the relay",
        "size = max(SIZE, 1 << (len(write_response(message)) - 1).bit_length())",
        "size = max(SIZE, len(write_response(message)))",
        "test_a_study_and_the_directory_come_in_envelopes_padded_to_a_power_of_two",
    ),
    _mutant(
        "hiding: the relay asks for the gateway's key in each device's name",
        "if self._keys is None or now - self._keys[0] > _KEYS_SECONDS:",
        "if True:",
        "test_the_gateways_key_is_handed_to_everyone_and_asked_for_once",
    ),
    _mutant(
        "hiding: how few share an epoch is not said",
        "if others >= ENOUGH_TOGETHER:",
        "if others >= 0:",
        "test_how_many_share_an_epoch_is_said",
        "test_a_plan_says_how_many_share_an_epoch",
    ),
    _mutant(
        "javascript: the status of a hidden study is asked straight",
        "if (gateway && relay === null && !straight) throw needsRelay();",
        "",
        "test_javascript_reads_a_study_its_status_and_the_directory_through_the_relay",
    ),
    _mutant(
        "javascript: a study of one's own is answered",
        "if (Array.isArray(studies) && studies.includes(study.digest)) return;",
        "if (Array.isArray(studies)) return;",
        "test_javascript_answers_no_study_that_the_collector_does_not_name_to_everybody",
    ),
    _mutant(
        "javascript: a study that hides who answers needs no witness",
        "if (digest === null && !(issuer && study.issuer)) throw unconfirmed(study);",
        "",
        "test_javascript_has_the_same_rule_in_the_same_words",
    ),
    _mutant(
        "javascript: a proof is asked for beside an answer that went through a relay",
        "if (study.gateway && !straight) {",
        "if (false) {",
        "test_javascript_asks_for_no_proof_beside_an_answer_that_went_through_a_relay",
    ),
    _mutant(
        "javascript: the issuer is taken from the study",
        "if (issuer === null) throw unconfirmed(study);",
        "",
        "test_javascript_has_the_same_rule_in_the_same_words",
    ),
    _mutant(
        "javascript: an issuer that signs for everyone's own study is believed",
        "if (Array.isArray(studies) && studies.length === 1 && studies[0] === study.digest) return;",
        "if (Array.isArray(studies) && studies.at(0) === study.digest) return;",
        "test_javascript_has_the_same_rule_in_the_same_words",
    ),
    _mutant(
        "javascript: the relay is at the collector's own address",
        "if (!((here && portOf(own) === portOf(other)) || (within && !here))) return;",
        "return;",
        "test_javascript_tells_parties_apart_as_python_does",
    ),
    _mutant(
        "javascript: an answer does not wait for its moment",
        "if (kept?.moment && Date.now() < 1000 * kept.moment) {",
        "if (false) {",
        "test_javascript_waits_for_the_moment_of_the_next_epoch",
    ),
    _mutant(
        "javascript: an answer is sent in the epoch in which it is drawn",
        "const begins = (Math.floor(now / length) + 1) * length;",
        "const begins = Math.floor(now / length) * length;",
        "test_javascript_waits_for_the_moment_of_the_next_epoch",
    ),
    _mutant(
        "javascript: few draws promise what many do",
        "const [n, d] = [tn * ((rows[x][j] << BITS) - factor * rows[y][j]), (td * weight) << BITS];",
        "const [n, d] = [tn * ((rows[x][j] << BITS) - 2n * factor * rows[y][j]), (td * weight) << BITS];",
        "test_a_certificate_at_a_large_t_is_the_one_of_python",
    ),
    _mutant(
        "javascript: whoever gave out a ticket reads the answer in a proof",
        'if (study.release && study.admission !== "blind" && (ticket || study.admission === "tickets")) {',
        "if (false) {",
        "test_javascript_takes_no_ticket_for_an_id_in_the_crowd",
    ),
    _mutant(
        "hiding: a study that its issuer does not name is answered",
        "if _listed(response.body) != [study.digest]:",
        "if False:",
        "test_a_study_for_one_person_alone_is_noticed_before_anything_is_drawn",
    ),
    _mutant(
        "hiding: an issuer that signs for everyone's own study is believed",
        "if _listed(response.body) != [study.digest]:",
        "if study.digest not in (_listed(response.body) or []):",
        "test_an_issuer_that_does_not_name_this_study_alone_gets_no_ticket",
    ),
    _mutant(
        "hiding: a study in the crowd takes tickets whose sender knows every id",
        'if study.release is not None and found.admission == "tickets" and study.admission != "blind":',
        "if False:",
        "test_a_study_in_the_crowd_takes_no_tickets_whose_sender_knows_every_id",
    ),
    _mutant(
        "issuer: a spent ticket has something signed first",
        "if not await asyncio.to_thread(self.book.may_exchange, ticket, request):",
        "if False:",
        "test_a_spent_ticket_is_looked_up_before_anything_is_signed",
    ),
    _mutant(
        "gateway: a key is forgotten while a study names it",
        "if KeyConfig.of(path.read_bytes()).to_text() not in named:",
        "if True:",
        "test_a_rotated_gateway_opens_for_studies_that_name_the_key_of_before_until_they_close",
    ),
    # -------------------- passes
    _mutant(
        "passes: a request shows its message",
        'return (code * pow(blinding.r, key.e, key.n) % key.n).to_bytes(key.size, "big")',
        'return (code % key.n).to_bytes(key.size, "big")',
        "test_the_vectors_of_rfc_9474",
    ),
    _mutant(
        "passes: a signature is not checked when it comes back",
        "if not verify(key, message, signature, salt_bytes=len(blinding.salt)):",
        "if False:",
        "test_a_signer_who_signs_something_else_is_caught",
    ),
    _mutant(
        "passes: the digest of a signature is not compared",
        "return digest == _digest(message, data[zeros + 1 :])",
        "return len(digest) == len(_digest(message, data[zeros + 1 :]))",
        "test_a_signature_is_good_for_its_message_and_its_key_only",
    ),
    _mutant(
        "passes: the trailer of a signature is not compared",
        "if trailer != _TRAILER or masked",
        "if masked",
        "test_a_code_that_is_bent_anywhere_is_no_signature_though_the_key_signed_it",
    ),
    _mutant(
        "passes: a signature as large as the key passes",
        "if len(signature) != key.size or number >= key.n: return False",
        "if len(signature) != key.size: return False",
        "test_a_signature_has_one_form_or_one_ticket_would_count_twice",
    ),
    _mutant(
        "passes: the blinding has no inverse now and then",
        "if gcd(r, key.n) == 1:",
        "if True:",
        "test_what_hides_a_message_can_be_divided_out_again",
    ),
    _mutant(
        "passes: a token keeps what ties it to its ticket",
        'connection.execute("PRAGMA secure_delete = ON") # what',
        'connection.execute("PRAGMA secure_delete = OFF") # what',
        "test_what_ties_a_token_to_its_ticket_is_not_in_the_file_any_more",
    ),
    # -------------------- population
    _mutant(
        "population: each mean of an impact ratio spends all of alpha",
        "means = [self.mean(side, alpha / len(sides)) for side in sides]",
        "means = [self.mean(side, alpha) for side in sides]",
        "test_extremes_of_means_that_rest_on_a_band_of_shares_have_each_their_part_of_alpha",
    ),
    _mutant(
        "population: the average spends alpha twice",
        "return float(ndtri(_MEAN * alpha / 2) - ndtri(max(likely, 1e-300)))",
        "return float(ndtri(_MEAN * alpha) - ndtri(max(likely, 1e-300)))",
        "test_the_right_value_is_rejected_no_more_often_than_stated",
    ),
    _mutant(
        "population: parts of alpha sum to more than alpha",
        "_UPPER, _LOWER, _MEAN = 0.04, 0.02, 0.94",
        "_UPPER, _LOWER, _MEAN = 0.4, 0.2, 0.94",
        "test_population_test::test_the_parts_of_alpha_are_no_more_than_alpha",
    ),
    _mutant(
        "population: bets spend alpha twice",
        "return won - math.log(2 / alpha) def _deviations",
        "return won - math.log(1 / alpha) def _deviations",
        "test_the_normal_law_takes_over_where_it_is_as_narrow_as_bets",
    ),
    _mutant(
        "population: the variance is the one that was seen",
        "bound = upper_mean(square, self.counts, _UPPER * alpha, self._of_all(square, most))",
        "bound = float(square @ self.counts) / float(self.counts.sum())",
        "test_the_right_value_is_rejected_no_more_often_than_stated",
    ),
    _mutant(
        "population: only the likeliest cell of the variance counts",
        "likely = float((tails.above(average) if average > 0 else tails.below(-average)).max())",
        "likely = float((tails.above(average) if average > 0 else tails.below(-average)).min())",
        "test_a_value_is_accepted_if_any_cell_of_the_variance_accepts_it",
    ),
    _mutant(
        "population: bets and the normal law both spend all of alpha",
        "mixed = (1 - _BETS, _BETS) if close.any() else (0.0, 1.0)",
        "mixed = (1.0, 1.0) if close.any() else (0.0, 1.0)",
        "test_population_test::test_the_parts_of_alpha_are_no_more_than_alpha",
    ),
    # -------------------- prawitz
    _mutant(
        "prawitz: the tail of the normal law is left out",
        "/ (2 * np.pi) parts =",
        "/ (200 * np.pi) parts =",
        "test_the_tail_of_the_normal_law_is_its_integral",
    ),
    _mutant(
        "prawitz: the fourth moment counts half",
        "bend, square = fourth * right**4 / 24,",
        "bend, square = fourth * right**4 / 48,",
        "test_the_curves_are_above_the_exact_ones_on_their_whole_pieces",
    ),
    _mutant(
        "prawitz: the third moment counts half",
        "turn = third * right**3 / 6 + np.minimum",
        "turn = third * right**3 / 12 + np.minimum",
        "test_the_bound_is_above_the_exact_distance_and_not_far",
    ),
    _mutant(
        "prawitz: the kernel of the rest is halved",
        "rest = np.hypot((1 - x) / 2, (turn - 1 / (np.pi * x)) / 2)",
        "rest = np.hypot((1 - x) / 4, (turn - 1 / (np.pi * x)) / 4)",
        "test_the_bound_is_above_the_exact_distance_and_not_far",
    ),
    _mutant(
        "prawitz: integrals count one side",
        "np.append(2 * part, np.zeros(len(points) - 1 - end))",
        "np.append(part, np.zeros(len(points) - 1 - end))",
        "test_the_bound_is_above_the_exact_distance_and_not_far",
    ),
    # -------------------- edgeworth
    _mutant(
        "edgeworth: the correction for skewness is halved",
        "skews = [third / (6 * v**1.5) for third in thirds for v in self.variances]",
        "skews = [third / (12 * v**1.5) for third in thirds for v in self.variances]",
        "test_the_tail_is_the_normal_laws_with_its_correction_and_what_is_left",
    ),
    _mutant(
        "edgeworth: what smoothing costs is not paid",
        "distance = average * self.answers - reaches[:, None]",
        "distance = average * self.answers - 0 * reaches[:, None]",
        "test_the_bound_is_above_the_exact_tail_and_not_far",
    ),
    _mutant(
        "edgeworth: the integral counts half",
        "width = (right - left) / np.pi",
        "width = (right - left) / (2 * np.pi)",
        "test_the_integral_is_above_the_exact_one_and_not_far",
    ),
    _mutant(
        "edgeworth: the square of delta counts half",
        "near += count * max(count - 1, 0) / 2 * delta**2",
        "near += count * max(count - 1, 0) / 4 * delta**2",
        "test_every_curve_is_above_the_exact_one_on_its_whole_piece",
    ),
    _mutant(
        "edgeworth: the fourth moment counts half",
        "bend, skew = fourth * right**4 / 24, third * right**3 / 6",
        "bend, skew = fourth * right**4 / 48, third * right**3 / 6",
        "test_every_curve_is_above_the_exact_one_on_its_whole_piece",
    ),
    _mutant(
        "edgeworth: the third moment counts half",
        "bend, skew = fourth * right**4 / 24, third * right**3 / 6",
        "bend, skew = fourth * right**4 / 24, third * right**3 / 12",
        "test_every_curve_is_above_the_exact_one_on_its_whole_piece",
    ),
    _mutant(
        "edgeworth: what lies beyond the last point is left out",
        "return np.concatenate(found) + self._beyond[cases]",
        "return np.concatenate(found)",
        "test_what_lies_beyond_the_last_point_is_paid_for",
    ),
    _mutant(
        "edgeworth: smoothing spreads half as far",
        "return Grid(points, reaches, reaches**2 / (3 * sums)",
        "return Grid(points, reaches, reaches**2 / (6 * sums)",
        "test_what_smoothing_costs_near_zero_is_its_variance",
    ),
    _mutant(
        "edgeworth: the tail from below is the one from above",
        "return self._tail(average, (-high, -low))",
        "return self._tail(average, (low, high))",
        "test_a_skewed_score_is_bounded_by_its_convolution",
    ),
    _mutant(
        "edgeworth: the rough bound forgets how large a score is",
        "np.exp(-answers * np.square(average) / (2 * (variance + size * np.asarray(average) / 3)))",
        "np.exp(-answers * np.square(average) / (2 * variance))",
        "test_the_rough_bound_is_never_below_the_tail",
    ),
    # -------------------- betting
    _mutant(
        "betting: the upper bound needs half the money",
        "return log_money(mean - values, counts, stakes) + float(np.log(alpha))",
        "return log_money(mean - values, counts, stakes) + float(np.log(2 * alpha))",
        "test_each_bound_is_where_the_money_is_exactly_one_over_alpha",
    ),
    _mutant(
        "betting: the lower bound needs half the money",
        "return log_money(values - mean, counts, stakes) + float(np.log(alpha))",
        "return log_money(values - mean, counts, stakes) + float(np.log(2 * alpha))",
        "test_each_bound_is_where_the_money_is_exactly_one_over_alpha",
    ),
    _mutant(
        "betting: the best stake's money counts as everyone's",
        "return top + float(np.log(np.exp(each - top).mean()))",
        "return top",
        "test_money_is_a_martingale_at_the_true_mean",
    ),
    _mutant(
        "betting: money of several stakes is summed and not averaged",
        "return np.asarray(np.logaddexp.reduce(each, axis=1) - np.log(len(steps)) + np.log(alpha))",
        "return np.asarray(np.logaddexp.reduce(each, axis=1) + np.log(alpha))",
        "test_bounds_of_many_rows_are_nearly_those_of_one",
    ),
    # -------------------- gaps where shares are estimated
    _mutant(
        "gap score: a share takes the other group's weight",
        "return (1 - p) * (w - (1 - p) * gap * u) - p * (x + p * gap * z), p * z - (1 - p) * u",
        "return (1 - p) * (w - p * gap * u) - p * (x + p * gap * z), p * z - (1 - p) * u",
        "test_what_the_score_averages_to",
    ),
    _mutant(
        "gap score: c is chosen from its own part, too",
        "earlier = parts[:number].sum(axis=0)",
        "earlier = parts[: number + 1].sum(axis=0)",
        "test_each_c_is_known_before_its_part",
    ),
    _mutant(
        "gap score: c is chosen from all answers",
        "earlier = parts[:number].sum(axis=0)",
        "earlier = parts.sum(axis=0)",
        "test_each_c_is_known_before_its_part",
    ),
    _mutant(
        "gap score: the last part does not catch up",
        "found[-1] = min(max(found[-1] + behind / float(sizes[-1]), -_FARTHEST), _FARTHEST)",
        "found[-1] = min(max(found[-1], -_FARTHEST), _FARTHEST)",
        "test_the_last_part_catches_up",
    ),
    _mutant(
        "export: a site's first count is read as a device's symbol",
        "return len(payload) == numbers and (",
        "return len(payload) >= numbers and (",
        "test_counts_of_a_site_are_no_symbol_of_a_device",
    ),
    _mutant(
        "answers: a refusal repeats what a site counted",
        'named = error.field in ("study", "id")',
        "named = True",
        "test_what_is_no_answer_of_a_site_is_refused_and_nothing_is_stored",
    ),
    _mutant(
        "tally: sums of products that JSON readers round are told",
        "return () if max(found, default=0) > _MOST_PRODUCT else tuple(found)",
        "return tuple(found)",
        "test_of_the_largest_sites_there_is_a_sum_and_no_products",
    ),
    _mutant(
        "splitting: very many answers are dealt out in exact proportion, which is not independent of them",
        "return self._drawn(counts)",
        "return np.round(np.multiply.outer(FRACTIONS, counts))",
        "test_splitting::test_more_answers_than_can_be_thrown_one_by_one_are_drawn_in_one_go",
    ),
    _mutant(
        "ledger: a refused answer that waits for its moment is sent again at once",
        'study.admission != "blind" and study.gateway is None and study.epoch is None',
        'study.admission != "blind"',
        "test_a_refused_answer_gets_another_ticket_only_where_nothing_hides_when_it_is_sent",
    ),
    _mutant(
        "splitting: all questions of a study share their throws",
        'thrown = self._bytes(f"{self.name} {symbol} {number}", min(_LONGEST, count - start))',
        'thrown = self._bytes(f"{symbol} {number}", min(_LONGEST, count - start))',
        "test_other_studies_and_other_questions_have_other_parts",
    ),
    _mutant(
        "splitting: throws follow from the order of groups",
        '_OF_GROUPS = {"attributes", "tables"}',
        "_OF_GROUPS: set[str] = set()",
        "test_response::test_groups_in_the_other_order_have_the_same_numbers_mirrored",
    ),
    _mutant(
        "plan: what is usual is seen from one side only",
        "averages = np.array([averages, -averages]) + usual",
        "averages = np.array([averages + usual, -averages - usual])",
        "test_groups_in_the_other_order_have_the_same_plan",
    ),
    _mutant(
        "design: groups are taken in the order in which they are typed",
        "first = sorted(range(len(shares)), key=shares.__getitem__)",
        "first = list(range(len(shares)))",
        "test_groups_in_the_other_order_have_the_same_table_with_its_rows_in_that_order",
    ),
    _mutant(
        "tipping: means that are told do not count",
        "mean = min(max((1 - nearest) / 2, below), above)",
        "mean = (1 - nearest) / 2",
        "test_with_means_the_sign_turns_at_their_factor_and_not_before",
    ),
    _mutant(
        "plan: ways of answering give each of several questions all answers",
        "planned_width(scores, made.channel, answers / len(tables), self.kind, self.alpha)",
        "planned_width(scores, made.channel, answers, self.kind, self.alpha)",
        "test_several_metrics_have_three_lines_each_with_the_tables_that_design_makes",
    ),
    _mutant(
        "splitting: a long stream starts again",
        'thrown = self._bytes(f"{self.name} {symbol} {number}", min(_LONGEST, count - start))',
        'thrown = self._bytes(f"{self.name} {symbol} 0", min(_LONGEST, count - start))',
        "test_splitting::test_vector",
    ),
    _mutant(
        "gap: parts of alpha sum to more than alpha",
        "_UPPER, _LOWER, _BETS, _MEAN = 0.04, 0.02, 0.04, 0.84",
        "_UPPER, _LOWER, _BETS, _MEAN = 0.04, 0.02, 0.04, 0.9",
        "test_population_gap::test_the_parts_of_alpha_are_no_more_than_alpha",
    ),
    _mutant(
        "gap: few answers spend the share's part twice",
        "return (0.0, 1 - SHARE) if self.answers < _FEW else (_MEAN, _BETS)",
        "return (0.0, 1.0) if self.answers < _FEW else (_MEAN, _BETS)",
        "test_population_gap::test_the_parts_of_alpha_are_no_more_than_alpha",
    ),
    _mutant(
        "gap: the share's interval has no part of alpha",
        "(low, high), (least, most) = self.share(share, SHARE * alpha), self.estimands.band.among(pair)",
        "(low, high), (least, most) = self.share(share, alpha), self.estimands.band.among(pair)",
        "test_the_share_has_its_part_of_a_pair_and_pairs_share_alpha",
    ),
    _mutant(
        "gap: bounds of the variance at several places share no alpha",
        "alphas = _LOWER * self.level / len(nodes), _UPPER * self.level / len(nodes)",
        "alphas = _LOWER * self.level, _UPPER * self.level",
        "test_every_place_where_the_variance_is_bounded_has_its_own_part_of_alpha",
    ),
    _mutant(
        "gap: a parabola takes upper bounds where its weights are negative",
        "most = np.minimum(most, up @ high[three] + down @ low[three])",
        "most = np.minimum(most, up @ high[three] + down @ high[three])",
        "test_a_parabola_is_bounded_by_its_bounds_at_nodes",
    ),
    _mutant(
        "gap: numbers that are cut off below are not allowed for",
        "return plain + float(ndtr(-_WORST)) * sum(rest)",
        "return plain",
        "test_numbers_that_are_cut_off_below_are_allowed_for",
    ),
    _mutant(
        "gap: the variance is a fourth of what bets bound it by",
        "least, largest = (np.maximum(np.array(each), 1e-300) for each in zip(*found, strict=True))",
        "least, largest = (np.maximum(np.array(each), 1e-300) / 4 for each in zip(*found, strict=True))",
        "test_population_gap::test_the_right_gap_is_rejected_no_more_often_than_stated",
    ),
    _mutant(
        "gap: stakes share no money",
        "return np.asarray((logsumexp(won, axis=1) - math.log(len(_STAKED))).max(axis=0))",
        "return np.asarray(logsumexp(won, axis=1).max(axis=0))",
        "test_bets_start_with_one_piece_of_money_for_all_stakes",
    ),
    _mutant(
        "gap: what lies between two shares is not paid for",
        "return float((np.minimum(margins[:-1], margins[1:]) - bends / 8).min())",
        "return float(np.minimum(margins[:-1], margins[1:]).min())",
        "test_the_least_margin_is_no_more_than_that_of_any_parabola",
    ),
    _mutant(
        "anytime gap: every c has all of the money",
        "money = logsumexp(np.array(won), axis=(0, 2)) - math.log(len(nodes))",
        "money = logsumexp(np.array(won), axis=(0, 2))",
        "test_looks_again_and_again_spend_alpha_once",
    ),
    # -------------------- share error
    _mutant(
        "share error: half of it moves a mean",
        "low, high = max(share - off, 0.0), min(share + off, 1.0)",
        "low, high = max(share - off / 2, 0.0), min(share + off / 2, 1.0)",
        "test_a_mean_moves_as_its_share_does",
    ),
    _mutant(
        "share error: a side of several groups errs as one",
        "return min(count, len(self.shares) - count) * self.error",
        "return self.error",
        "test_the_share_of_several_groups_errs_as_they_do_together_or_as_all_the_others_do",
    ),
    _mutant(
        "share error: a side errs as all its groups, though the others are fewer",
        "return min(count, len(self.shares) - count) * self.error",
        "return count * self.error",
        "test_the_share_of_several_groups_errs_as_they_do_together_or_as_all_the_others_do",
    ),
    _mutant(
        "share error: the band of a gap is half as wide",
        "np.linspace(*band.of(side), (_LONG if everyone else _SQUARE) + 1)",
        "np.linspace(*np.add(band.of(side), band.stated(side)) / 2, _LONG + 1)",
        "test_no_gap_is_believed_if_the_error_is_stated",
    ),
    _mutant(
        "share error: the strip is as narrow as at the best shares",
        "readings.gap.low - levels.max(axis=1), readings.gap.high - levels.min(axis=1)",
        "readings.gap.low - levels.min(axis=1), readings.gap.high - levels.max(axis=1)",
        "test_nothing_between_the_ends_of_a_cell_is_missed_however_large_it_is",
    ),
    # -------------------- anytime
    _mutant(
        "anytime: each side spends all of alpha",
        (
            "won = max(float(bets.log_money(self.counts)) for bets in self.bets(value)) return won - math.log(2 / "
            "self.alpha)"
        ),
        (
            "won = max(float(bets.log_money(self.counts)) for bets in self.bets(value)) return won - math.log(1 / "
            "self.alpha)"
        ),
        "test_each_side_has_half_of_alpha",
    ),
    _mutant(
        "anytime: there is more money than one at the start",
        "np.full(len(near), 0.5 / len(near)))",
        "np.full(len(near), 1.5 / len(near)))",
        "test_a_right_value_is_seldom_rejected_over_all_looks_together",
    ),
    _mutant(
        "anytime: stakes follow the alpha that is asked for",
        "stakes = np.sqrt(2 * math.log(2 / _STAKED_ALPHA) / (sizes * variance))",
        "stakes = np.sqrt(2 * math.log(2 / self.alpha) / (sizes * variance))",
        "test_bets_are_the_same_whatever_alpha_and_answers_are",
    ),
    _mutant(
        "anytime: stakes follow how many answered",
        "sizes, weights = _sizes_and_weights(self.planned)",
        "sizes, weights = _sizes_and_weights(int(self.answers))",
        "test_anytime::test_widths_are_within_five_percent_of_the_reference",
    ),
    # -------------------- plans of noisy counts
    _mutant(
        "plan of sites: the noise is that of one site",
        "noise = noise_of(site, many) if noisy",
        "noise = noise_of(site, 1) if noisy",
        "test_a_plan_is_what_the_estimate_of_such_counts_gives",
    ),
    _mutant(
        "plan of sites: several gaps do not hold together",
        'RateTest(table, rate, self.alpha / counts["pairs"])',
        "RateTest(table, rate, self.alpha)",
        "test_several_groups_hold_together",
    ),
    _mutant(
        "plan of sites: stated shares are not heeded",
        "shares = np.array([float(Fraction(share)) for share in stated] if stated else [1 / groups] * groups)",
        "shares = np.array([1 / groups] * groups)",
        "test_stated_shares_are_reckoned_with",
    ),
    _mutant(
        "plan of sites: reckons with one record a person",
        "self.attribute, self.outcome, plain(epsilon), records=self.records,",
        "self.attribute, self.outcome, plain(epsilon), records=1,",
        "test_sites_send_what_their_plan_reckons_with",
    ),
    _mutant(
        "plan: one site fewer than it takes",
        "return clients if width(epsilon, clients) <= error else clients + 1",
        "return clients - 1",
        "test_any_two_of_sites_epsilon_and_error_give_the_third",
    ),
    _mutant(
        "export: Parquet has the first count of a site alone",
        'column = pa.array([value[0] for value in values] if held.name == "symbol" else values, held.type)',
        "column = pa.array([value[:1] for value in values], held.type)",
        "test_nothing_of_a_site_is_shown_before_the_end_and_never_by_itself",
    ),
    _mutant(
        "options: a study's file says what only sites heed, and nobody notices",
        'self.contributors.check_heeded(said | {f"plan.{name}": value for name, value in self.plan.items()})',
        "self.contributors.check_heeded(said)",
        "test_a_field_of_the_file_changes_something_or_is_refused_by_its_name[devices]",
    ),
    _mutant(
        "options: a plan in Python ignores the file's design",
        'asked = {"designs": [self.design]} | asked',
        "pass",
        "test_python_plans_a_file_as_the_command_does[devices]",
    ),
    _mutant(
        "options: a device's answer ignores what is for sites",
        'request.refuse(("site", "output"), "is for studies of sites only")',
        'request.refuse(("site",), "is for studies of sites only")',
        "test_an_option_that_would_change_nothing_is_refused_by_its_name",
    ),
    _mutant(
        "study: sites are promised a gateway that none of them sends through",
        'for name in ("gateway", "epoch", "release"):',
        'for name in ("epoch", "release"):',
        "test_no_term_hides_what_is_no_secret",
    ),
    _mutant(
        "options: a tally of sites ignores the engine",
        'alone = {"engine": wanted.engine, "symbol-column": wanted.symbol_column, "id-column": wanted.id_column}',
        'alone = {"symbol-column": wanted.symbol_column, "id-column": wanted.id_column}',
        "test_an_option_changes_something_or_is_refused_by_its_name[tally-confusion]",
    ),
    # -------------------- normal
    _mutant(
        "normal: less variance than there could be is believed",
        "math.sqrt(max(seen, least, 0.0) / self.answers)",
        "math.sqrt(max(seen, 0.0) / self.answers)",
        "test_less_variance_than_there_could_be_is_chance",
    ),
    _mutant(
        "normal: a variance below nothing has a root",
        "max(seen, least, 0.0)",
        "max(seen, least)",
        "test_a_score_that_does_not_vary_has_next_to_no_width",
    ),
    # -------------------- fixed
    _mutant(
        "fixed: each side spends all of alpha",
        "left = alpha / 2 - distances(answers, times, _modulus(spread, times), moments)",
        "left = alpha - distances(answers, times, _modulus(spread, times), moments)",
        "test_each_side_misses_at_most_half_as_often_as_allowed",
    ),
    _mutant(
        "fixed: the distance to the normal law is not paid",
        "left = alpha / 2 - distances(answers, times, _modulus(spread, times), moments)",
        "left = alpha / 2 - 0 * distances(answers, times, _modulus(spread, times), moments)",
        "test_each_side_misses_at_most_half_as_often_as_allowed",
    ),
    _mutant(
        "fixed: the smallest variance makes the width",
        "return float((-ndtri(left) * np.sqrt(edges[1:] / answers)).max())",
        "return float((-ndtri(left) * np.sqrt(edges[1:] / answers)).min())",
        "test_many_clients_are_close_to_normal",
    ),
    _mutant(
        "fixed: the fourth moment covers one term of two",
        "moments = ScoreMoments(edges[:-1], edges[1:], third * every, 3 * fourth * every, single)",
        "moments = ScoreMoments(edges[:-1], edges[1:], third * every, fourth * every, single)",
        "test_the_fourth_moment_covers_the_normal_factor_of_a_client_too",
    ),
    # -------------------- chernoff
    _mutant(
        "chernoff: each side spends all of alpha",
        "price = np.log(2 / alpha) / answers",
        "price = np.log(1 / alpha) / answers",
        "test_chernoffs_bound_at_its_width_is_half_of_alpha",
    ),
    # -------------------- chebyshev
    _mutant(
        "chebyshev: the variance counts half",
        "half = float(np.sqrt(spread.variance / (alpha * answers)))",
        "half = float(np.sqrt(spread.variance / (2 * alpha * answers)))",
        "test_chebyshev_is_the_variance_over_alpha",
    ),
    # -------------------- spread
    _mutant(
        "spread: those who abstain are left out",
        "weights[:, of_blocks[d] > self.shares @ of_blocks[:d]] = np.eye(count)[:, [d]]",
        "weights[:, of_blocks[d] > 9 * self.shares @ of_blocks[:d]] = np.eye(count)[:, [d]]",
        "test_variance_is_the_largest_over_all_values",
    ),
    _mutant(
        "spread: values between levels are left out",
        "top: Vector = np.maximum(best, between.max(axis=0))",
        "top: Vector = best",
        "test_cumulant_is_the_largest_over_all_values",
    ),
    # -------------------- levels
    _mutant(
        "levels: a p-value is found below a level that accepts",
        "if not rejected(level): break",
        "if not rejected(level): continue",
        "test_a_test_that_is_not_nested_still_gives_a_p_value",
    ),
    # -------------------- holm
    _mutant(
        "holm: a later gap gets a smaller p-value",
        "least = max(least, 1.0 if p >= 1 else p if place == 0 else p * (m - place) / m)",
        "least = 1.0 if p >= 1 else p if place == 0 else p * (m - place) / m",
        "test_holm_is_never_larger_than_bonferroni_and_keeps_the_order",
    ),
    _mutant(
        "holm: one comparison too few is counted",
        "p * (m - place) / m)",
        "p * (m - place - 1) / m)",
        "test_holm_is_never_larger_than_bonferroni_and_keeps_the_order",
    ),
    # -------------------- p-value
    _mutant(
        "p-value: not shared by the gaps that are compared",
        "return holm(found, len(self.estimands.compared))",
        "return {pair: p / len(self.estimands.compared) for pair, p in found.items()}",
        "test_the_clearest_of_several_gaps_is_as_surprising_as_all_of_them_together_say",
    ),
    # -------------------- gaps
    _mutant(
        "gaps: tests of several pairs each spend all of alpha",
        "part = alpha / len(self.estimands.compared) first, second",
        "part = alpha first, second",
        "test_the_share_has_its_part_of_a_pair_and_pairs_share_alpha",
    ),
    _mutant(
        "gaps: a group that may be empty gets a number",
        "self._there[asked] = ratio, part.value(self.law) > 0 and self.test(part, alpha).margin(0.0) >= 0",
        "self._there[asked] = ratio, part.value(self.law) > 0",
        "test_interval_readers::test_a_share_that_is_not_clearly_above_zero_gives_no_number",
    ),
    _mutant(
        "gaps: what is accepted at once need not be by the whole test",
        "return all(float(self._summed(self._normal(sign * averages, seen, seen)).min()) < z for sign in (1, -1))",
        "return any(float(self._summed(self._normal(sign * averages, seen, seen)).min()) < z for sign in (1, -1))",
        "test_what_is_accepted_at_once_is_accepted_by_the_whole_test",
    ),
    _mutant(
        "gaps: what is accepted at once need not be in the interval",
        "return -_BARELY if self.accepts_at_once(value) else found",
        "return found",
        "test_the_share_that_the_answers_point_to_is_one_of_its_interval",
    ),
    _mutant(
        "answers: rounding takes the factor of means away",
        "if below > above + _ROUNDING or not 0 < mean < 1 - nearest:",
        "if below > above or not 0 < mean < 1 - nearest:",
        "test_means_whose_nearest_ends_decide_have_a_factor_whatever_rounding_does",
    ),
    _mutant(
        "gaps: rounding decides which tail of an estimate is asked",
        "return average if abs(average) > _ROUNDING * float(np.abs(asked.score).max()) else 0.0",
        "return average",
        "test_which_side_of_zero_rounding_falls_on_decides_nothing",
    ),
    _mutant(
        "gaps: a share beyond the band is asked although it is excluded",
        "if least <= told <= most and self.test_of(",
        "if self.test_of(",
        "test_a_gap_is_not_believed_where_the_answers_contradict_the_band",
    ),
    _mutant(
        "document: how many were reckoned to abstain is forgotten",
        "abstaining = None if scores.target.abstaining == ABSTAINING else question.abstaining",
        "abstaining = None",
        "test_the_document_says_with_how_many_it_reckons",
    ),
    # -------------------- honesty
    _mutant(
        "honesty: bets are not paid for",
        "following.sum(axis=1) * _log_price(ratio, rows)",
        "0 * following.sum(axis=1) * _log_price(ratio, rows)",
        "test_bets_are_fair_however_badly_the_nearest_mixture_is_found",
    ),
    _mutant(
        "honesty: the answers that are bet on are learnt from",
        "before = parts.cumsum(axis=1)[:, :-1].reshape(-1, symbols)",
        "before = parts.cumsum(axis=1)[:, 1:].reshape(-1, symbols)",
        "test_honest_counts_are_not_suspicious",
    ),
    _mutant(
        "honesty: the price is the average and not the most",
        "np.log((ratio @ rows.T).max(axis=1))",
        "np.log((ratio @ rows.T).mean(axis=1))",
        "test_honest_counts_are_not_suspicious",
    ),
    _mutant(
        "honesty: forged counts are not suspicious",
        "SUSPICIOUS = 1e-3",
        "SUSPICIOUS = 1e-30",
        "test_everyone_sending_one_symbol_is_caught",
    ),
    # -------------------- sensitivity
    _mutant(
        "sensitivity: forgers spread over all questions",
        "moved, size = forging(under, forged / part), float(ratio.under @ law)",
        "moved, size = forging(under, forged), float(ratio.under @ law); part = 1.0",
        "test_forgers_may_all_pick_the_same_question",
    ),
    _mutant(
        "sensitivity: forged answers are added, and overwrite nothing",
        "return part * float(score.max() - score.min())",
        "return part * float(np.abs(score).max())",
        "test_forging_really_exceeds_what_dilution_would_do",
    ),
    _mutant(
        "sensitivity: forgers do not move what is divided by",
        "sizes.append((1 / (size - moved), 1 / (size + moved)))",
        "sizes.append((1 / size, 1 / size))",
        "test_the_bound_holds_for_forgers_who_search",
    ),
    _mutant(
        "sensitivity: an answer to another table moves nothing",
        "elsewhere = [] if part == 1 else [0.0]",
        "elsewhere: list[float] = []",
        "test_forgers_may_move_answers_between_tables",
    ),
    _mutant(
        "sensitivity: a share is wrong by half as much",
        "_STEP = 0.01\n_LEAST_SHARE",
        "_STEP = 0.005\n_LEAST_SHARE",
        "test_a_wrong_share_moves_the_gap_no_further_than_it_says",
    ),
    _mutant(
        "sensitivity: a mean is off by u / p, and not by p / (p - u)",
        "really = [self.share / max(self.share + off, _LEAST_SHARE) for off in (less, 0.0, more)]",
        "really = [1 - off / self.share for off in (less, 0.0, more)]",
        "test_with_three_groups_two_shares_may_be_wrong_in_the_worst_direction",
    ),
    _mutant(
        "sensitivity: of three groups one share is wrong",
        "return sum(away * max(map(abs, line)) for line, away in lines)",
        "return max(away * max(map(abs, line)) for line, away in lines)",
        "test_with_three_groups_two_shares_may_be_wrong_in_the_worst_direction",
    ),
    _mutant(
        "sensitivity: a score's constant moves a gap by nothing",
        "return (min(true) - self.constant) / self.share, (max(true) - self.constant) / self.share",
        "return min(true) / self.share, max(true) / self.share",
        "test_where_means_are_not_told_they_may_be_far_from_a_scores_constant_too",
    ),
    # -------------------- who answers
    _mutant(
        "response: stated shares are not compared with",
        "low, high = _odds(share.low) / most, _odds(share.high) / least",
        "low, high = _odds(share.low), _odds(share.high)",
        "test_groups_answer_as_often_as_they_did",
    ),
    _mutant(
        "response: what a share may be off by narrows it",
        "return _over(first - off, second + other), _over(first + off, second - other)",
        "return _over(first + off, second - other), _over(first - off, second + other)",
        "test_shares_that_may_be_off_widen_it",
    ),
    _mutant(
        "response: comparisons hold each by itself",
        "share = free.ratio(among, alpha / len(free.estimands.compared))",
        "share = free.ratio(among, alpha)",
        "test_all_comparisons_hold_together",
    ),
    _mutant(
        "response: shares that are taken as known decide how often groups answered",
        "replace(reader.estimands, shares=None)",
        "replace(reader.estimands, expect=None)",
        "test_where_all_are_taken_to_answer_alike_it_is_a_check_of_that",
    ),
    _mutant(
        "answering: the band is ignored where the split is estimated",
        "return max(low, least), min(high, most)",
        "return low, high",
        "test_what_is_known_beforehand_narrows_the_interval",
    ),
    _mutant(
        "answering: the band is doubled",
        "return _share(low / self.ratio), _share(high * self.ratio)",
        "return _share(low / (2 * self.ratio - 1)), _share(high * (2 * self.ratio - 1))",
        "test_a_split_is_in_the_band_exactly_if_rates_differ_by_no_more",
    ),
    _mutant(
        "answering: the band is ignored where scores rely on stated shares",
        "return self.shares is not None and self.band.point",
        "return self.shares is not None",
        "test_scores_that_rely_on_shares_hold_for_every_split_in_the_band_and_no_other",
    ),
    _mutant(
        "answering: a split that contradicts the study is not noticed",
        "if low > most or high < least:",
        "if False:",
        "test_answers_that_contradict_the_study_tell_nothing",
    ),
    _mutant(
        "answering: a finding does not say which ratio it rests on",
        "if not question.whoever_answers or question.attribute.answering == ANY:",
        "if question.attribute.ratio > 1:",
        "test_all_sentences_start_with_the_verdict",
    ),
    _mutant(
        "answering: auto never estimates a split that is known",
        "return varies < scores.variance(known)",
        "return False",
        "test_a_known_split_gets_the_better_table_where_nothing_is_expected",
    ),
    _mutant(
        "tipping: half of the factor is enough",
        "return max((1 + nearest) / (1 - nearest), ((steps",
        "return max(1 + 4 * nearest / (1 - nearest), ((steps",
        "test_it_is_in_the_metrics_own_units_and_for_either_sign",
    ),
    _mutant(
        "tipping: a spread counts double",
        "math.sqrt(steps**2 + 4)) / 2) ** 2",
        "math.sqrt(steps**2 + 4)) / 2) ** 4",
        "test_it_is_in_the_metrics_own_units_and_for_either_sign",
    ),
    _mutant(
        "tipping: it is rounded up",
        'return Numeral(f"{exact.quantize(Decimal(1).scaleb(-places), rounding=ROUND_FLOOR):,}")',
        'return Numeral(f"{exact.quantize(Decimal(1).scaleb(-places)):,}")',
        "test_the_tipping_factor_is_rounded_down",
    ),
    _mutant(
        "tipping: the two values of the worst law may leave the range",
        "odds = min(max(1 / factor, (spread / mean) ** 2), ((1 - mean) / spread) ** 2)",
        "odds = 1 / factor",
        "test_means_are_as_far_off_as_a_linear_program_finds",
    ),
    _mutant(
        "strata: they are weighed by how many answered",
        "weights = np.array([float(part.stratum.share) for part in parts])",
        "weights = answers / answers.sum()",
        "test_strata_are_weighed_by_the_people_and_not_by_the_answers",
    ),
    _mutant(
        "strata: all have the degrees of freedom of one",
        "limit = float(chdtri(len(readers), alpha))",
        "limit = float(chdtri(1, alpha))",
        "test_an_interval_is_as_wide_as_chi_square_says",
    ),
    _mutant(
        "strata: what a weighed gap is about is not said",
        "warnings = (_about(parts), _effect(",
        "warnings = (_effect(",
        "test_what_it_is_about_and_the_design_effect_are_said",
    ),
    _mutant(
        "strata: the design effect is that of the answers' shares",
        "float(np.sum(weights**2 / (answers / answers.sum())))",
        "float(np.sum(weights * (answers / answers.sum())))",
        "test_what_it_is_about_and_the_design_effect_are_said",
    ),
    _mutant(
        "strata: the study of one does not say that it is about one alone",
        'return [] if part is None else [Sentence.of("strata.alone", of=part.of, name=part.name, share=',
        'return [] if part is None else [][:0] and [Sentence.of("strata.alone", of=part.of, name=part.name, share=',
        "test_a_study_of_one_stratum_says_that_it_is_about_no_others_and_so_does_its_report",
    ),
    _mutant(
        "strata: one that is missing is not noticed",
        "if total != 1:",
        "if total > 1:",
        "test_what_are_no_strata_of_the_same_people_is_refused",
    ),
    _mutant(
        "strata: one whose answers tell nothing has no gap",
        "except CannotEstimate: return Interval(0.0, -2.0, 2.0)",
        "except CannotEstimate: return Interval(0.0, 0.0, 0.0)",
        "test_a_stratum_whose_answers_tell_nothing_leaves_its_whole_range_open",
    ),
    _mutant(
        "strata: forged counts have a part in the sum",
        "if all(each.fit is None or each.fit >= IMPOSSIBLE for each in alone):",
        "if all(each.fit is None or each.fit >= 0 for each in alone):",
        "test_counts_that_honest_answers_do_not_give_have_no_part_in_a_sum",
    ),
    _mutant(
        "strata: forgers answer in all of them alike",
        "{}, part=reader.answers / total)",
        "{}, part=1.0)",
        "test_forgers_do_most_in_the_stratum_that_weighs_most_for_its_answers",
    ),
    _mutant(
        "estimate: an impossible tally has a verdict",
        "if fit < IMPOSSIBLE:",
        "if fit < 0:",
        "test_no_place_has_a_verdict",
    ),
    _mutant(
        "estimate: a document's estimate lies outside of its interval",
        'return {"estimate": interval.nearest, "low": interval.low, "high": interval.high}',
        'return {"estimate": interval.estimate, "low": interval.low, "high": interval.high}',
        "test_in_a_document_the_estimate_is_in_its_interval",
    ),
    _mutant(
        "estimate: means that contradict the gap are told",
        "return any(gap.high < a.low - b.high or gap.low > a.high - b.low for gap, a, b in told)",
        "return False",
        "test_means_that_contradict_the_gap_are_not_told_and_that_is_said",
    ),
    _mutant(
        "report: a sealed study with another interval than its seal's",
        "if value != sealed.estimate.get(name):",
        "if value is None:",
        "test_a_report_tells_of_its_seal_and_of_no_other",
    ),
    _mutant(
        "pages: a study that is over shows another interval than its seal",
        "interval = DEFAULT if now.over else live_kind(study)",
        "interval = live_kind(study)",
        "test_a_sealed_study_shows_the_interval_of_its_seal_everywhere",
    ),
    # -------------------- audit
    _mutant(
        "audit: the half that was searched is measured",
        "measured = [cells.counts([column[half:size] for column in outputs]) for outputs in columns]",
        "measured = [cells.counts([column[:half] for column in outputs]) for outputs in columns]",
        "test_the_searched_half_is_not_measured",
    ),
    _mutant(
        "audit: each bound spends all of alpha",
        "low = np.where(likely > 0, betaincinv(likely, samples - likely + 1, alpha / 2), 0.0)",
        "low = np.where(likely > 0, betaincinv(likely, samples - likely + 1, alpha), 0.0)",
        "test_bound_is_that_of_clopper_and_pearson",
    ),
    _mutant(
        "audit: bounds of several questions do not share alpha",
        "each = 1 - (1 - confidence) / len(pairs)",
        "each = confidence",
        "test_every_question_is_audited_and_all_bounds_hold_together",
    ),
    _mutant(
        "audit: a leak above what is declared is not caught",
        "return self.finding.epsilon > self.declared",
        "return self.finding.epsilon > 2 * self.declared",
        "test_a_client_that_sometimes_tells_the_truth_is_caught",
    ),
    # -------------------- the storm
    _mutant(
        "storm: a newcomer makes room for those who wait for their turn",
        "oldest = next((one for one in self.asked if not one.cycle.response_started), oldest)",
        "oldest = next((one for one in self.asked if one.cycle is None), oldest)",
        "test_those_who_wait_for_their_turn_make_room_for_a_newcomer",
    ),
    _mutant(
        "storm: whoever is being sent something makes room for a newcomer",
        "oldest = next((one for one in self.asked if not one.cycle.response_started), oldest)",
        "oldest = next((one for one in self.asked if one.cycle), oldest)",
        "test_those_who_wait_for_their_turn_make_room_for_a_newcomer",
    ),
    _mutant(
        "verify: numbers without the seal that the record has of their study pass",
        'outcome: Outcome = "open" if self.sealed_numbers is None else "broken"',
        'outcome: Outcome = "open"',
        "test_verify_says_whether_a_seal_is_in_the_record",
    ),
    _mutant(
        "record: one that became shorter is written on",
        "if os.fstat(file.fileno()).st_size < self.bytes:",
        "if os.fstat(file.fileno()).st_size < 0:",
        "test_a_record_that_became_shorter_while_it_was_used_is_not_written_to",
    ),
    _mutant(
        "record: batches that others released are not learnt",
        "for batch in range(self.released(study), batches):",
        "for batch in range(self.released(study), 0):",
        "test_an_old_record_learns_from_the_store_what_was_let_go",
    ),
    _mutant(
        "verify: a record by a stranger confirms a seal",
        "elif not given and self._seal is not None and line.key != self._seal.key:",
        "elif not given and self._seal is not None and line.key == '':",
        "test_verify_says_whether_a_seal_is_in_the_record",
    ),
    _mutant(
        "storm: a request may have any number of headers",
        "or self._headers > _MOST_HEADERS:",
        "or self._headers > 100 * _MOST_HEADERS:",
        "test_headers_have_a_largest_number_and_the_rest_is_not_parsed",
    ),
    _mutant(
        "storm: headers are not among what connections hold together",
        "return bodies + begun + sum(self._weights) + self.transport.get_write_buffer_size()",
        "return bodies + self.transport.get_write_buffer_size()",
        "test_headers_and_addresses_of_all_connections_have_a_largest_size_together",
    ),
    _mutant(
        "storm: responses that nobody reads are not among what connections hold together",
        "return bodies + begun + sum(self._weights) + self.transport.get_write_buffer_size()",
        "return bodies + begun + sum(self._weights)",
        "test_responses_that_nobody_reads_are_held_bytes",
    ),
    _mutant(
        "storm: a connection that is cut off holds on to its requests",
        "self._refused = True self._let_go() self.transport.abort()",
        "self._refused = True self.transport.abort()",
        "test_what_a_connection_held_is_let_go_when_it_is_cut_off",
    ),
    _mutant(
        "storm: thousands of requests begin in one round of the event loop",
        "await asyncio.sleep(max(0.0, self._next - now) if now - self._answered < _CALM_SECONDS else 0)",
        "pass",
        "test_requests_begin_one_by_one_and_all_that_is_ready_goes_first",
        "test_an_answer_does_not_wait_for_a_thousand_other_requests",
    ),
    _mutant(
        "storm: as many threads work for strangers as they ask for",
        "turn = self._strangers if asker.kind == STRANGER else self._others",
        "turn = asyncio.Lock()",
        "test_strangers_have_one_thread_among_them_and_nobody_else_waits_for_it",
    ),
    _mutant(
        "storm: an operator waits behind strangers",
        "turn = self._strangers if asker.kind == STRANGER else self._others",
        "turn = self._strangers",
        "test_strangers_have_one_thread_among_them_and_nobody_else_waits_for_it",
    ),
    _mutant(
        "storm: one thing for a stranger follows the other without a rest",
        "rest = self._lane.rest(began) if asker.kind == STRANGER else 0",
        "rest = 0",
        "test_after_a_stranger_s_work_the_next_begins_late_while_devices_answer",
    ),
    _mutant(
        "storm: reports are made in as many threads as there are readers",
        "return await collector.desk.work(made, asker_of(request))",
        "return await asyncio.to_thread(made)",
        "test_what_strangers_ask_for_is_made_one_by_one",
    ),
    _mutant(
        "storm: pages are made in as many threads as there are readers",
        "return await pages.desk.work(shown, asker_of(request))",
        "return await asyncio.to_thread(shown)",
        "test_what_strangers_ask_for_is_made_one_by_one",
    ),
    _mutant(
        "storm: pages may be asked for as often as the collector can make them, beside answers",
        "await asyncio.sleep(max(0.0, self._next - now) if now - self._answered < _CALM_SECONDS else 0)",
        "await asyncio.sleep(0)",
        "test_requests_without_end_leave_most_of_the_time_to_answers",
    ),
    _mutant(
        "storm: every stranger has a hundred looks into the store for a list of studies",
        "if not 0 <= now - when < _LISTED_SECONDS:",
        "if now:",
        "test_the_list_for_strangers_is_looked_up_once_a_second",
    ),
    _mutant(
        "storm: a list of studies is written while answers wait",
        "return await pages.desk.work(listed, asker_of(request))",
        "return listed()",
        "test_what_strangers_ask_for_is_made_one_by_one",
    ),
    _mutant(
        "storm: whoever leaves makes room for another thread",
        "return await asyncio.shield(work)",
        "return await work",
        "test_whoever_leaves_makes_no_room_for_another_thread",
    ),
    _mutant(
        "storm: results that nobody watches any more are looked up for ever",
        "while watch.listeners: started",
        "while True: started",
        "test_when_nobody_listens_nobody_asks",
    ),
    _mutant(
        "storm: whoever watches has results looked up anew",
        "watch = self._watches.get(entry.digest) if watch is None:",
        "watch = None if watch is None:",
        "test_a_hundred_listeners_share_one_poll",
    ),
    _mutant(
        "storm: what nobody waits for any more is made all the same",
        "if GONE in asker.scope: turn.release()",
        "if GONE in asker.kind: turn.release()",
        "test_what_nobody_waits_for_any_more_is_not_made",
    ),
    _mutant(
        "storm: what is the same for everyone is free of charge",
        'await collector_of(request).turnstile.slow("free", _FREE_SECONDS)',
        "collector_of(request)",
        "test_nonsense_without_end_is_answered_late_and_good_answers_at_once",
    ),
    _mutant(
        "storm: a request whose sender has left is worked on",
        "if GONE in scope:",
        "if GONE in scope and scope is None:",
        "test_a_request_whose_sender_has_left_is_not_begun",
    ),
    _mutant(
        "storm: listeners beyond the places begin",
        'self._places = Slots("listeners", collector.config.limits.listeners)',
        'self._places = Slots("listeners", 10 * collector.config.limits.listeners)',
        "test_whoever_comes_when_all_places_are_taken_is_told_before_anything_is_sent",
    ),
    _mutant(
        "storm: a change that a kill left half done keeps everyone from looking",
        'if path.with_name(f"{path.name}-journal").exists(): _undo(path)',
        'if path.with_name(f"{path.name}-journal").is_dir(): _undo(path)',
        "test_a_change_that_a_kill_left_half_done_is_undone_by_whoever_looks",
    ),
    _mutant(
        "storm: a live page is not told that its connection is gone",
        "is the one that uvicorn tells self.cycle = self._cycles[0]",
        "is the one that uvicorn tells pass",
        "test_who_waits_for_the_other_side_to_go_is_told_also_behind_another_request",
    ),
    _mutant(
        "storm: a store is locked by its name alone",
        "if make or path.exists():",
        "if make and not path.exists():",
        "test_a_second_name_of_the_file_lets_no_second_collector_in",
    ),
    _mutant(
        "storm: a file that has another name is used",
        "if os.fstat(self._held[-1]).st_nlink > 1:",
        "if os.fstat(self._held[-1]).st_nlink > 2:",
        "test_a_second_name_of_the_file_lets_no_second_collector_in",
    ),
    _mutant(
        "storm: guesses of tokens are answered at once",
        'await collector.turnstile.turn("refused", PATIENCE) raise NoToken(',
        "raise NoToken(",
        "test_guesses_wait_in_one_line_and_good_tokens_do_not",
    ),
    _mutant(
        "storm: an empty file, or another program's, is put in place of a store",
        'if original.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:',
        'if original.execute("PRAGMA application_id").fetchone()[0] not in (0, APPLICATION_ID):',
        "test_an_empty_file_is_not_restored",
    ),
    _mutant(
        "storm: what a killed copy left is emptied, though it may be a whole copy by another name",
        "# Another file, not this one emptied: it may be a finished copy, whose maker was killed before it let go. "
        "_remove(path, _BESIDE) left, handle = handle, os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | "
        "os.O_CLOEXEC, 0o600)",
        "left, handle = handle, os.open(path, os.O_CREAT | os.O_TRUNC | os.O_RDWR | os.O_CLOEXEC, 0o600)",
        "test_what_a_killed_copy_left_is_removed_and_a_copy_is_its_owners_from_the_first_byte_on",
    ),
    _mutant(
        "storm: who sees results changes after people were told",
        "if on != terms:",
        "if on.admission != terms.admission:",
        "test_terms_are_checked_and_do_not_change",
    ),
    _mutant(
        "storm: a copy that is being made is for everyone",
        "left, handle = handle, os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)",
        "left, handle = handle, os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o644)",
        "test_what_a_killed_copy_left_is_removed_and_a_copy_is_its_owners_from_the_first_byte_on",
    ),
    _mutant(
        "storm: a clock that is wrong at the start removes answers",
        "self._began, self._away = now, bool(latest) and now - latest > DAY",
        "self._began, self._away = now, False",
        "test_nothing_goes_while_what_is_stored_is_later_than_the_clock",
    ),
    _mutant(
        "record: a study is sealed once more with other answers",
        "raise RecordContradicted( "
        'f"This study was sealed with other answers: it closed {known.at}. It has one seal." )',
        "self._sync()",
        "test_what_contradicts_a_line_is_refused_and_the_same_again_is_fine",
    ),
    _mutant(
        "record: a batch is released once more with other counts",
        'raise RecordContradicted( "A batch of this study was released with other counts: it is not released again." )',
        "self._sync()",
        "test_what_contradicts_a_line_is_refused_and_the_same_again_is_fine",
    ),
    _mutant(
        "record: a sealed study is open again in an old copy",
        "if kept.digest in record.seals: return True",
        "if kept.digest in record.seals: return False",
        "test_an_old_copy_opens_no_sealed_study_and_seals_none_again",
    ),
    _mutant(
        "record: a line may be left out",
        "if ( line.before != self._head or",
        "if (",
        "test_a_record_that_was_changed_is_not_read",
    ),
    _mutant(
        "record: a line is not put on the disk",
        "os.fsync(handle) except OSError:",
        "pass except OSError:",
        "test_nothing_is_seen_before_its_line_is_on_the_disk",
    ),
    _mutant(
        "record: a batch is seen without a line",
        "yield lambda: self.note(digest, first, dict(rows))",
        "yield lambda: None",
        "test_a_batch_is_not_released_again_with_one_answer_more_or_less",
    ),
    _mutant(
        "record: a seal is seen before its line",
        "await asyncio.to_thread(self.recorded.seal, digest, seal.digest, seal.closed)",
        "pass",
        "test_nothing_is_seen_before_its_line_is_on_the_disk",
    ),
    _mutant(
        "record: a study that was removed is published again",
        "return study in self.seals or study in self.batches",
        "return False",
        "test_a_study_that_was_removed_is_not_published_again",
    ),
    _mutant(
        "record: a new store is made beside the secrets of another",
        "if before and not new and",
        "if new and",
        "test_a_new_store_beside_secrets_of_another_is_refused_unless_it_is_meant",
    ),
    _mutant(
        "record: later seals say nothing of a record that was lost",
        "seal = await seal_of(self.store, study, kept, recorded=self.recorded.since)",
        "seal = await seal_of(self.store, study, kept)",
        "test_a_store_whose_record_is_lost_is_adopted_and_every_later_seal_says_so",
    ),
    _mutant(
        "verify: another seal in the record is good",
        "elif line.digest != seal.digest:",
        "elif not line.digest:",
        "test_verify_says_whether_a_seal_is_in_the_record",
    ),
    _mutant(
        "storm: what is removed stays in SQLite's log",
        "if await self._write(_empty_log):",
        "if True:",
        "test_what_is_removed_is_in_no_file_any_more",
    ),
    _mutant(
        "storm: what is removed stays in PostgreSQL's files",
        'await connection.execute(f"VACUUM (FULL) {table}", timeout=_LONG_SECONDS)',
        'await connection.execute(f"VACUUM {table}", timeout=_LONG_SECONDS)',
        "test_what_is_removed_is_in_no_file_any_more",
    ),
    _mutant(
        "storm: a document is shown on when another process removed the study",
        "if found is None or now - found.looked > _SHOWN_SECONDS:",
        "if found is None:",
        "test_a_study_that_another_process_deleted_is_gone",
    ),
    _mutant(
        "record: a key whose record and store are lost is new",
        "return not (folder / FILE).exists()",
        "return False",
        "test_a_key_without_record_and_store_is_no_new_collector_unless_that_is_meant",
    ),
    _mutant(
        "storm: the collector is ready while answers do not fit",
        "if self.intake.failure is not None and now - self.intake.failed < _FAILED_SECONDS:",
        "if self.intake.failure is not None and now < 0:",
        "test_a_store_that_cannot_commit_makes_the_collector_not_ready",
    ),
    _mutant(
        "storm: a full disk is damage",
        "if code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB): return _damaged(path, name) return",
        "return _damaged(path, name) return",
        "test_a_full_disk_is_no_damage",
    ),
    _mutant(
        "storm: workers that are killed end all",
        "elif (worker.process.exitcode or 0) < 0: # by a signal",
        "elif False: # by a signal",
        "test_workers_share_a_port_and_one_that_dies_is_replaced",
    ),
    _mutant(
        "storm: names may hold what cannot be seen",
        "or _HIDDEN.search(value)):",
        "):",
        "test_a_name_has_nothing_that_cannot_be_seen",
    ),
    _mutant(
        "storm: groups may look alike",
        "if (looks := looks_of(group)) in seen:",
        "if (looks := group) in seen:",
        "test_groups_that_look_alike_are_refused",
    ),
    _mutant(
        "storm: tickets are made for a study that is open",
        'if is_there and asyncio.run(_admission(store, study)) == "open":',
        'if is_there and asyncio.run(_admission(store, study)) == "never":',
        "test_an_open_study_gets_no_tickets",
    ),
    _mutant(
        "storm: a change of mode of the tokens is not noticed",
        "now = (found.st_ino, found.st_mtime_ns, found.st_size, found.st_ctime_ns)",
        "now = (found.st_ino, found.st_mtime_ns, found.st_size, 0)",
        "test_a_change_of_mode_is_noticed_at_once",
    ),
    _mutant(
        "storm: a ledger that others can write is used",
        'if os.name == "posix" and found.st_mode & 0o022:',
        'if os.name == "posix" and found.st_mode & 0o020000:',
        "test_one_that_others_can_write_is_not_used",
    ),
    _mutant(
        "verify: numbers that no seal covers hold, with a key",
        "if self.by or not (self._signatures.keys or self._signatures.strict):",
        "if self.by or not self._signatures.strict:",
        "test_numbers_that_somebody_made_up_are_not_called_sealed",
    ),
    _mutant(
        "verify: a genuine seal vouches for any key that stands beside it",
        "elif keys and sealed.key not in keys:",
        "elif keys and not sealed.key:",
        "test_a_genuine_signature_does_not_vouch_for_another_key",
    ),
    _mutant(
        "verify: a study's genuine signature vouches for any key that stands beside it",
        "elif piece is not None and named not in (None, *keys):",
        "elif piece is not None and named == str():",
        "test_nor_does_that_of_a_study",
    ),
    _mutant(
        "verify: a report may have another interval than the seal",
        "if value != (sealed := self._seal.estimate.get(what)):",
        "if not (sealed := self._seal.estimate.get(what)):",
        "test_what_is_sealed_has_one_interval",
    ),
    _mutant(
        "verify: whoever passes a seal on picks its confidence",
        "**({} if same else terms)",
        "**terms",
        "test_what_is_sealed_has_one_interval",
    ),
    _mutant(
        "verify: a seal's sentences pass because they say that another version wrote them",
        'self._say("words", "open", f"The sentences in',
        'self._say("seal", "open", f"The sentences in',
        "test_sentences_of_a_seal_that_were_not_compared_are_no_verification",
    ),
    _mutant(
        "verify: a seal may say a thing twice",
        "document = json.loads(data, object_pairs_hook=once(InvalidInput))",
        "document = json.loads(data)",
        "test_a_seal_says_each_thing_once_and_nothing_else",
    ),
    _mutant(
        "verify: a seal may say more than it has fields for",
        'members(document, "seal", "key", "signature", "estimate", "version", error=InvalidInput)',
        "pass",
        "test_a_seal_says_each_thing_once_and_nothing_else",
    ),
    _mutant(
        "verify: invented sums of products pass beside a genuine seal",
        "if wanted and wanted != self._study.products(",
        "if not wanted and wanted != self._study.products(",
        "test_sums_of_products_that_no_seal_has_are_made_again_or_broken",
    ),
    _mutant(
        "verify: sums of products pass where nobody can make them again",
        'if self._tally.products and "export" not in self._pieces:',
        'if not self._tally.products and "export" not in self._pieces:',
        "test_sums_of_products_that_no_seal_has_are_made_again_or_broken",
    ),
    _mutant(
        "record: a line may be written in another way than it was signed",
        "if line.to_bytes() != raw:",
        "if not raw:",
        "test_a_record_that_was_changed_is_not_read",
    ),
    _mutant(
        "verify: a forged seal is called sealed",
        'return bool(self.by) and not any(check.outcome == "broken" for check in self.checks)',
        "return bool(self._seal)",
        "test_a_collector_that_changed_its_key_has_two",
    ),
    # -------------------- sites
    _mutant(
        "sites: a rate's interval spends alpha twice",
        (
            "return math.log(self._left / 2) - math.log(max(float(chances.max()), _NEVER)) def limit(self, value: "
            'float) -> float: """Return about how far from the estimate rates'
        ),
        (
            "return math.log(self._left) - math.log(max(float(chances.max()), _NEVER)) def limit(self, value: "
            'float) -> float: """Return about how far from the estimate rates'
        ),
        "test_intervals_are_as_wide_as_their_confidence_needs",
    ),
    _mutant(
        "sites: the noise of cells is half of what it is",
        "logs = logs + cells * noise.log_transform(",
        "logs = logs + cells / 2 * noise.log_transform(",
        "test_no_tail_is_larger_than_its_bound",
    ),
    _mutant(
        "sites: records of one person count as people",
        "return np.asarray((self.people / self.copies)[:, None] * found)",
        "return np.asarray(self.people[:, None] * found)",
        "test_records_of_one_person_move_together",
    ),
    _mutant(
        "sites: Chernoff's bound of the noise spends alpha twice",
        "return float(((parts * growth + math.log(2 / alpha)) / tilts).min())",
        "return float(((parts * growth + math.log(1 / alpha)) / tilts).min())",
        "test_the_reach_of_noise_has_half_of_alpha_on_either_side",
    ),
    _mutant(
        "sites: the likeliest number of people is left out",
        (
            "chances = tails((part,), self.table.noise, np.full(3, float(self.rate.sum(self.table.counts, "
            "value)))) return math.log(self._left / 2) - math.log(max(float(chances.max()), _NEVER))"
        ),
        (
            "chances = tails((part,), self.table.noise, np.full(3, float(self.rate.sum(self.table.counts, "
            "value)))) return math.log(self._left / 2) - math.log(max(float(chances.min()), _NEVER))"
        ),
        "test_intervals_are_as_wide_as_their_confidence_needs",
    ),
    # -------------------- signature
    _mutant(
        "signature: purposes are not told apart",
        'return f"fairgauge {purpose} 1\\n".encode() + data',
        'return b"fairgauge 1\\n" + data',
        "test_signatures_are_for_one_purpose_key_and_text",
    ),
    # -------------------- verify
    _mutant(
        "verify: a signature by any of no keys is good",
        "return any(signature_is_good(key, purpose, data, signature) for key in keys)",
        "return all(signature_is_good(key, purpose, data, signature) for key in keys[1:])",
        "test_a_forged_seal_is_caught_however_it_is_signed",
    ),
    _mutant(
        "verify: a report that differs in its words is the same",
        "if again == page:",
        "if len(again) == len(page):",
        "test_last_digits_may_differ_and_no_others",
    ),
    _mutant(
        "verify: the tally of a report is not compared",
        "if stated.tally != digest:",
        "if False:",
        "test_a_swapped_tally_is_caught_by_seal_and_report",
    ),
    _mutant(
        "verify: exits 0 where something is broken",
        "raise typer.Exit(status)",
        "raise typer.Exit(0)",
        "test_a_study_that_lies_exits_with_1",
    ),
    # -------------------- secrets
    _mutant(
        "secrets: one that its group may read is used",
        "if mode & 0o077:",
        "if mode & 0o007:",
        "test_a_secret_that_a_group_or_others_may_touch_is_not_used",
    ),
    _mutant(
        "secrets: a folder that others may enter is made",
        (
            "folder.mkdir(mode=0o700, parents=True, exist_ok=True) handle, temporary = "
            'tempfile.mkstemp(dir=folder, prefix=f".{name}.") # made with mode 600'
        ),
        (
            "folder.mkdir(parents=True, exist_ok=True) handle, temporary = tempfile.mkstemp(dir=folder, "
            'prefix=f".{name}.") # made with mode 600'
        ),
        "test_a_folder_that_is_made_for_secrets_is_its_owners",
    ),
    _mutant(
        "secrets: a power cut may leave an empty one",
        "file.write(data) file.flush() os.fsync(file.fileno())",
        "file.write(data)",
        "test_a_secret_has_its_name_when_it_is_on_the_disk",
    ),
    _mutant(
        "secrets: a power cut may leave an empty key",
        "file.write(os.urandom(size)) file.flush() os.fsync(file.fileno())",
        "file.write(os.urandom(size))",
        "test_a_secret_has_its_name_when_it_is_on_the_disk",
    ),
    _mutant(
        "secrets: a key that is too short is used",
        "if len(found) != size:",
        "if len(found) > size:",
        "test_a_key_of_another_length_is_not_used",
    ),
    # -------------------- intake
    _mutant(
        "intake: an answer is acknowledged before it is stored",
        "stored = await self._store.add(rows if unique is None else list(unique.values()), self._bucket())",
        "stored = [FRESH] * len(rows if unique is None else unique)",
        "test_answers_that_wait_together_are_committed_together",
    ),
    _mutant(
        "intake: the last of two equal ids counts",
        "unique.setdefault(row[:2], row)",
        "unique[row[:2]] = row",
        "test_of_two_answers_with_one_id_within_a_group_the_first_counts",
    ),
    _mutant(
        "intake: an id that comes twice in a group is new twice",
        "if found[key] == FRESH: found[key] = unique[key][2]",
        "if found[key] == FRESH: pass",
        "test_the_same_id_within_a_group_counts_once",
    ),
    _mutant(
        "intake: a failed commit is acknowledged",
        "if not done.done():  # the rest of a batch is not tried\n done.set_exception(reason)",
        "if not done.done():  # the rest of a batch is not tried\n done.set_result([FRESH])",
        "test_a_failed_commit_tells_everyone_and_the_next_may_succeed",
    ),
    # -------------------- rates
    _mutant(
        "rates: what is asked for costs nothing",
        "self._level -= count return 0.0",
        "return 0.0",
        "test_whoever_waits_too_long_is_refused",
    ),
    _mutant(
        "rates: a burst is ten times as long",
        "_BURST_SECONDS = 10.0",
        "_BURST_SECONDS = 100.0",
        "test_ten_seconds_worth_may_come_at_once_and_no_more",
    ),
    # -------------------- hourly
    _mutant(
        "hourly: answers that wait do not count",
        "hour.used += count hour.waiting += count",
        "hour.waiting += count",
        "test_beyond_its_number_it_refuses_until_the_next_hour",
    ),
    # -------------------- retention
    _mutant(
        "retention: answers are kept a day longer",
        "return days is not None and now >= kept.closed + days * DAY",
        "return days is not None and now >= kept.closed + (days + 1) * DAY",
        "test_answers_go_when_their_time_is_over_and_the_seal_stays",
    ),
    _mutant(
        "retention: removes answers though the clock is behind",
        "if latest > now: return self._wait",
        "if False: return self._wait",
        "test_nothing_goes_while_what_is_stored_is_later_than_the_clock",
    ),
    # -------------------- logs
    _mutant(
        "logs: time is kept to the second",
        "return int(now // seconds) * seconds",
        "return int(now)",
        "test_all_of_an_hour_is_its_first_second",
    ),
    # -------------------- gate
    _mutant(
        "gate: a token's signature is not checked",
        "self._public.verify(token[-SIGNATURE:], message, _PADDING, SHA384())",
        "self._public.key_size",
        "test_a_gate_is_that_of_its_study",
    ),
    # -------------------- inclusion
    _mutant(
        "inclusion: a leaf is hashed as a bucket is",
        'return sha256(b"\\0" + line).digest()',
        'return sha256(b"\\1" + line).digest()',
        "test_leaves_buckets_and_pairs_are_hashed_apart_as_every_client_does",
    ),
    _mutant(
        "inclusion: a collector decides how many bits of an id it hears",
        "told = min(depth, depth_of(known))",
        "told = depth",
        "test_a_collector_that_says_a_false_number_hears_no_more_of_an_id_than_the_batch_allows",
    ),
    # -------------------- issuer
    _mutant(
        "issuer: its book may forget an exchange in a power cut",
        'self._file.execute("PRAGMA synchronous = EXTRA") # a commit',
        'self._file.execute("PRAGMA synchronous = OFF") # a commit',
        "test_an_exchange_is_on_the_disk_before_anyone_hears_of_it",
    ),
    _mutant(
        "issuer: a ticket is exchanged for any number of requests",
        "return bool(found == digest)",
        "return True",
        "test_a_ticket_is_exchanged_for_one_request",
    ),
    _mutant(
        "issuer: its book keeps the order of exchanges",
        'self._file.execute("PRAGMA journal_mode = DELETE")',
        'self._file.execute("PRAGMA journal_mode = WAL")',
        "test_where_rows_lie_in_the_file_does_not_tell_who_came_first",
    ),
    _mutant(
        "issuer: its book is readable by everyone",
        "path.touch(mode=0o600)",
        "path.touch(mode=0o644)",
        "test_the_file_has_no_time_no_order_and_no_request",
    ),
    _mutant(
        "issuer: the book of another study is used",
        "if found != study: self.close()",
        "if False: self.close()",
        "test_a_book_is_for_one_study",
    ),
    _mutant(
        "issuer: any ticket is good",
        "if len(ticket) != 16 or not self._tickets.good(self._study, ticket):",
        "if len(ticket) != 16:",
        "test_what_is_no_ticket_and_no_request_is_refused_and_costs_nobody_a_ticket",
    ),
    _mutant(
        "issuer: a reader's token gets tickets for accounts",
        'if self._logins.role_of(_bearer(scope)) != "operator":',
        "if self._logins.role_of(_bearer(scope)) is None:",
        "test_a_login_gets_the_ticket_of_an_account_each_time_the_same",
    ),
    # -------------------- tally
    _mutant(
        "tally: answers to another study count",
        (
            'if answer.study != study.digest: raise InvalidInput("study", answer.study, f"must be {study.digest}") '
            "study.check_payload"
        ),
        "study.check_payload",
        "test_refuses_answers_to_another_study",
    ),
    _mutant(
        "tally: those of two studies are added",
        'def __add__(self, other: "Tally") -> "Tally": if self.study != other.study:',
        'def __add__(self, other: "Tally") -> "Tally": if False:',
        "test_merging_refuses_another_study",
    ),
    _mutant(
        "tally: of two symbols of one id the smaller counts",
        "agreed = (least == most) | (least < 0)",
        "agreed = (least == most) | (least >= 0)",
        "test_ids_are_compared_across_formats",
    ),
    _mutant(
        "tally: a frame's other studies count",
        "ours = (named == study.digest) & ~named.is_null()",
        "ours = ~named.is_null()",
        "test_faults_are_counted_with_an_example",
    ),
    _mutant(
        "tally: an id twice in two files is counted twice",
        (
            "if deduplicate: # an id may come again in any file, so what is to be counted once is counted together "
            "parts = ["
        ),
        "if False: parts = [",
        "test_ids_are_compared_across_formats",
    ),
    _mutant(
        "tally: ids that came before are not told",
        "each.filter(nw.col(_COUNT) > 1)",
        "each.filter(nw.col(_COUNT) > 2)",
        "test_ids_are_compared_across_formats",
    ),
    _mutant(
        "tally: an answer that comes twice counts twice",
        'must have the same payload whenever it comes") continue',
        'must have the same payload whenever it comes")',
        "test_sums_and_products",
    ),
    # -------------------- simulation
    _mutant(
        "simulation: everyone is asked the first table",
        "tosses = np.bincount(_below(len(inputs), clients, random), minlength=len(inputs)).tolist()",
        "tosses = [clients] + [0] * (len(inputs) - 1)",
        "test_everyone_answers_once_whatever_the_blocks",
    ),
    _mutant(
        "simulation: symbols are drawn from 52 bits",
        "dtype=np.uint64) >> np.uint64(64 - ROW_BITS)",
        "dtype=np.uint64) >> np.uint64(65 - ROW_BITS)",
        "test_the_same_bits_give_the_same_symbol_as_on_a_device",
    ),
    _mutant(
        "simulation: clients are not drawn but all there",
        "answers = checked(total if clients is None else clients)",
        "answers = checked(total)",
        "test_everyone_answers_once",
    ),
    # -------------------- designs
    _mutant(
        "designs: a table above epsilon is taken",
        "if channel.within(ceiling): return channel",
        'if channel.within(ceiling * Decimal("1.001")): return channel',
        "test_epsilon_holds_exactly_and_next_to_nothing_is_lost",
    ),
    _mutant(
        "designs: weights are rounded away from the middle",
        "np.where(exact < middle, np.ceil(exact), np.floor(exact))",
        "np.where(exact < middle, np.floor(exact), np.ceil(exact))",
        "test_integers_are_rounded_towards_the_middle_of_their_column",
    ),
    _mutant(
        "designs: a foreign design that breaks its promise is used",
        "if not channel.within(epsilon): raise NotPrivate",
        "if False: raise NotPrivate",
        "test_a_design_that_breaks_its_promise_is_refused",
    ),
    _mutant(
        "designs: the worst of all is chosen",
        "least = min(merits.values())",
        "least = max(merits.values())",
        "test_auto_takes_the_least_variance",
    ),
    _mutant(
        "designs: randomized response forgets the minus one",
        "more = float(Decimal(epsilon).exp() - 1)",
        "more = float(Decimal(epsilon).exp())",
        "test_ratios_that_are_exactly_at_epsilon_need_some_mixing",
    ),
    _mutant(
        "designs: laplace noise's scale is halved",
        "ratio = np.exp(-epsilon / (2 * half))",
        "ratio = np.exp(-epsilon / half)",
        "test_a_design_is_made_by_its_name",
    ),
    _mutant(
        "designs: groups of different shares are renamed into each other",
        "equal = [g for g, other in enumerate(shares) if other == share]",
        "equal = [g for g, other in enumerate(shares)]",
        "test_unequal_groups_can_only_be_turned_round",
    ),
    _mutant(
        "designs: an orbit that meets its own negative counts",
        "vanishing.append(a)",
        "pass",
        "test_what_is_its_own_negative_vanishes",
    ),
    _mutant(
        "designs: the bound forgets that columns still help",
        "return prices.value + min(0.0, float(costs.min()))",
        "return prices.value",
        "test_it_stops_where_the_bound_says_that_it_is_close",
    ),
    _mutant(
        "designs: three groups of whom a mean is expected have a table of many even levels",
        "several = scores.target.balanced and",
        "several = False and",
        "test_about_a_mean_that_is_expected_three_groups_have_few_levels",
        "test_few_levels_about_a_mean_are_read_there_more_sharply_than_more_even_ones",
    ),
    _mutant(
        "designs: cells that are alike have programs as if they differed",
        "for order in _other_orders(problem.shares):",
        "for order in ():",
        "test_cells_of_crossed_attributes_that_are_alike_share_their_rows",
    ),
    _mutant(
        "designs: each order of groups that are alike makes more symbols",
        "if joined != orbits and self._fold_by(",
        "if self._fold_by(",
        "test_no_more_orders_are_taken_than_make_groups_alike",
    ),
    _mutant(
        "designs: a hint counts as proof",
        "bound -= _HANDICAP * abs(bound)",
        "bound += _HANDICAP * abs(bound)",
        "test_a_hint_that_says_too_much_is_no_proof",
    ),
    _mutant(
        "designs: an expectation makes a table worse where hardly anything is hidden",
        "if epsilon > _AIMED:",
        "if epsilon > 12:",
        "test_where_hardly_anything_is_hidden_a_table_is_for_any_mean",
    ),
    _mutant(
        "designs: a search ends though its solution breaks rows",
        "if done and not broken: break",
        "if done: break",
        "test_rows_that_a_solution_breaks_are_added_before_it_ends",
    ),
    _mutant(
        "designs: columns in use are dropped",
        "costs = np.where(optimum.weights > 0, -np.inf,",
        "costs = np.where(optimum.weights > 0, np.inf,",
        "test_columns_that_are_not_likely_to_help_are_dropped_and_those_in_use_stay",
    ),
    # -------------------- decoder
    _mutant(
        "decoder: information is taken for rounding noise",
        "_RANK = 1e-9",
        "_RANK = 1e-2",
        "test_little_information_is_used_and_rounding_noise_is_not",
    ),
    _mutant(
        "decoder: a score that is biased passes",
        "_UNBIASED = 1e-9",
        "_UNBIASED = 1e-1",
        "test_what_the_channel_tells_only_nearly_is_not_told",
    ),
    _mutant(
        "decoder: levels of another question are read",
        "order = np.moveaxis(order, 1 + self.axis, -1).ravel()",
        "order = np.moveaxis(order, 1, -1).ravel()",
        "test_both_are_the_truth_for_expected_counts",
    ),
    # -------------------- reports
    _mutant(
        "reports: a study's words become markup",
        "loader=ChoiceLoader(loaders), autoescape=True,",
        "loader=ChoiceLoader(loaders), autoescape=False,",
        "test_the_report_stands_alone",
    ),
    _mutant(
        "reports: words in a picture become markup",
        "Markup(template).format(*(escape(value) for value in values))",
        "Markup(template).format(*(Markup(value) for value in values))",
        "test_whatever_is_written_is_text_and_never_markup",
    ),
    # -------------------- pages
    _mutant(
        "pages: any script may run",
        "\"default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:;",
        "\"default-src 'none'; style-src 'self'; script-src *; img-src 'self' data:;",
        "test_pages_run_our_own_scripts_and_are_framed_by_nobody",
    ),
    # -------------------- cli
    _mutant(
        "cli: bad input and a no have the same exit status",
        "sys.exit(2 if isinstance(error, InvalidInput) else 1)",
        "sys.exit(1)",
        "test_what_cannot_be_parsed_exits_with_2",
    ),
    _mutant(
        "cli: what a file says steers the terminal",
        'text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(one)) sys.stderr.write(f"fairgauge:',
        'text = str(one) sys.stderr.write(f"fairgauge:',
        "test_nothing_in_an_error_steers_the_terminal",
    ),
    # -------------------- delivery
    _mutant(
        "delivery: a page of a hotel's network is a receipt",
        'return status if status in ("accepted", "duplicate") else None',
        'return "accepted" if response.status == 200 else None',
        "test_a_receipt",
    ),
    _mutant(
        "delivery: an answer is sent before its moment",
        "if moment is not None and time.time() < moment:",
        "if moment is not None and time.time() < 0:",
        "test_an_answer_is_not_sent_before_its_moment",
    ),
    _mutant(
        "delivery: an answer goes without the relay that its study wants",
        "if relay is None and ledger.wants_relay(answer.study):",
        "if False:",
        "test_a_ledger_remembers_that_an_answer_goes_through_a_relay",
    ),
    _mutant(
        "delivery: devices that failed together come back together",
        "yield SystemRandom().uniform(0, min(self.longest, self.first * 2 ** min(doublings, 60)))",
        "yield min(self.longest, self.first * 2 ** min(doublings, 60))",
        "test_doubles_at_most_with_full_jitter",
    ),
    # -------------------- moments
    _mutant(
        "moments: an answer is sent in the epoch in which it is drawn",
        "begins = (int(now) // epoch + 1) * epoch",
        "begins = int(now) // epoch * epoch",
        "test_a_moment_is_a_uniform_second_of_the_next_epoch",
    ),
    _mutant(
        "moments: answers are sent at the start of an epoch",
        "return begins + secrets.randbelow(ends - begins)",
        "return begins",
        "test_a_moment_is_a_uniform_second_of_the_next_epoch",
    ),
    # -------------------- envelopes
    _mutant(
        "envelopes: sizes tell what was asked",
        'return data.ljust(size, b"\\0")',
        "return data",
        "test_a_request_is_padded_with_zeros_to_one_size",
    ),
    _mutant(
        "envelopes: what follows a message is not looked at",
        'if self._data[self._at :].strip(b"\\0"):',
        "if False:",
        "test_what_is_no_response_is_refused",
    ),
    _mutant(
        "envelopes: one for another key is tried",
        "if not data.startswith(config.header):",
        "if False:",
        "test_what_is_not_for_this_gateway_does_not_open",
    ),
    _mutant(
        "envelopes: a reply does not depend on its request",
        "prk = extract(context.enc + nonce, secret)",
        "prk = extract(nonce, secret)",
        "test_the_example_of_rfc_9458",
    ),
    # -------------------- study
    _mutant(
        "study: a table above the declared epsilon is private",
        "return self.mechanism.within(Decimal(self.epsilon))",
        "return self.mechanism.within(Decimal(self.epsilon) + 1)",
        "test_a_table_above_its_epsilon_is_parsed_but_not_accepted",
    ),
    _mutant(
        "study: epsilon may be zero or less",
        "if Fraction(text) <= 0:",
        "if False:",
        "test_question::test_a_mistake_gets_one_line",
    ),
    _mutant(
        "study: a field given twice is taken once",
        "if key in found: raise error(key,",
        "if False: raise error(key,",
        "test_reading_does_not_guess",
    ),
    _mutant(
        "study: fields that nobody knows are passed over",
        "if name not in required and name not in optional: raise BadStudy(name, value",
        "if False: raise BadStudy(name, value",
        "test_a_document_that_breaks_a_rule_is_refused",
    ),
    _mutant(
        "tally: fields that nobody knows are passed over",
        "if name not in names: raise error(name, value",
        "if False: raise error(name, value",
        "test_bad_tallies_are_refused",
    ),
    _mutant(
        "study: a number with a fraction is read",
        "parse_float=refuse,",
        "parse_float=float,",
        "test_reading_does_not_guess",
    ),
    _mutant(
        "study: text may turn round other text",
        '\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069]")',
        '\\u2028\\u2029]")',
        "test_a_document_that_breaks_a_rule_is_refused",
    ),
    _mutant(
        "study: it is checked only when it is read",
        "study.check_privacy() (limit",
        "(limit",
        "test_answer::test_a_study_that_is_not_private",
    ),
    # -------------------- guard
    _mutant(
        "guard: an app that fails gives no answer",
        "except BaseException as problem:  # noqa: BLE001 - one that gets away would be an answer less",
        "except ValueError as problem:  # noqa: BLE001 - one that gets away would be an answer less",
        "test_whatever_an_app_raises_there_is_an_answer",
    ),
    _mutant(
        "guard: an exception of the app's runs code where its traceback is read",
        '_traceback_of: Callable[[BaseException], TracebackType | None] = vars(BaseException)["__traceback__"].__get__',
        "_traceback_of: Callable[[BaseException], TracebackType | None] = lambda problem: problem.__traceback__",
        "test_an_apps_own_exceptions_do_nothing_where_they_are_read[traceback]",
    ),
    _mutant(
        "guard: a number that no float holds takes the others with it",
        "return None if number is None else float(max(-_MOST, min(number, _MOST)))",
        "return None if number is None else float(number)",
        "test_a_number_that_no_float_holds_leaves_the_others_as_they_are",
    ),
    # -------------------- shares
    _mutant(
        "shares: a stated share is a divisor",
        "return tuple(map(float, self.shares)) if self.shares is not None and self.answering == ALIKE else None",
        "return tuple(map(float, self.shares)) if self.shares is not None else None",
        "test_stated_shares_are_known_only_where_all_groups_answer_alike",
    ),
    _mutant(
        "shares: what rests on who answers is stated without its condition",
        "return self.known_shares is not None or (self.whoever_answers and not alone)",
        "return not alone",
        "test_all_sentences_start_with_the_verdict",
    ),
    _mutant(
        "shares: a gap of several groups together is stated without its condition",
        "return self.known_shares is not None or (self.whoever_answers and not alone)",
        "return self.known_shares is not None",
        "test_a_gap_between_several_groups_rests_on_how_often_they_answered",
    ),
    _mutant(
        "shares: a guarantee leaves out what it assumes of who answers",
        "if alike: whose =",
        "if not alike: whose =",
        "test_people_get_a_table_and_sentences",
    ),
    # -------------------- pipelining
    _mutant(
        "collector: a page that says what was refused gets a second policy, under which it has no style",
        'message["headers"] = own + [pair for pair in headers if pair[0] not in given]',
        'message["headers"] = own + [pair for pair in headers if pair]',
        "test_every_page_has_the_policy_and_nothing_that_it_refuses",
    ),
    _mutant(
        "collector: a connection may have any number of requests under way",
        "if not self._refused and len(self._cycles) >= self.peers.limits.pipelined:",
        "if not self._refused and len(self._cycles) >= 1000 * self.peers.limits.pipelined:",
        "test_more_requests_than_allowed_make_no_work",
    ),
    _mutant(
        "collector: a body may come in any number of pieces",
        "if not self._refused and self._pieces > _MOST_PIECES + self._body_bytes // _MOST_PIECES:",
        "if not self._refused and self._pieces > _MOST_PIECES + self._body_bytes:",
        "test_a_body_in_tiny_pieces_is_refused_and_the_rest_is_not_parsed",
    ),
    _mutant(
        "collector: of the bodies on a connection only the last one counts",
        "bodies = sum(len(cycle.body) for cycle in {*self._cycles, last} if cycle is not None)",
        "bodies = sum(len(cycle.body) for cycle in {last} if cycle is not None)",
        "test_the_bodies_of_all_requests_on_a_connection_are_counted",
    ),
    # -------------------- files
    _mutant(
        "files: a crash leaves half a file",
        "temporary.replace(target)",
        "target.write_bytes(data)",
        "test_what_is_saved_is_loaded",
    ),
    # -------------------- seal
    _mutant(
        "seal: one of a format to come is read as if it were ours",
        "if type(seal.format) is not int or seal.format != _FORMAT:",
        "if type(seal.format) is not int and seal.format != _FORMAT:",
        "test_a_seal_of_another_format_is_refused",
    ),
    _mutant(
        "seal: answers_sha256 is not compared",
        'for name in ("answers", "answers_sha256", "tally", "root", "sites"):',
        'for name in ("answers", "tally", "root", "sites"):',
        "test_two_answers_that_exchange_their_symbols_are_noticed",
    ),
    _mutant(
        "seal: the tally is not compared with the answers",
        'for name in ("answers", "answers_sha256", "tally", "root", "sites"):',
        'for name in ("answers", "answers_sha256", "root", "sites"):',
        "test_everything_that_a_seal_says_is_compared",
    ),
    _mutant(
        "seal: the root of the tree is not compared",
        'for name in ("answers", "answers_sha256", "tally", "root", "sites"):',
        'for name in ("answers", "answers_sha256", "tally", "sites"):',
        "test_the_root_is_compared",
    ),
    _mutant(
        "seal: may be of another study in a bundle",
        "seal, name = sealed.seal, piece.name if seal.study != self._study.digest:",
        "seal, name = sealed.seal, piece.name if False:",
        "test_a_seal_of_another_study_is_called_that",
    ),
    _mutant(
        "seal: its estimate is not compared with its tally",
        'if found == "none": self._say("seal",',
        'if False: self._say("seal",',
        "test_an_estimate_that_the_tally_does_not_give_is_noticed",
    ),
    _mutant(
        "seal: an answer that is there twice is counted twice",
        "if id_ <= self._last:",
        "if id_ < self._last:",
        "test_an_answer_that_is_there_twice_is_noticed",
    ),
    _mutant(
        "seal: numbers that differ by a part in a thousand agree",
        "return abs(one - other) <= 1e-6 * max(1.0, abs(one))",
        "return abs(one - other) <= 1e-2 * max(1.0, abs(one))",
        "test_an_estimate_that_the_tally_does_not_give_is_noticed",
    ),
    _mutant(
        "seal: a study whose tally is not what its answers give is sealed",
        "Counter(await store.counts(kept.number)) == Counter(found.counts)",
        "True",
        "test_a_study_is_sealed_only_if_its_tallies_are_what_its_answers_give",
    ),
    _mutant(
        "seal: a site that is alone is shown",
        "return answers if batch is None or may_leave(answers, batch, at_end=leaves_at_end(study)) else 0",
        "return answers",
        "test_of_fewer_than_three_sites_nothing_is_ever_shown",
    ),
    _mutant(
        "seal: two sites are shown",
        "FEWEST = 3",
        "FEWEST = 2",
        "test_of_fewer_than_three_sites_nothing_is_ever_shown",
    ),
    _mutant(
        "seal: a study in the crowd may be sealed without its root",
        "return (self.root is not None, self.sites is not None) == (study.release is not None, listed)",
        "return (self.sites is not None) == listed",
        "test_a_seal_has_the_parts_of_its_study",
    ),
    # -------------------- store
    _mutant(
        "store: a power cut may lose acknowledged answers",
        '"PRAGMA synchronous=FULL",',
        '"PRAGMA synchronous=NORMAL",',
        "test_the_writer_is_set_to_be_durable_also_after_it_was_opened_again",
    ),
    _mutant(
        "store: answers that are removed stay in free pages",
        '"PRAGMA secure_delete=ON",',
        '"PRAGMA secure_delete=OFF",',
        "test_what_is_removed_leaves_no_trace_in_the_file_whatever_sqlite_was_built_with",
    ),
    _mutant(
        "store: a closed study takes answers",
        'sql = "SELECT batch, at_end FROM studies WHERE number = ? AND closed IS NULL"',
        'sql = "SELECT batch, at_end FROM studies WHERE number = ?"',
        "test_a_mixed_group_is_told_apart_and_counted_once",
    ),
    _mutant(
        "store: two collectors write one file",
        "self._held.append(handle) try: fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)",
        "self._held.append(handle) try: fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)",
        "test_a_second_collector_is_kept_away_from_the_file_for_as_long_as_the_first_has_it",
    ),
    _mutant(
        "store: a file that anyone may read is made",
        "handle = os.open(file, os.O_RDWR | os.O_CLOEXEC | flags, 0o600)",
        "handle = os.open(file, os.O_RDWR | os.O_CLOEXEC | flags, 0o644)",
        "test_the_file_is_its_owners_from_its_first_byte_on",
    ),
    _mutant(
        "store: answers of a study that is not sealed are removed",
        "SET dropped = $1 WHERE number = $2 AND seal IS NOT NULL AND dropped IS NULL RETURNING",
        "SET dropped = $1 WHERE number = $2 AND dropped IS NULL RETURNING",
        "test_answers_of_a_sealed_study_can_go_and_tally_and_seal_stay",
    ),
    _mutant(
        "store: repeats are counted again",
        "fresh = [row for row, found in zip(rows, result, strict=True) if found == FRESH] _count_arrivals",
        "fresh = rows _count_arrivals",
        "test_a_mixed_group_is_told_apart_and_counted_once",
    ),
    # -------------------- crowd release
    _mutant(
        "crowd release: a batch leaves as soon as it is full",
        "return 0 if at_end else max(0, taken // size - 1)",
        "return 0 if at_end else max(0, taken // size)",
        "test_places_are_taken_in_order_whatever_the_symbols_are",
    ),
    _mutant(
        "sites: a sum of three is shown while others may come",
        "return 0 if at_end else max(0, taken // size - 1)",
        "return max(0, taken // size - 1)",
        "test_where_batches_close_at_the_end_nothing_is_seen_before",
    ),
    _mutant(
        "tickets: who answered before the answers were dropped came late",
        "state = CASE t.state WHEN 'answered' THEN t.state ELSE excluded.state END",
        "state = excluded.state",
        "test_dropped_answers_leave_the_sum_and_the_list_of_sites",
    ),
    _mutant(
        "sites: a study that closes early shows what waits",
        "return taken >= (size if at_end else 1)",
        "return taken >= 1",
        "test_of_fewer_than_three_sites_nothing_is_ever_shown",
    ),
    _mutant(
        "crowd release: what is left at closing leaves without draws",
        "if taken and not at_end: yield from _draw(number, closed_batches(taken, size))",
        "if taken and not at_end: pass",
        "test_what_is_left_at_closing_is_a_batch_of_its_own_with_its_own_draws",
    ),
    _mutant(
        "crowd release: two batches that leave at once share their draws",
        "for batch in closing: yield from _draw(study, batch)",
        "for batch in closing[:1]: yield from _draw(study, batch)",
        "test_two_batches_that_leave_at_once_have_draws_for_both",
    ),
    _mutant(
        "crowd release: the order of answers stays in the file",
        "while start is not None: # in parts: answers to other studies come in between start = await",
        "while False: start = await",
        "test_where_rows_lie_in_the_file_does_not_tell_who_came_first_once_a_study_in_the_crowd_is_sealed",
    ),
    # -------------------- tickets
    _mutant(
        "tickets: any half is a proof",
        "return hmac.compare_digest(ticket[_HALF:], self._proof(study, ticket[:_HALF]))",
        "return hmac.compare_digest(ticket[_HALF:][:0], self._proof(study, ticket[:_HALF])[:0])",
        "test_tickets_let_a_device_answer_once",
    ),
    _mutant(
        "tickets: one is good for every study",
        'return hmac.digest(self._key, study.encode() + start, "sha256")[:_HALF]',
        'return hmac.digest(self._key, start, "sha256")[:_HALF]',
        "test_tickets_let_a_device_answer_once",
    ),
    # -------------------- roles
    _mutant(
        "roles: a reader does what operators do",
        'if role == "operator" and found != "operator":',
        "if False:",
        "test_every_path_fails_closed",
    ),
    _mutant(
        "roles: a cookie alone changes things",
        'session = session_of(request) if request.method in ("GET", "HEAD") else None',
        "session = session_of(request)",
        "test_a_session_looks_but_does_not_change_without_a_proof",
    ),
    _mutant(
        "roles: ids of a study with tickets are public",
        'return kept.public and not (ids and (kept.admission == "tickets" or kept.batch is not None))',
        "return kept.public",
        "test_ids_that_may_be_tickets_stay_with_readers",
    ),
    _mutant(
        "roles: readers see answers of a study in the crowd",
        "return entry.kept.batch is not None",
        "return entry.contributors_known",
        "test_ids_are_for_operators_and_only_when_the_study_is_over",
    ),
    # -------------------- tokens
    _mutant(
        "tokens: one that has expired is good",
        "return self.expires is None or now < seconds_of(self.expires)",
        "return True",
        "test_a_token_ends_when_it_expires",
    ),
    _mutant(
        "tokens: kept as they are and not as a hash",
        "made = Token(name, role, _hash(text), expires)",
        "made = Token(name, role, (text + 64 * ' ')[:64], expires)",
        "test_only_hashes_are_stored_and_only_the_owner_may_read_them",
    ),
    # -------------------- sessions
    _mutant(
        "sessions: one that is over is good",
        "or int(ends) <= self._clock():",
        "or int(ends) <= 0:",
        "test_a_session_ends_after_its_time_and_with_its_token",
    ),
    _mutant(
        "sessions: one that was ended goes on",
        "if _name_of(cookie) in self._ended: return None",
        "if _name_of(cookie) in self._ended: pass",
        "test_a_session_that_was_ended_is_over_here_and_wherever_it_is_heard_of",
    ),
    _mutant(
        "sessions: revoking a token does not end them",
        'f"{purpose} {start} {token.hash}".encode()',
        'f"{purpose} {start} {token.role}".encode()',
        "test_a_session_ends_after_its_time_and_with_its_token",
    ),
    # -------------------- planning
    _mutant(
        "planning: the narrowest interval is promised",
        "return max(each.width(kind, answers, alpha, drawn) for each in",
        "return min(each.width(kind, answers, alpha, drawn) for each in",
        "test_a_plan_keeps_what_it_promises",
    ),
    _mutant(
        "planning: a plan calls best what design does not take",
        'return found if asked.get("designs") else _as_designed(questions, found, asked)',
        "return found",
        "test_a_plan_and_a_design_have_one_table",
    ),
    _mutant(
        "study: a question without a mechanism is published",
        "if not question.designed: name",
        "if False: name",
        "test_only_designed_questions_make_a_study",
    ),
    _mutant(
        "planning: every table gets all answers",
        "return reading.metric.scale * one.width(kind, answers / reading.tables, reading.alpha, reading.drawn)",
        "return reading.metric.scale * one.width(kind, answers, reading.alpha, reading.drawn)",
        "test_a_device_answers_one_of_several_tables_and_errors_are_in_the_metrics_units",
    ),
    _mutant(
        "planning: widths are not in the metric's units",
        "return reading.metric.scale * one.width(kind, answers / reading.tables, reading.alpha, reading.drawn)",
        "return one.width(kind, answers / reading.tables, reading.alpha, reading.drawn)",
        "test_a_device_answers_one_of_several_tables_and_errors_are_in_the_metrics_units",
    ),
    _mutant(
        "planning: power counts one side twice",
        "return float(ndtr((abs(gap) - width) / deviation) + ndtr((-abs(gap) - width) / deviation))",
        "return float(2 * ndtr((abs(gap) - width) / deviation))",
        "test_power_by_simulation",
    ),
    # -------------------- javascript
    _mutant(
        "javascript: loss ignores the last column",
        "for (let j = 0; j < table[0].length; j += 1) { let [high, low]",
        "for (let j = 0; j < table[0].length - 1; j += 1) { let [high, low]",
        "test_what_python_says_the_client_says",
    ),
    _mutant(
        "javascript: a symbol that excludes an input costs nothing",
        "if (low === 0n) return null;",
        "if (low === 0n) continue;",
        "test_a_value_beyond_the_levels_is_drawn_for_and_a_zero_costs_everything",
    ),
    _mutant(
        "javascript: a draw at the end of a weight belongs to the symbol before",
        "findIndex((weight) => (sum += weight) > last)",
        "findIndex((weight) => (sum += weight) >= last)",
        "test_what_python_says_the_client_says",
    ),
    _mutant(
        "javascript: values are always rounded up",
        "return row * levels.length + above - Number(drawn[i] >= threshold);",
        "return row * levels.length + above - Number(drawn[i] >= threshold && false);",
        "test_what_python_says_the_client_says",
    ),
    _mutant(
        "javascript: whoever abstains answers as the first group",
        "this.table[[index, without][lacks]]",
        "this.table[[index, index][lacks]]",
        "test_what_python_says_the_client_says",
    ),
    _mutant(
        "javascript: a value beyond its range goes to the other end",
        "const x = compare(given, a) < 0n ? a : compare(given, b) > 0n ? b : given;",
        "const x = compare(given, a) < 0n ? b : compare(given, b) > 0n ? a : given;",
        "test_what_python_says_the_client_says",
    ),
    _mutant(
        "javascript: rows need not sum to 2^53",
        "if (sum !== ROW_SUM)",
        "if (sum > ROW_SUM)",
        "test_what_python_says_the_client_says",
    ),
    _mutant(
        "javascript: the logarithm is not rounded up",
        "return toFraction({ c: below.c + 1n, e: below.e });",
        "return toFraction({ c: below.c, e: below.e });",
        "test_what_python_says_the_client_says",
    ),
    _mutant(
        "javascript: folds draws above a limit, which is biased",
        "if (number < limit) return number;",
        "return number % limit;",
        "test_random_bits_are_the_first_ones_and_what_is_above_a_limit_is_drawn_again",
    ),
    _mutant(
        "javascript: random bits come from the wrong end",
        "return number >> BigInt(8 * bytes.length - count);",
        "return number;",
        "test_random_bits_are_the_first_ones_and_what_is_above_a_limit_is_drawn_again",
    ),
    _mutant(
        "javascript: charges the cheapest question of an attribute",
        "compare(before, channel.epsilon) < 0n ? channel.epsilon : before",
        "compare(before, channel.epsilon) > 0n ? channel.epsilon : before",
        "test_the_dearest_question_is_what_a_ledger_charges",
    ),
    _mutant(
        "javascript: charges the last question of an attribute",
        "costs.set(name, compare(before, channel.epsilon) < 0n ? channel.epsilon : before);",
        "costs.set(name, channel.epsilon);",
        "test_the_dearest_question_is_what_a_ledger_charges",
    ),
    _mutant(
        "javascript: what pays depends on the form in which a group is given",
        "const charges = chargesOf(study);",
        'const charges = isObject(profile.group) ? chargesOf(study) : chargesOf(study).map(([, c]) => ["", c]);',
        "test_what_the_client_charges_depends_on_the_study_alone",
    ),
    _mutant(
        "javascript: the lifetime limit forgets what was spent before",
        "const sum = add(total(met), decimal(cost));",
        "const sum = decimal(cost);",
        "test_what_python_says_the_client_says",
    ),
    _mutant(
        "javascript: one attribute pays for another",
        "const met = past.filter(([name]) => name === account);",
        "const met = past;",
        "test_what_python_says_the_client_says",
    ),
    _mutant(
        "javascript: a device that says nothing spends 40 on a study",
        'Object.freeze({ study: "4", lifetime: "8" })',
        'Object.freeze({ study: "40", lifetime: "8" })',
        "test_what_python_says_the_client_says",
    ),
    _mutant(
        "javascript: only the first question of a study is checked",
        "study.questions.forEach((question, index) => { if (limit === null",
        "study.questions.slice(0, 1).forEach((question, index) => { if (limit === null",
        "test_every_question_is_within_the_limit_and_what_a_person_allows_can_only_fall",
    ),
    _mutant(
        "javascript: costs shown to people are rounded down",
        "return plain(fraction(-floorDivide(-n * scale, d), scale));",
        "return plain(fraction(floorDivide(n * scale, d), scale));",
        "test_what_python_says_the_client_says",
    ),
    _mutant(
        "javascript: a study that was answered is answered again",
        "if (found) return answerIn(found);",
        "if (false) return answerIn(found);",
        "test_the_dearest_question_is_what_a_ledger_charges",
    ),
    _mutant(
        "javascript: an answer is handed out before it is stored",
        "transaction.oncomplete = () => resolve(result);",
        "queueMicrotask(() => resolve(result));",
        "test_the_dearest_question_is_what_a_ledger_charges",
    ),
    _mutant(
        "javascript: what a person allows may be raised",
        "if (limit === null || !atMost(decimal(limit), LIMITS[name])) {",
        "if (limit === null) {",
        "test_every_question_is_within_the_limit_and_what_a_person_allows_can_only_fall",
    ),
    _mutant(
        "javascript: readers of a crowd are charged less than they see",
        'crowd && atMost(decimal(crowd.text), cost) ? [name, crowd.text, crowd.delta] : [name, cost, "0"]',
        'crowd ? [name, crowd.text, crowd.delta] : [name, "0", "0"]',
        "test_the_dearest_question_is_what_a_ledger_charges",
    ),
    _mutant(
        "javascript: cookies go along with an answer",
        'const DISCREET = { credentials: "omit",',
        'const DISCREET = { credentials: "include",',
        "test_an_answer_goes_alone_and_nowhere_else",
    ),
    _mutant(
        "budgets: the epsilon that the paper claims is believed",
        "if self.loss > epsilon:",
        "if self.claimed > epsilon:",
        "test_a_claimed_epsilon_is_refused_with_the_true_one",
    ),
    _mutant(
        "budgets: any k passes for private",
        "if len(parts) == 3 and parts[2] != _PRIVATE_K:",
        "if len(parts) == 3 and parts[2] == 0:",
        "test_another_k_has_no_finite_epsilon",
    ),
    _mutant(
        "paper: the estimator takes a table for what the study calls it",
        "if not same or np.abs(table - law).max() > _SAME:",
        "if not same:",
        "test_what_it_cannot_read_is_refused",
    ),
    # -------------------- the front door
    _mutant(
        "front door: running numbers are taken for a metric where there are many",
        "self.differing = len(self.labels) / max(self.known, 1)",
        "self.differing = 0.0",
        "test_running_numbers_are_no_metric_however_many_there_are",
    ),
    _mutant(
        "front door: a label that few have enters a study's file",
        "common = {same[0]: same for same in spelled.values() if sum(told[each] for each in same) >= least}",
        "common = {same[0]: same for same in spelled.values() if sum(told[each] for each in same) >= 1}",
        "test_nothing_that_is_about_few_people_enters_the_file",
    ),
    _mutant(
        "front door: letters of other groups are taken for sexes",
        "nearly_all = sum(people[one] for one in known) >= _MOSTLY * sum(people.values())",
        "nearly_all = True",
        "test_letters_are_sexes_where_the_column_or_a_word_says_so",
    ),
    _mutant(
        "front door: one spelling that nobody knows keeps all others apart",
        "not (sure or nearly_all or any(len(one) > 1 for one in known))",
        "not nearly_all",
        "test_spellings_of_one_sex_are_one_group",
    ),
    _mutant(
        "front door: rows that count people are taken for one person each",
        "if len(counts) != 1 or not _is_histogram(found, counts[0], table):",
        "if True:",
        "test_a_table_that_counts_people_is_one_whatever_the_column_is_called",
    ),
    _mutant(
        "front door: numbers of people are taken for what rows count",
        "return len(set(rows)) == len(rows)",
        "return True",
        "test_a_table_that_counts_people_is_one_whatever_the_column_is_called",
    ),
    _mutant(
        "front door: of two columns of one name the first is read and nobody knows",
        'f"{name} ({names[: place + 1].count(name)})" if name and names.count(name) > 1 else name',
        "name",
        "test_a_column_is_there_once",
    ),
    _mutant(
        "front door: a frame is read without what its labels mean",
        "else read_people(study, population, reading).population",
        "else read_people(study, population).population",
        "test_a_frame_is_planned_and_simulated_as_it_is",
    ),
    _mutant(
        "front door: a line is printed where the bar stands",
        "self.bar.stop()",
        "self.bar.start()",
        "test_what_is_printed_meanwhile_stands_above_the_bar",
    ),
    _mutant(
        "study: it asks for tickets and releases counts in batches, so that nobody can answer",
        'if study.admission == "tickets" and study.release is not None:',
        'if study.admission == "tickets" and study.release is not None and study.epoch is not None:',
        "test_counts_in_batches_have_half_of_their_blanket_as_draws_unless_said",
    ),
    _mutant(
        "front door: a spelling that one person has enters a study's file",
        "spelled = {(text.casefold(), group): text for group, same in found.items() for text in reversed(same)}",
        "spelled = {(text, group): text for group, same in found.items() for text in reversed(same)}",
        "test_some_texts_among_numbers_are_missing_and_a_spelling_that_one_person_has_is_not_written_down",
    ),
    _mutant(
        "front door: the least crowd epsilon is that of one draw",
        "return math.floor(high) def _best_local(",
        "return 1 def _best_local(",
        "test_the_least_crowd_epsilon_reaches_an_error_and_a_smaller_one_does_not",
    ),
    _mutant(
        "front door: a way that is proposed forgets the draws",
        "drawn = 0.0 if aim is None else least_draws([channel], aim).draws / self.clients",
        "drawn = 0.0",
        "test_each_way_gives_what_a_plan_for_it_gives",
    ),
    # -------------------- constants of proofs: each is by a twentieth or less on the wrong side
    _mutant(
        "edgeworth: the fourth moment's constant is 5 % too small",
        "bend, skew = fourth * right**4 / 24,",
        "bend, skew = fourth * right**4 / 25.2,",
        "test_edgeworth::test_every_curve_is_the_one_that_the_page_states",
    ),
    _mutant(
        "edgeworth: the normal factor's constant is 5 % too small",
        "fourth) * right**4 / 8), np.minimum(1.0, known.size",
        "fourth) * right**4 / 8.4), np.minimum(1.0, known.size",
        "test_edgeworth::test_every_curve_is_the_one_that_the_page_states",
    ),
    _mutant(
        "edgeworth: the third moment's constant is 5 % too small",
        "third * right**3 / 6 real, turn",
        "third * right**3 / 6.3 real, turn",
        "test_edgeworth::test_every_curve_is_the_one_that_the_page_states",
    ),
    _mutant(
        "edgeworth: the fifth moment's constant is 5 % too small",
        "np.minimum(1.0, known.size * right / 5)",
        "np.minimum(1.0, known.size * right / 5.25)",
        "test_edgeworth::test_every_curve_is_the_one_that_the_page_states",
    ),
    _mutant(
        "edgeworth: what the correction loses is 5 % too small",
        "(rho + most * right**2 / 2 * skew)",
        "(rho + most * right**2 / 2.1 * skew)",
        "test_edgeworth::test_every_curve_is_the_one_that_the_page_states",
    ),
    _mutant(
        "edgeworth: the square of delta is 5 % too small",
        "near += count * max(count - 1, 0) / 2 * delta**2",
        "near += count * max(count - 1, 0) / 2.1 * delta**2",
        "test_edgeworth::test_every_curve_is_the_one_that_the_page_states",
    ),
    _mutant(
        "edgeworth: moments bound phi beyond where they do",
        "np.where(most * right**2 < 2, np.hypot(1 - least",
        "np.where(most * right**2 < 2.1, np.hypot(1 - least",
        "test_edgeworth::test_every_curve_is_the_one_that_the_page_states",
    ),
    _mutant(
        "edgeworth: phi sags 5 % too little between two points",
        "sag = np.multiply.outer(np.maximum(variance, 0.0), np.diff(times) ** 2) / 4 return np.asarray(np.sqrt(",
        "sag = np.multiply.outer(np.maximum(variance, 0.0), np.diff(times) ** 2) / 4.2 return np.asarray(np.sqrt(",
        "test_edgeworth::test_the_modulus_is_one_wherever_zero_is_between_two_points",
    ),
    _mutant(
        "edgeworth: the integral is 5 % too small",
        "width = (right - left) / np.pi",
        "width = 0.95 * (right - left) / np.pi",
        "test_the_sum_over_pieces_is_the_one_that_the_page_states",
    ),
    _mutant(
        "edgeworth: what smoothing costs is 5 % too small",
        "blurred, apart = normal[cases] * right / 2,",
        "blurred, apart = normal[cases] * right / 2.1,",
        "test_the_sum_over_pieces_is_the_one_that_the_page_states",
    ),
    _mutant(
        "edgeworth: smoothing reaches 5 % too little",
        "return self.heard.grid.reaches[chosen] * self.heard.scale,",
        "return 0.95 * self.heard.grid.reaches[chosen] * self.heard.scale,",
        "test_the_sum_over_pieces_is_the_one_that_the_page_states",
    ),
    _mutant(
        "edgeworth: smoothing far out is 5 % too small",
        "edges[:, -1] ** -sums.astype(float) / sums)",
        "edges[:, -1] ** -sums.astype(float) / (1.05 * sums))",
        "test_beyond_the_last_point_smoothing_is_a_power",
    ),
    _mutant(
        "edgeworth: the normal tail far out is 5 % too small",
        "(1 / (a * end**2) + b",
        "(0.95 / (a * end**2) + b",
        "test_what_lies_beyond_the_last_point_is_hardly_more_than_it_is",
    ),
    _mutant(
        "edgeworth: the correction far out is 5 % too small",
        "+ 1 / (a**2 * end))) / np.pi",
        "+ 0.95 / (a**2 * end))) / np.pi",
        "test_what_lies_beyond_the_last_point_is_hardly_more_than_it_is",
    ),
    _mutant(
        "edgeworth: the correction is largest elsewhere",
        "_TOP = math.sqrt(3)",
        "_TOP = 1.05 * math.sqrt(3)",
        "test_the_correction_is_largest_at_the_root_of_three",
    ),
    _mutant(
        "edgeworth: the rough bound's third is 5 % too small",
        "(2 * (variance + size * np.asarray(average) / 3))",
        "(2 * (variance + size * np.asarray(average) / 3.15))",
        "test_the_rough_bound_is_just_above_bennetts",
    ),
    _mutant(
        "draws: what both are skewed by together is left out",
        "crossed[:, None] * right**5",
        "0 * crossed[:, None] * right**5",
        "test_draws_are_added_as_the_page_states",
    ),
    _mutant(
        "draws: how far answers are from the normal law is left out beside draws",
        "both = near * beside + normal * besides",
        "both = 0 * near * beside + normal * besides",
        "test_draws_are_added_as_the_page_states",
    ),
    _mutant(
        "draws: how far draws are from the normal law is left out",
        "both = near * beside + normal * besides",
        "both = near * beside + 0 * normal * besides",
        "test_draws_are_added_as_the_page_states",
    ),
    _mutant(
        "prawitz: the normal factor's constant is 5 % too small",
        "bend, square = fourth * right**4 / 24, np.minimum(most**2, fourth) * right**4 / 8",
        "bend, square = fourth * right**4 / 24, np.minimum(most**2, fourth) * right**4 / 8.4",
        "test_prawitz::test_every_curve_is_the_one_that_the_page_states",
    ),
    _mutant(
        "prawitz: the fifth moment's constant is 5 % too small",
        "np.minimum(1.0, moments.size * right / 5)",
        "np.minimum(1.0, moments.size * right / 5.25)",
        "test_prawitz::test_every_curve_is_the_one_that_the_page_states",
    ),
    _mutant(
        "prawitz: clients who are not alike cost 5 % too little",
        "apart = apart * np.exp(-np.expm1(",
        "apart = apart * np.exp(-0.95 * np.expm1(",
        "test_prawitz::test_every_curve_is_the_one_that_the_page_states",
    ),
    _mutant(
        "prawitz: integrals count 5 % too little",
        "np.append(2 * part,",
        "np.append(1.9 * part,",
        "test_both_kernels_count_twice_with_the_width_of_their_pieces",
    ),
    _mutant(
        "prawitz: the kernel near zero is 5 % too small",
        "np.sqrt(1 / (4 * np.pi**2) + x[1] ** 2 / 4)",
        "np.sqrt(0.95 / (4 * np.pi**2) + x[1] ** 2 / 4)",
        "test_both_kernels_count_twice_with_the_width_of_their_pieces",
    ),
    _mutant(
        "sites: the kernel's even part is 5 % too small",
        "_EVEN: Vector = (1 - _U) / 2",
        "_EVEN: Vector = (1 - _U) / 2.1",
        "test_where_t_is_that_of_whole_numbers_the_bound_is_the_exact_tail",
    ),
    _mutant(
        "sites: the kernel's constant is 5 % too small",
        "np.tan(np.pi * _U) + 1 / np.pi) / 2",
        "np.tan(np.pi * _U) + 0.95 / np.pi) / 2",
        "test_the_kernel_is_that_of_the_paper",
    ),
    _mutant(
        "sites: Chernoff's bound has a cell too few",
        "found = found + cells * noise.log_moment(",
        "found = found + 0.95 * cells * noise.log_moment(",
        "test_the_moments_of_noise_are_sums_over_its_law",
    ),
    _mutant(
        "sites: the number of people spends its part of alpha twice",
        "self.table.noise.reach(len(self.rate.cells), _NUMBER * self.alpha)",
        "self.table.noise.reach(len(self.rate.cells), 2 * _NUMBER * self.alpha)",
        "test_rates::test_every_part_of_alpha_goes_where_the_page_says",
    ),
    _mutant(
        "sites: a gap's level is 5 % too large",
        "return (1 - 2 * _SPREAD - _OTHER) * self.first.alpha",
        "return (1.05 - 2 * _SPREAD - _OTHER) * self.first.alpha",
        "test_rates::test_every_part_of_alpha_goes_where_the_page_says",
    ),
    _mutant(
        "sites: levels vary by the noise of a site too few",
        "deviation = np.sqrt(self.table.copies * there + self.table.noise.variance",
        "deviation = np.sqrt(self.table.copies * there + 0.95 * self.table.noise.variance",
        "test_how_much_levels_vary_has_its_part_of_alpha",
    ),
    _mutant(
        "sites: a gap is asked on the ellipsoid of two numbers",
        "chdtri(3, _OTHER * second.alpha)",
        "chdtri(2, _OTHER * second.alpha)",
        "test_a_gap_is_asked_on_the_ellipsoid_that_the_page_states",
    ),
    _mutant(
        "sites: their variance is that of all sites there are",
        "centred * self.sites / (self.sites - 1)",
        "centred * 1",
        "test_an_interval_about_sites_is_students",
    ),
    _mutant(
        "population: the variance's upper bound spends its part twice",
        "upper_mean(square, self.counts, _UPPER * alpha,",
        "upper_mean(square, self.counts, 2 * _UPPER * alpha,",
        "test_population_test::test_every_part_of_alpha_goes_where_the_page_says",
    ),
    _mutant(
        "population: either side has 5 % more than half",
        "ndtri(_MEAN * alpha / 2) - ndtri(max(likely",
        "ndtri(_MEAN * alpha / 1.9) - ndtri(max(likely",
        "test_population_test::test_every_part_of_alpha_goes_where_the_page_says",
    ),
    _mutant(
        "population: bets need 5 % less money",
        "return won - math.log(2 / alpha)",
        "return won - math.log(1.9 / alpha)",
        "test_bets_on_the_average_are_the_ones_that_the_page_states",
    ),
    _mutant(
        "population: the rough bound forgets how large a draw is",
        "size += abs(float(self.draws.mean(asked.score)))",
        "size += 0",
        "test_the_rough_bound_knows_how_large_a_score_and_a_draw_can_be",
    ),
    _mutant(
        "gap: either side has 5 % more than half",
        "self._levels[0] * self.level / 2) + self.uneven(moved)",
        "self._levels[0] * self.level / 1.9) + self.uneven(moved)",
        "test_the_sum_of_parts_is_the_one_that_the_page_states",
    ),
    _mutant(
        "gap: a part that says little counts 5 % less",
        "_WEIGHTS[place] * np.maximum(told, -_WORST)",
        "_WEIGHTS[place] * np.maximum(told, -0.95 * _WORST)",
        "test_the_sum_of_parts_is_the_one_that_the_page_states",
    ),
    _mutant(
        "gap: draws that are dealt out unevenly are not paid for in the sum",
        "self.level / 2) + self.uneven(moved)",
        "self.level / 2)",
        "test_what_draws_are_dealt_out_unevenly_is_paid_for",
    ),
    _mutant(
        "gap: draws that are dealt out unevenly are not paid for in bets",
        "np.array(drawn), axes=1) + self.uneven(np.array(drawn))",
        "np.array(drawn), axes=1)",
        "test_what_draws_are_dealt_out_unevenly_is_paid_for",
    ),
    _mutant(
        "gap: how unevenly draws are dealt out has no part of alpha",
        "return self.alpha * (1 - _STRAY) if self.draws.count else self.alpha",
        "return self.alpha",
        "test_what_draws_are_dealt_out_unevenly_is_paid_for",
    ),
    _mutant(
        "gap: variance is 5 % too cheap for moments",
        "np.multiply.outer(variances, prices)).min(axis=1))",
        "0.95 * np.multiply.outer(variances, prices)).min(axis=1))",
        "test_moments_of_a_part_are_at_least_those_of_any_population",
    ),
    _mutant(
        "gap: the normal test has 5 % more than half on either side",
        "float(ndtri((1 - SHARE) * self.level / 2))",
        "float(ndtri((1 - SHARE) * self.level / 1.9))",
        "test_the_normal_test_has_half_of_what_the_share_leaves_on_either_side",
    ),
    _mutant(
        "coverage: the normal interval spends alpha twice",
        "return -float(ndtri(alpha / 2)) * math.sqrt(max(seen, least, 0.0)",
        "return -float(ndtri(alpha)) * math.sqrt(max(seen, least, 0.0)",
        "test_what_is_said_is_wrong_no_more_often_than_promised[gap, normal, epsilon 1, 10,000 people]",
    ),
    # -------------------- passes
    _mutant(
        "passes: what hides a message can be tried out",
        "r = secrets.randbelow(key.n)",
        "r = secrets.randbelow(2**64)",
        "test_what_hides_a_message_is_any_number_below_the_key_and_another_each_time",
    ),
    _mutant(
        "passes: every salt is the same",
        "Blinding(secrets.token_bytes(SALT_BYTES), r)",
        "Blinding(bytes(SALT_BYTES), r)",
        "test_what_hides_a_message_is_any_number_below_the_key_and_another_each_time",
    ),
    _mutant(
        "passes: what is between zeros and salt is not compared",
        "or data[zeros] != 1:",
        "or False:",
        "test_a_code_that_is_bent_anywhere_is_no_signature_though_the_key_signed_it",
    ),
    _mutant(
        "passes: a signature may have a zero before it",
        "if len(signature) != key.size or number >= key.n:",
        "if number >= key.n:",
        "test_a_signature_is_good_for_its_message_and_its_key_only",
    ),
    _mutant(
        "passes: a token may name another issuer's key",
        "message[2 + _NONCE :] != challenge_digest + key.id",
        "message[2 + _NONCE : -32] != challenge_digest",
        "test_a_token_that_names_something_else_is_none_though_its_issuer_signed_it[key]",
    ),
    _mutant(
        "passes: a token may be of another type",
        "message[:2] != TYPE or message[2",
        "message[2",
        "test_a_token_that_names_something_else_is_none_though_its_issuer_signed_it[type]",
    ),
    _mutant(
        "passes: an even number is a key",
        "or n % 2 == 0 or write_key",
        "or write_key",
        "test_a_key_of_another_size_or_that_is_even_is_none",
    ),
    # -------------------- what is on the disk
    _mutant(
        "secrets: a power cut may take away one that was written",
        "Path(temporary).replace(folder / name) sync(folder)",
        "Path(temporary).replace(folder / name)",
        "test_a_secret_has_its_name_when_it_is_on_the_disk[written]",
    ),
    _mutant(
        "secrets: a power cut may take away a key that was used",
        "(folder / name).hardlink_to(temporary) sync(folder)",
        "(folder / name).hardlink_to(temporary)",
        "test_a_secret_has_its_name_when_it_is_on_the_disk[made]",
    ),
    _mutant(
        "record: a power cut may take away a new one",
        "if new: sync(self._folder)",
        "if new: pass",
        "test_the_name_of_a_new_record_is_on_the_disk",
    ),
    _mutant(
        "backup: a power cut may leave half a copy",
        "sync(path) os.link(path, target)",
        "os.link(path, target)",
        "test_nothing_is_overwritten[sqlite]",
        "test_nothing_is_overwritten[postgresql]",
    ),
    _mutant(
        "backup: a power cut may take away a copy",
        "sync(target.parent) except",
        "pass except",
        "test_nothing_is_overwritten[sqlite]",
        "test_nothing_is_overwritten[postgresql]",
    ),
    # -------------------- blind tickets in a browser
    _mutant(
        "javascript: what hides a message can be tried out",
        "const r = toNumber(random(sizeOf(n)));",
        "const r = toNumber(random(Math.min(8, sizeOf(n))));",
        "test_the_vectors_of_blind_tickets[honest]",
    ),
    _mutant(
        "javascript: what hides a message cannot always be divided out",
        "if (r < n && inverse(r, n) !== null) return",
        "if (r < n) return",
        "test_the_vectors_of_blind_tickets[honest]",
    ),
    _mutant(
        "javascript: what hides a message is folded, which is biased",
        "if (r < n && inverse(r, n) !== null) return { salt: random(SALT_BYTES), r };",
        "if (inverse(r % n, n) !== null) return { salt: random(SALT_BYTES), r };",
        "test_the_vectors_of_blind_tickets[honest]",
    ),
    _mutant(
        "javascript: every token has the same nonce",
        "nonce: random(NONCE_BYTES),",
        "nonce: new Uint8Array(NONCE_BYTES),",
        "test_the_vectors_of_blind_tickets[honest]",
    ),
    _mutant(
        "javascript: every salt is the same",
        "return { salt: random(SALT_BYTES), r };",
        "return { salt: new Uint8Array(SALT_BYTES), r };",
        "test_the_vectors_of_blind_tickets[honest]",
    ),
    _mutant(
        "javascript: a token may be of another study",
        "!same(message, await messageOf({ nonce }, key, challenge))",
        "!same(message.subarray(66), (await messageOf({ nonce }, key, challenge)).subarray(66))",
        "test_the_vectors_of_blind_tickets[honest]",
    ),
    _mutant(
        "javascript: a token may name another issuer's key",
        "!same(message, await messageOf({ nonce }, key, challenge))",
        "!same(message.subarray(0, 66), (await messageOf({ nonce }, key, challenge)).subarray(0, 66))",
        "test_the_vectors_of_blind_tickets[honest]",
    ),
    _mutant(
        "javascript: what is between zeros and salt is not compared",
        "data.subarray(0, zeros).some(Boolean) || data[zeros] !== 1)",
        "data.subarray(0, zeros).some(Boolean))",
        "test_the_vectors_of_blind_tickets[honest]",
    ),
    _mutant(
        "javascript: the zeros of a code are not compared",
        "if (data.subarray(0, zeros).some(Boolean) || data[zeros]",
        "if (data[zeros]",
        "test_the_vectors_of_blind_tickets[honest]",
    ),
    _mutant(
        "javascript: the trailer of a signature is not compared",
        "if (code.at(-1) !== TRAILER || !same(",
        "if (!same(",
        "test_the_vectors_of_blind_tickets[honest]",
    ),
    _mutant(
        "javascript: the digest of a signature is not compared",
        "return same(digest, await digestOf(message, data.subarray(zeros + 1)));",
        "return true;",
        "test_the_vectors_of_blind_tickets[honest]",
    ),
    _mutant(
        "javascript: a signature may have a zero before it",
        "if (signature.length !== sizeOf(n) || number >= n) return false;",
        "if (number >= n) return false;",
        "test_the_vectors_of_blind_tickets[honest]",
    ),
    _mutant(
        "javascript: an even number is a key",
        "bitsOf(n) === 2048 && n % 2n === 1n && same",
        "bitsOf(n) === 2048 && same",
        "test_the_vectors_of_blind_tickets[honest]",
    ),
    _mutant(
        "javascript: a short number is a key",
        "const whole = bitsOf(n) === 2048 && n",
        "const whole = n",
        "test_the_vectors_of_blind_tickets[honest]",
    ),
    _mutant(
        "secrets: one that was not written is taken for kept",
        'raise InvalidInput("secrets", folder / name, f"cannot be written: {error.strerror}") from None',
        "pass",
        "test_a_secret_that_cannot_be_written_or_read_is_said_and_leaves_nothing",
    ),
    _mutant(
        "secrets: one that cannot be read is made anew",
        'raise InvalidInput("secrets", path, f"cannot be read: {error.strerror}") from None',
        "return None",
        "test_a_secret_that_cannot_be_written_or_read_is_said_and_leaves_nothing",
    ),
    _mutant(
        "secrets: half a secret stays beside the others",
        "except BaseException: Path(temporary).unlink(missing_ok=True) raise",
        "except BaseException: raise",
        "test_a_secret_that_cannot_be_written_or_read_is_said_and_leaves_nothing",
    ),
    _mutant(
        "secrets: of two that make a key at once each has its own",
        "except FileExistsError: continue",
        "except FileExistsError: return Path(temporary).read_bytes()",
        "test_of_two_that_make_a_key_at_once_both_have_the_first_ones",
    ),
    _mutant(
        "passes: a challenge is not that of RFC 9577",
        "bytes([len(context)]) + context + bytes(2)",
        "bytes([len(context)]) + context + bytes(3)",
        "test_a_challenge_is_the_one_of_rfc_9577",
    ),
    # -------------------- drawn at random, and survived
    _mutant(
        "gap: secret draws are counted as answers",
        "return float(self.parts.sum()) - self.draws.count",
        "return float(self.parts.sum())",
        "test_draws_among_the_counts_are_no_answers",
    ),
    _mutant(
        "gap: between margins only the bend before counts",
        "bends = np.maximum(np.append(bends[:1], bends), np.append(bends, bends[-1:]))",
        "bends = np.append(bends[:1], bends)",
        "test_between_margins_the_bend_on_either_side_counts",
    ),
    _mutant(
        "agent: what askers give need not be a list of texts",
        "if not isinstance(found, list) or not all(isinstance(item, str) for item in found):",
        "if not isinstance(found, list):",
        "test_settings_are_read_strictly",
    ),
    _mutant(
        "front door: another parameter than the repeated one is named",
        "return next(name for name in names if names.count(name) > 1)",
        "return next(name for name in names if names.count(name) >= 1)",
        "test_a_request_is_refused_by_the_same_rules",
    ),
    _mutant(
        "tickets: a site's name may be longer",
        "_LONGEST_NAME = 100",
        "_LONGEST_NAME = 101",
        "test_what_is_no_name_of_a_site_gets_no_ticket",
    ),
    _mutant(
        "javascript: a symbol that nobody sends is taken",
        "if (table.every((row) => row[j] === 0n)) {",
        "if (table.every((row) => row[j] === 1n)) {",
        "test_a_symbol_that_nobody_sends_is_refused_and_one_that_few_send_is_not",
    ),
    _mutant(
        "javascript: the second key configuration is looked for in a wrong place",
        "at + 2 <= list.length; at += 2 + 256 * list[at] + list[at + 1])",
        "at + 2 <= list.length; at += 2 + 256 + list[at] + list[at + 1])",
        "test_the_vectors_of_envelopes[honest]",
    ),
    _mutant(
        "verdict: where less is better, more is called better",
        'return "higher-worse" if higher else "lower-better"',
        'return "lower-better" if higher else "higher-worse"',
        "test_where_less_is_better_a_higher_number_is_worse_and_no_four_fifths_are_told",
    ),
    _mutant(
        "verdict: where less is better, nothing is said of it",
        "if metric.better is None: return",
        "if True: return",
        "test_where_less_is_better_a_higher_number_is_worse_and_no_four_fifths_are_told",
    ),
    _mutant(
        "verdict: a gap goes the other way",
        "higher = gap.low > 0",
        "higher = gap.low < 0",
        "test_the_line_of_the_issue",
    ),
    _mutant(
        "languages: a difference of Latin names runs from right to left",
        "_RIGHT_FIRST if self.direction == 'rtl' and other else _LEFT_FIRST",
        "_RIGHT_FIRST if self.direction == 'rtl' else _LEFT_FIRST",
        "test_a_difference_of_names_keeps_its_order_from_right_to_left",
    ),
    _mutant(
        "languages: a line breaks inside 18–29",
        'return _SPAN.sub("\\N{EN DASH}\\N{WORD JOINER}", name) if self.marks else name',
        "return name",
        "test_no_line_breaks_inside_a_span_of_numbers",
    ),
    _mutant(
        "report: its language is not read from what it states",
        'Provenance(found["date"], found["over"], found["asked"], seal, found["language"])',
        'Provenance(found["date"], found["over"], found["asked"], seal)',
        "test_a_report_in_another_language_holds_and_a_forged_word_is_caught",
    ),
    _mutant(
        "units: bare numbers do not say what they are in",
        "if unit_of(metric).name:",
        "if not unit_of(metric).name:",
        "test_bare_numbers_say_what_they_are_in",
    ),
    _mutant(
        "order of groups: a table of two metrics is made for the order typed",
        "order = own_order(first.target)",
        "order = [0, 1]",
        "test_a_table_for_groups_in_the_other_order_is_the_same_table",
    ),
    _mutant(
        "order of groups: what groups are compared with decides nothing",
        "if not comparisons or len(first) > FEW or len(alike) == len(first):",
        "if comparisons or len(first) > FEW or len(alike) == len(first):",
        "test_groups_that_only_comparisons_tell_apart_have_the_same_tables_in_any_order",
    ),
    _mutant(
        "third mechanism: what a plan is asked for goes to sites whatever is named",
        "return _BY_OUTCOME[outcome]",
        'return _BY_OUTCOME[outcome and "confusion"]',
        "test_plans_and_designs_are_of_one_table",
    ),
    _mutant(
        "languages: a list of names is not read as its language is",
        "together = _END in text",
        "together = False",
        "test_a_list_of_names_in_a_sentence_is_read_as_its_language_is",
    ),
    _mutant(
        "pictures: a number at the end of an axis is cut",
        "drawing.text(min(max(x, half), drawing.width - half), drawing.height",
        "drawing.text(x, drawing.height",
        "test_no_number_of_an_axis_is_cut_at_its_end",
    ),
    _mutant(
        "operator: the page takes no language from its address",
        '"Needs the session of an operator.", ("not-allowed", "too-many"),\n        query=Language,',
        '"Needs the session of an operator.", ("not-allowed", "too-many"),',
        "test_the_page_says_how_many_share_an_epoch",
    ),
    _mutant(
        "units: a mean from 0 to 100 has none",
        'return unit if unit.factor == 1 else Unit(1, "")',
        'return Unit(1, "", metric.unit or "")',
        "test_a_metric_from_0_to_100_is_in_points_and_a_metric_with_a_unit_in_its_own",
    ),
    _mutant(
        "ledger: a question below epsilon 1 is charged 1",
        "max(found.get(factor.name, Decimal(0)), question.mechanism.epsilon_bound)",
        "max(found.get(factor.name, Decimal(1)), question.mechanism.epsilon_bound)",
        "test_a_question_below_one_pays_no_more_than_it_spends",
    ),
    _mutant(
        "agent: two that start at once both begin",
        'raise InvalidInput("socket", path, "is in use by an agent that is running") from None yield',
        "pass yield",
        "test_of_two_agents_that_start_at_once_one_begins",
    ),
    _mutant(
        "agent: the check does not look whether records are prepared",
        "own.load_records() except InvalidInput as problem: return [str(problem)]",
        "pass except InvalidInput as problem: return [str(problem)]",
        "test_the_check_tells_the_owner_that_records_are_not_prepared",
    ),
    _mutant(
        "epochs: oneself is among the others",
        "return (planned - 1) * min(1.0,",
        "return planned * min(1.0,",
        "test_the_others_of_an_epoch_are_all_but_oneself",
    ),
)
