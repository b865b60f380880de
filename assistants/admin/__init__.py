"""The pages on which a team is set up and looked after."""

from . import assistants, audit, budgets, documents, groups, profiles, tenants, threads, users

__all__ = ["assistants", "audit", "budgets", "documents", "groups", "profiles", "tenants", "threads", "users"]
