"""The operator's view in a browser: server-rendered pages over what the rooms below know.

The only flask. It needs the extra `[web]`; nothing outside this room does.
"""
