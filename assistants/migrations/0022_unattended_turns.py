from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('assistants', '0021_pending_calls'),
    ]

    operations = [
        migrations.AddField(
            model_name='turn',
            name='unattended',
            field=models.JSONField(help_text='From when to when nobody ran it although it could go on.', null=True, verbose_name='unattended'),
        ),
    ]
