from django.db import migrations, models


def install_passage_index(apps, schema_editor):
    from assistants.documents.search_index import index_of

    index_of(schema_editor.connection).install(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = [
        ("assistants", "0003_public_documents"),
    ]

    operations = [
        migrations.AddField(
            model_name="document",
            name="size",
            field=models.PositiveBigIntegerField(default=0, help_text="Bytes of the file."),
        ),
        migrations.RunPython(install_passage_index, migrations.RunPython.noop),
    ]
