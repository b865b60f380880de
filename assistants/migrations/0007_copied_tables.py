# A copied conversation holds its own copy of a table under the same pointer.

import assistants.models.stored_table
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('assistants', '0006_team'),
    ]

    operations = [
        migrations.AddField(
            model_name='storedtable',
            name='row_count',
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AlterField(
            model_name='storedtable',
            name='pointer',
            field=models.CharField(default=assistants.models.stored_table.new_pointer, max_length=16),
        ),
        migrations.AddConstraint(
            model_name='storedtable',
            constraint=models.UniqueConstraint(fields=('root', 'pointer'), name='one_table_per_pointer'),
        ),
    ]
