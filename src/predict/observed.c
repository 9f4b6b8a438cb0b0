#include "predict/observed.h"
