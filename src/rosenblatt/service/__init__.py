"""The learning service: predictions while it learns, and no acknowledged example is ever lost.

Invariant: the model is a plain fold over the log. After any crash of the process or the machine, a restart
gives the state of the stored examples, bit for bit. One process owns the state.

Nothing is imported here: the service needs the extra ``serve``, its client nothing at all.
"""
