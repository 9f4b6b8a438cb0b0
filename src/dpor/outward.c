#include "dpor/outward.h"

#include "dpor/engine.h"
