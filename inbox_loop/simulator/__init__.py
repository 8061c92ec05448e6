"""A Gmail API v1 server over HTTP, for the demo and the tests.

It is faithful where a client could go wrong: ids, history, paging, payload trees, quotas, errors. It takes no mail
from outside; mail is delivered by the Python methods of ``store.Account``. Start with ``server.Simulator``.
"""
