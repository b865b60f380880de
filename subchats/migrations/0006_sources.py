import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('assistants', '0014_caps_of_ended_turns'),
        ('subchats', '0005_research_memory'),
    ]

    operations = [
        migrations.AddField(
            model_name='researchrun',
            name='discovery',
            field=models.JSONField(default=dict, help_text='What the local discovery said, and how often it was asked (A-35).'),
        ),
        migrations.CreateModel(
            name='LocalDiscovery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('command', models.CharField(help_text='A program by its absolute path, and its arguments. No shell reads it.', max_length=500)),
                ('enabled', models.BooleanField(default=False)),
                ('tenant', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='local_discovery', to='assistants.tenant')),
            ],
            options={
                'verbose_name_plural': 'local discoveries',
            },
        ),
        migrations.CreateModel(
            name='DatasourceGrant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('source', models.CharField(max_length=60)),
                ('tags', models.JSONField(blank=True, default=list)),
                ('scopes', models.JSONField(blank=True, default=list)),
                ('assistant', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='datasource_grants', to='assistants.assistant')),
                ('tenant', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='datasource_grants', to='assistants.tenant')),
            ],
            options={
                'ordering': ['pk'],
                'constraints': [models.UniqueConstraint(fields=('assistant', 'source'), name='one_grant_per_source')],
            },
        ),
    ]
