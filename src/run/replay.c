#include "run/replay.h"
