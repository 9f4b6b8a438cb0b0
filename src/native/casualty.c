#include "native/casualty.h"
