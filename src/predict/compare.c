#include "predict/compare.h"
