"""The schemas of requests and responses, the source of the OpenAPI document and of the types of the pages."""
