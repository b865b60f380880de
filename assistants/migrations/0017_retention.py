from django.core import validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("assistants", "0016_visitors_client_keys")]

    operations = [
        migrations.AddField(
            "tenant",
            "keep_days",
            models.PositiveSmallIntegerField(
                blank=True,
                help_text="Conversations that nobody has touched for so many days are deleted for good. Empty: kept for ever.",
                null=True,
                validators=[validators.MinValueValidator(1)],
                verbose_name="days to keep",
            ),
        ),
        migrations.AlterField(
            "spendentry",
            "root",
            models.ForeignKey(
                null=True, on_delete=models.deletion.SET_NULL, related_name="spending", to="assistants.turn"
            ),
        ),
        migrations.AlterField(
            "spendentry",
            "turn",
            models.ForeignKey(
                null=True, on_delete=models.deletion.SET_NULL, related_name="spend_entries", to="assistants.turn"
            ),
        ),
    ]
