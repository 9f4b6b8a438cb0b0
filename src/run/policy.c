#include "run/policy.h"
