// A client in C++. -DCASE=name chooses the session.
#include <stdexcept>
#include <string>
#include <vector>

#include <isoscope/client.h>

namespace {

struct account {
	std::string name;
	int64_t amount;
};

void transfers(void *data)
{
	const auto *a = static_cast<const account *>(data);
	std::vector<std::string> seen;
	iso_begin("transfer");
	int64_t n = iso_get_int(a->name.c_str());
	seen.push_back(std::to_string(n));
	iso_put_int(a->name.c_str(), n + a->amount);
	iso_note_string("seen", seen.back().c_str());
	iso_commit();
}

void catches(void *data)
{
	iso_begin("catch");
	try {
		iso_put_int("x", iso_get_int("x") + 1);
		if (data) throw std::runtime_error("overdrawn");
		iso_commit();
	} catch (const std::exception &) {
		iso_abort();
	}
}

void throws(void *data)
{
	iso_begin("throw");
	iso_put_int("x", iso_get_int("x") + 1);
	if (data) throw std::runtime_error("nobody catches this");
	iso_commit();
}

account one = { "x", 1 }, other = { "x", 10 };

} // namespace

void iso_client()
{
	iso_initial_int("x", 0);
	iso_session("one", CASE, &one);
	iso_session("other", CASE, &other);
}
