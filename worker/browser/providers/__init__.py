"""Where a profile's browser comes from: one small interface, and three kinds behind it."""
