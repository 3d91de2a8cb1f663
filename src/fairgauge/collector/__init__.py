"""The collector: takes answers over HTTP, counts each once, loses none, and learns nothing else.

The way of an answer, and the module that each step lives in::

    protocol    a connection that must hurry up: header and body deadlines, sizes, how many at once
      |
    table       every request in one table: who may make it (``access``), what it takes (``queries``), what it gives
      |         (``shapes``); routes and the OpenAPI document are made from it
    routes      one answer or a batch, read strictly; tickets and rates say who may do what
      |
    intake      answers that wait together are committed together (group commit)
      |
    stores      SQLite or PostgreSQL: the answer and the tally in one durable transaction
      |
    seal        when the study is over: the tally, the estimate and a digest that anyone can recompute

People see all of it in a browser through ``pages``, and ``sessions`` says who has signed in there.
Whatever is refused is refused with an error of ``refusals``, and ``app`` tells it as a problem (``problems``).
``service`` holds the parts together, ``config`` says how they are set, and ``serve`` runs them.  No address, user
agent or exact time is stored or logged anywhere in here.
"""
