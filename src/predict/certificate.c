#include "predict/certificate.h"
