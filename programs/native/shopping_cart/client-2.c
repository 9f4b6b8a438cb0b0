/* Shopping cart, client 2 of the benchmark; in the language of isoscope it
 * is programs/shopping_cart/client-2.tx.
 */
#include "../shopping_cart.h"

#include <isoscope/client.h>

static void s1(void *unused)
{
	(void)unused;
	remove_item(0);
	get_item(2);
	change_quantity(1, 18);
}

static void s2(void *unused)
{
	(void)unused;
	change_quantity(1, 10);
	get_item(1);
	add_item(6, 1);
}

static void s3(void *unused)
{
	(void)unused;
	add_item(5, 3);
	list_items();
	change_quantity(6, 666);
}

void iso_client(void)
{
	shopping_cart_initial();
	iso_session("s1", s1, NULL);
	iso_session("s2", s2, NULL);
	iso_session("s3", s3, NULL);
}
