from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("assistants", "0009_budget_notice"),
    ]

    operations = [
        migrations.AddField(
            model_name="documentroot",
            name="pinned",
            field=models.JSONField(
                default=dict,
                editable=False,
                help_text="The path as it was entered, and the real one that it had then.",
            ),
        ),
        migrations.AddField(
            model_name="passage",
            name="anchor",
            field=models.CharField(blank=True, help_text="The page, sheet or slide that it stands on.", max_length=100),
        ),
    ]
