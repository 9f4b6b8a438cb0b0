"""With an argument: makes the table, as a migration does."""
import os
import sys
import django
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import IntegrityError, connection, models, transaction
import words

settings.configure(
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    DATABASES={"default": {
        "ENGINE": "django.db.backends.postgresql",
        "HOST": os.environ["PGHOST"], "USER": os.environ["PGUSER"],
        "PORT": os.environ["PGPORT"], "PORT": os.environ["PGPORT"], "NAME": os.environ["PGDATABASE"]}})
django.setup()


class Item(models.Model):
    name = models.TextField(unique=True)
    price = models.DecimalField(null=True, max_digits=8, decimal_places=2)
    good = models.BooleanField(null=True)
    made = models.DateField(null=True)
    tags = ArrayField(models.TextField(), null=True)
    big = models.BigIntegerField(null=True)
    raw = models.BinaryField(null=True)
    nothing = models.IntegerField(null=True)

    class Meta:
        app_label = "shop"


if len(sys.argv) > 1:
    with connection.schema_editor() as editor:
        editor.create_model(Item)
    Item.objects.create(name="plum", price="1.50", good=True,
                        made="2024-02-29", tags=["x", "y"],
                        big=9007199254740993, raw=b"\x00\xff")
    sys.exit()
Item.objects.create(name="fig", price="2.25")
fig = Item.objects.get(name="fig")
print("prepared", fig.name, fig.price)
with transaction.atomic():
    Item.objects.all().delete()
    transaction.set_rollback(True)
print("rolled back", len(list(Item.objects.iterator(chunk_size=1))))
try:
    with transaction.atomic():
        Item.objects.create(name="plum")
except IntegrityError as e:
    print("error", e.__cause__.pgcode)
words.types(Item.objects.values_list().get(name="plum"))
