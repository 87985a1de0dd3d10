"""The schemas of requests and responses, from which the OpenAPI document and the types used by the front end are generated."""
