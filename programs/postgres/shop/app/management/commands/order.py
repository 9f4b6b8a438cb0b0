from django.contrib.auth.models import User
from django.core.management.base import BaseCommand
from django.db import transaction

from app.models import Order, Product


class Command(BaseCommand):
    help = "Orders a product, if there is enough of it."

    def add_arguments(self, parser):
        parser.add_argument("customer")
        parser.add_argument("product")

    @transaction.atomic
    def handle(self, *args, **options):
        customer = User.objects.get(username=options["customer"])
        product = Product.objects.get(name=options["product"])
        if product.stock < 1:
            self.stdout.write("sold out")
            return
        product.stock -= 1
        product.save()
        Order.objects.create(customer=customer, product=product, quantity=1)
        self.stdout.write("ordered")
