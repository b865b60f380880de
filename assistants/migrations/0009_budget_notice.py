from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('assistants', '0008_steering'),
    ]

    operations = [
        migrations.AddField(
            model_name='turn',
            name='budget_notice',
            field=models.PositiveSmallIntegerField(default=0, help_text='The share of its budget, in per cent, last told of.'),
        ),
    ]
