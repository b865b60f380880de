from django.db import migrations, models


def install_search_index(apps, schema_editor):
    from assistants.conversations.search_index import index_of

    index_of(schema_editor.connection).install(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [
        ("assistants", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="thread",
            name="last_news",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="thread",
            name="title_asked",
            field=models.BooleanField(default=False, help_text="A model was asked for a title, whatever came of it."),
        ),
        migrations.RunPython(install_search_index, migrations.RunPython.noop),
    ]
