// A driver with one device.
extern "C" int cuInit(unsigned) { return 0; }
extern "C" int cuDeviceGetCount(int* count) {
    *count = 1;
    return 0;
}
