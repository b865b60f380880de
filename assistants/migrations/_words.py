"""States in a migration what models and their fields are called, all at once."""

from collections.abc import Mapping
from typing import Any

from django.db.migrations.operations.base import Operation


class CallThings(Operation):
    """Changes options of models and arguments of fields that no table knows of: names and the labels of choices.

    `models` has, by the model's name, its options and, by each field's name, the arguments. An `AlterField` for each of
    hundreds of fields would build all models anew as often, which takes seconds.
    """

    reduces_to_sql = False
    reversible = True

    def __init__(self, models: Mapping[str, tuple[dict[str, Any], dict[str, dict[str, Any]]]]) -> None:
        self.models = models

    def state_forwards(self, app_label: str, state: Any) -> None:
        for name, (options, fields) in self.models.items():
            model = state.models[app_label, name]
            model.options = {**model.options, **options}
            for field, words in fields.items():
                _, _, arguments, named = model.fields[field].deconstruct()
                model.fields[field] = type(model.fields[field])(*arguments, **{**named, **words})

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """No table changes."""

    database_backwards = database_forwards

    def describe(self) -> str:
        return "Call models and fields by words for people"
