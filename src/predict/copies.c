#include "predict/copies.h"
