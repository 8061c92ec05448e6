"""A Gmail API v1 server over HTTP, for the demo and the tests."""
