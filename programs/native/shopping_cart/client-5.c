/* Shopping cart, client 5 of the benchmark; in the language of isoscope it
 * is programs/shopping_cart/client-5.tx.
 */
#include "../shopping_cart.h"

#include <isoscope/client.h>

static void s1(void *unused)
{
	(void)unused;
	remove_item(7);
	add_item(6, 1);
	change_quantity(6, 2);
}

static void s2(void *unused)
{
	(void)unused;
	change_quantity(6, 10);
	change_quantity(7, 0);
	change_quantity(6, 0);
}

static void s3(void *unused)
{
	(void)unused;
	remove_item(6);
	add_item(7, 1);
	change_quantity(7, 2);
}

void iso_client(void)
{
	shopping_cart_initial();
	iso_session("s1", s1, NULL);
	iso_session("s2", s2, NULL);
	iso_session("s3", s3, NULL);
}
