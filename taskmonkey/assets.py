"""Static files under names that carry their hash, so that browsers may keep them for ever."""

from servestatic.storage import CompressedManifestStaticFilesStorage


class HashedModules(CompressedManifestStaticFilesStorage):
    """Also gives the modules that our scripts import their hashed names, or old ones would be mixed with new ones.

    Only ours: other packages' scripts have imports in their comments. Modules may not import each other in a circle.
    """

    patterns = (
        *CompressedManifestStaticFilesStorage.patterns,
        ("js/*.js", CompressedManifestStaticFilesStorage._js_module_import_aggregation_patterns[1]),
    )
