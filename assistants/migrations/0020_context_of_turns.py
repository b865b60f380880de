from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("assistants", "0019_words_for_people"),
    ]

    operations = [
        migrations.AddField(
            model_name="turn",
            name="prompt_tokens",
            field=models.PositiveIntegerField(
                default=0, help_text="What its newest model call was sent.", verbose_name="prompt tokens"
            ),
        ),
        migrations.AddField(
            model_name="turn",
            name="context_window",
            field=models.PositiveIntegerField(
                default=0,
                help_text="What that model can read at once, in tokens; 0 where that is not known.",
                verbose_name="context window",
            ),
        ),
    ]
