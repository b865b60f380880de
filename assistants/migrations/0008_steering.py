from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("assistants", "0007_copied_tables"),
    ]

    operations = [
        migrations.AddField(
            model_name="turn",
            name="joins",
            field=models.CharField(
                blank=True,
                choices=[("", "Not"), ("steer", "Steer"), ("interrupt", "Interrupt")],
                help_text="While it is queued: whether the running turn takes its message in, at its next step or at once.",
                max_length=10,
            ),
        ),
    ]
