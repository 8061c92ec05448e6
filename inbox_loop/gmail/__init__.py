"""Gmail over google-api-python-client: the only importer of googleapiclient and google.auth."""
