"""The drill of a cluster: three real members, HAProxy in front, three launchers, the same ledger.

Each member has a network namespace of its own, so that it can be cut off from the others while
clients still reach it, by a unix socket.
"""
