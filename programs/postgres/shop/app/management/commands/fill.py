from django.contrib.auth.models import User
from django.core.management.base import BaseCommand

from app.models import Product


class Command(BaseCommand):
    help = "Fills an empty shop."

    def handle(self, *args, **options):
        Product.objects.create(name="kettle", stock=1)
        for name in "ann", "ben":
            User.objects.create(username=name)
