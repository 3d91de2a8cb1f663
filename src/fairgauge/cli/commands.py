"""The commands, in the order of a study, and what ``fairgauge --help`` shows of them.

A table and not what the commands' modules say of themselves: reading those loads the whole laboratory, and someone
who asks for help, or has the base package only, waits for none of it.  A test compares the two.
"""

COMMANDS = {
    "new": "Look at a table of people, and write a study's own file from it, with comments.",
    "plan": "Find how many clients, how much privacy or how small an error: give two, get the third.",
    "design": "Make a study: choose a mechanism, check its privacy exactly, write the document.",
    "terms": "Write a study with the terms on which it is run: who may answer, through what, and when it is sent.",
    "texts": "Show the texts of a study by their place, explain what is asked, and add translations.",
    "verify": "Recompute the exact epsilon of a study, and check that tally, seal, export and report belong to it.",
    "answer": "Answer a study once, and deliver it: a device by one randomised symbol, a site by noisy counts.",
    "agent": "Hold a person's profile and ledger, and answer studies for whoever asks on a Unix socket.",
    "ledger": "Show what a device has spent, and check that an answer was counted.",
    "simulate": "Draw clients from a population and simulate their answers, exactly in distribution, at any size.",
    "tally": "Count the answers in files; refuse those that are not answers to this study.",
    "estimate": "Estimate gaps and means, with intervals that say what they guarantee.",
    "report": "Write a report: one HTML file with results, pictures, method and privacy, ready to print.",
    "serve": "Take answers over HTTP, and count each of them once.",
    "store": "Check, back up, restore, upgrade and thin out what a collector keeps.",
    "key": "Show, rotate and adopt the keys that a collector signs with.",
    "token": "Make, list and revoke the tokens of operators and readers.",
    "ticket": "Make tickets, each of which lets one device answer a study once.",
    "issuer": "Give out blind tickets, which nobody can recognise when they are spent.",
    "relay": "Carry envelopes to a collector's gateway, so that it does not see who sends them.",
    "embed": "Write the form of a study as one script for your own page, and print the lines for that page.",
    "audit": "Answer a study many times, as devices or sites do, and see whether more comes out than it declares.",
    "paper": "Redo the source paper's tables, figures and dataset, and write what is true beside each.",
}

SENTENCE = "Measure how differently a model serves groups of people, without learning who belongs to which group."

# Those that a device runs.
BARE = ("answer", "agent")


def overview() -> str:
    """Return the commands, each on a line.

    >>> print(overview().splitlines()[0])
    Usage: fairgauge COMMAND [OPTIONS] [ARGS]...
    """
    width = max(map(len, COMMANDS))
    listed = [f"  {name:<{width}}  {sentence}" for name, sentence in COMMANDS.items()]
    return "\n".join(
        [
            "Usage: fairgauge COMMAND [OPTIONS] [ARGS]...",
            "",
            SENTENCE,
            "",
            *listed,
            "",
            "`fairgauge COMMAND --help` explains one of them; `fairgauge --version` prints the version.",
            "`fairgauge --install-completion` lets bash, zsh or fish complete what you type.",
            "",
        ]
    )
