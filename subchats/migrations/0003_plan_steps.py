import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('assistants', '0006_team'),
        ('subchats', '0002_team'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='plan',
            name='approved_steps',
            field=models.PositiveSmallIntegerField(default=0, help_text='So many steps, from the first, were approved.'),
        ),
        migrations.AddField(
            model_name='plan',
            name='changed_by',
            field=models.ForeignKey(help_text='The person who changed this version; nobody: the assistant wrote it.', null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='planstep',
            name='call',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='plan_steps', to='assistants.toolcall'),
        ),
        migrations.AddField(
            model_name='planstep',
            name='delegation',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='steps', to='subchats.delegation'),
        ),
    ]
