"""The source paper: its results redone as printed, beside each what is true, and what the same privacy can buy today.

Juarez and Korolova, "You Can't Fix What You Can't Measure": Privately Measuring Demographic Performance Disparities in
Federated Learning, 2022 (PMLR 214).  The paper asked the question that fairgauge answers and found the shape of the
answer.  Two of its privacy theorems do not hold: :mod:`fairgauge.paper.errata` has counterexamples that run.

===============  ===========================================================================================
mechanisms       M_R and M_L exactly as published, with their estimators and closed-form variances
theorems         what they claim of privacy, what is exactly true, and a person's group guessed from one answer
errata           every claim that does not hold, a counterexample, and what it costs
bounds           the paper's planning, by Chebyshev's inequality
estimator        the paper's estimators on the tally of a study
tables           Tables 1 and 2, as printed, with sound privacy, and with the optimal design
fixed_intervals  about exactly the clients who answered: Chebyshev's, and two that are narrower (prawitz)
optimal_design   what the optimal design reaches there, and how often those intervals hold
runs             whole experiments in one draw, exact at any number of clients
paper_figures    the paper's figures, with the truth drawn in
dataset          the model and the clients of the appendix, from the UCI archive
pages            everything redone and written into a folder
===============  ===========================================================================================

Nothing but the command line imports this room.  Its mechanisms are for reproduction only: they work on floats, some of
them have no finite epsilon, and no client can be made to run them, since a client runs nothing but a finite table of
integers whose epsilon it has computed itself.
"""
