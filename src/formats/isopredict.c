#include "formats/parsers.h"
