"""Every field of a study's own file, with an example: what is read, what is refused, and the page that explains it."""

from typing import NamedTuple


class Field(NamedTuple):
    """A field of the file.

    Args:
        place: The table that it stands in; empty for the top of the file.
        name: Its name.
        example: A value, as TOML has it.
        about: What it says, in one sentence.
    """

    place: str
    name: str
    example: str
    about: str


_TOP = (
    ("title", '"Falls found, by sex"', "What the study is about, for the people who are asked."),
    ("epsilon", "1", "The privacy loss of one answer; the smaller the more private."),
    ("target", '"gap"', "What it is made for: the comparisons (gap), or the worst group's mean (means). gap unless given."),
    ("design", '"auto"', "Which design: auto takes the best; laplace(1:1) is one of the source paper's, with its budgets."),
    ("abstain", "true", "Whether people may prefer not to say; so it is unless given if everyone may answer."),
    ("abstaining", "0.3", "The part of devices that will have nothing to say; lets them abstain."),
    ("symbols", "400", "The most symbols of a channel for seven and more groups: 400 unless given."),
    ("outcome", '"confusion"', "For sites that hold many people: what they count, confusion (truth and prediction) or levels (a metric)."),
    ("records", "1", "For sites: how many records of one person count at most."),
    ("person", '"one patient"', "For sites: who counts as one person, in words."),
    ("language", '"en"', "The language of the texts."),
    ("purpose", '"To find out whom the detector fails."', "Why it is asked, and what happens with the answers."),
    ("operator", '"Example Clinic"', "Who asks, for people and for the report."),
    ("contact", '"ada@example.org"', "Whom people can ask."),
    ("model", '"fall-detector@3.1"', "The model that the study is about, and its version."),
    ("stratum", '{ of = "region", name = "north", share = 0.4 }', "The part of the people that is asked, by a label that everyone may know, and its share of all; each part has a study of its own."),
    ("planned", "200000", "How many answers are planned; plans and the choice of a design reckon with them."),
    ("aim", "0.02", "The error to reach, as a part of the metric's range."),
    ("opens", "2027-01-01T00:00:00Z", "When it opens."),
    ("closes", "2027-03-01T00:00:00Z", "When it closes."),
    ("retention", "30", "For how many days after closing single answers are kept; the tally stays."),
    ("admission", '"tickets"', "Who may answer: open to everyone, with tickets, or with blind tickets."),
    ("issuer", '{ name = "issuer.example", key = "MIIB" }', "Who gives out blind tickets, and its public key."),
    ("gateway", '"AQAgMz"', "The key configuration of the collector's gateway, which fairgauge key gateway prints."),
    ("epoch", "86400", "For how many seconds answers are held back, so that their moment tells nothing."),
    ("hourly", "20000", "How many answers the collector takes in an hour."),
    ("order", '"waves"', "waves if clients do not answer in random order, say one country after another."),
)  # fmt: skip
_METRICS = (
    ("name", '"recall"', "What is measured on a device."),
    ("low", "0", "Its least value; 0 unless given."),
    ("high", "1", "Its largest value; 1 unless given."),
    ("expect", "0.9", "The overall mean to reckon with. A wrong guess costs only precision."),
    ("spread", "0.15", 'How far values spread about it, as a standard deviation; "max" for any values.'),
    ("weight", "2", "How much it matters beside the other metrics; 1 unless given."),
    ("better", '"lower"', "lower where less is better, as of errors; left out, more is."),
    ("unit", '"ms"', "What stands behind a value. Differences of a metric from 0 to 1 or from 0 to 100 are in points unless given."),
    ("help", '"How many of your falls were found, from 0 to 1."', "What to give as a value, for the person who is asked."),
)  # fmt: skip
_ATTRIBUTE = (
    ("name", '"sex"', "What the groups are groups of."),
    ("groups", '["female", "male"]', "The groups."),
    ("shares", "[0.5, 0.5]", "Their shares of the people whom the study is about, in the same order; where attributes cross also the name of a CSV file with the cells' shares."),
    ("answering", '"any"', "How often groups answer beside each other: any, so that their shares of the answers are estimated; a ratio such as 1.1; or alike, so that the stated shares are taken for those of the answers."),
    ("share_error", "0.02", "With answering alike or a ratio: by how much each share may be off; intervals pay for it."),
    ("share_source", '"census 2021"', "Where the shares come from, for people."),
    ("comparisons", '[{ of = "female", against = "male", weight = 2 }]', 'What to compare: a list; "cells" for every two groups; "margins" where attributes cross; { against = "male" } for every other group with one. Fewer are sharper together.'),
    ("cross", "[]", "Instead of groups: the attributes that cross, each under [[attribute.cross]]."),
    ("help", '"As in your passport."', "What to give as a group, for the person who is asked."),
)  # fmt: skip
_CROSS = (
    ("name", '"age"', "One of the attributes that cross."),
    ("groups", '["18-49", "50+"]', "Its groups."),
    ("shares", "[0.6, 0.4]", "Their shares; the cells' are then those of independent attributes, which the study says."),
    ("help", '"Your age today."', "What to give as a group, for the person who is asked."),
)  # fmt: skip
_PLAN = (
    ("clients", "200000", "How many devices will answer; as many as are planned unless given."),
    ("error", "0.02", "The half-width of the interval to reach, in the metric's units."),
    ("confidence", "0.99", "How often the interval is to hold the truth."),
    ("interval", '"population"', "What the interval is about and promises."),
    ("detect", "0.05", "Also tell the chance of noticing a gap of this size."),
    ("crowd_epsilon", "0.5", "What counts may cost a person; finds the local epsilon and the secret draws."),
    ("delta", "1e-9", "The crowd's delta."),
    ("local_limit", "4", "The most epsilon that one answer may cost."),
    ("sites", "12", "For sites: how many take part."),
    ("people", "5000", "For sites: how many people each of them holds."),
    ("right", "0.9", "For sites: the part of people whom the model is right about, where they count truth and prediction."),
    ("positives", "0.2", "For sites: the part of people whose truth is 1."),
)  # fmt: skip
_TABLE = (
    ("columns", '{ sex = "gender" }', "The column of each attribute and metric whose name it has not itself."),
    ("labels", '{ sex = { F = "female", M = "male" } }', 'What labels mean: a group, "" for missing, and "*" for every label that is not listed; for a metric, the number that a text stands for, and "*" for every text that is no number.'),
    ("missing", '"leave out"', 'What becomes of people who lack a group or a value: "leave out", or "abstain" where the study lets them.'),
    ("count", '"n"', "The column that says how many people a row stands for; count if there is one, else each row is one person."),
)  # fmt: skip
_PARTS = {
    "": _TOP,
    "metrics": _METRICS,
    "attribute": _ATTRIBUTE,
    "attribute.cross": _CROSS,
    "plan": _PLAN,
    "table": _TABLE,
}

FIELDS = tuple(Field(place, *row) for place, rows in _PARTS.items() for row in rows)
# Tables with fields that documents have, too, and tables themselves.
_WITHIN = {
    "": ("metrics", "attribute", "plan", "table"),
    "model": ("name", "version"),
    "stratum": ("of", "name", "share"),
    "issuer": ("name", "key"),
}


def names_under(place: str) -> list[str]:
    """Return the names of the fields that may stand in a table of the file.

    >>> names_under("table")
    ['columns', 'labels', 'missing', 'count']
    """
    return [one.name for one in FIELDS if one.place == place] + list(_WITHIN.get(place, ()))
