"""The collector: takes answers over HTTP, counts each once, loses none, and learns nothing else.

The way of an answer, and the module that each step lives in::

    server.slow_clients   a connection that must hurry up: header and body deadlines, sizes, how many at once
      |
    app                   routes from ``operations``, the table of all that can be asked; errors become problems
      |
    answer_endpoint       one answer or a batch, charged by ``load_limits``, read strictly, checked by ``admission``
      |
    intake                answers that wait together are committed together (group commit)
      |
    stores                SQLite or PostgreSQL: the answer and the tally in one durable transaction
      |
    seal                  when the study is over: the tally, the estimate and a digest that anyone can recompute

Programs ask ``study_endpoints`` and ``result_endpoints``, devices that hide ask through ``gateway``, and people see all
of it in a browser through ``pages``; ``access`` and ``sessions`` say who may.  ``service`` holds the parts together,
``config`` says how they are set, and ``workers`` runs them.  No address, user agent or exact time is stored or logged
anywhere here.
"""
