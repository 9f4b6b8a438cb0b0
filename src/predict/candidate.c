#include "predict/candidate.h"
