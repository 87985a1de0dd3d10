"""The schemas of requests and responses, from which the OpenAPI document and the types of the pages are made."""
