#include "twin_predict.h"

#include "suites.h"
