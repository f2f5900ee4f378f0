"""The drill: a real pool on a scratch database, hit by hundreds of faults, and then audited.

Nothing here is part of a run. It only watches and harms the launcher from outside, as a bad night
would, and believes neither the pool nor the queue: tasks keep a ledger of their own.
"""
