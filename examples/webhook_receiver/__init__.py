"""A receiver of Nightshift's webhooks, in nothing but the standard library. Copy what you need."""

from examples.webhook_receiver.receiver import Inbox, Refused, serve, verify

__all__ = ["Inbox", "Refused", "serve", "verify"]
