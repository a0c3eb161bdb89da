// A stand-in for NVIDIA's driver on machines without one, so that cuPyNumeric can be loaded and runs on the CPU: every
// call says that there is no device.
#include <stddef.h>
#include <string.h>

enum { kNoDevice = 100 };

static int nothing(void) { return kNoDevice; }

int cuInit(unsigned flags) {
  (void)flags;
  return kNoDevice;
}
int cuMemFree_v2(void) { return kNoDevice; }
int cuMemFreeHost(void) { return kNoDevice; }

int cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}

int cuGetErrorString(int error, const char** text) {
  (void)error;
  *text = "there is no device";
  return 0;
}

int cuGetErrorName(int error, const char** name) {
  (void)error;
  *name = "CUDA_ERROR_NO_DEVICE";
  return 0;
}

static void* function_of(const char* name) {
  if (strcmp(name, "cuGetErrorString") == 0) return (void*)cuGetErrorString;
  if (strcmp(name, "cuGetErrorName") == 0) return (void*)cuGetErrorName;
  if (strcmp(name, "cuDriverGetVersion") == 0) return (void*)cuDriverGetVersion;
  return (void*)nothing;
}

int cuGetProcAddress(const char* name, void** function, int version, unsigned long flags) {
  (void)version;
  (void)flags;
  *function = function_of(name);
  return 0;
}

int cuGetProcAddress_v2(const char* name, void** function, int version, unsigned long flags, int* status) {
  if (status != NULL) *status = 0;
  return cuGetProcAddress(name, function, version, flags);
}
