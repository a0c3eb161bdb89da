#!/usr/bin/env bash
# Puts the test of kernels on a CUDA device into build/gpu with the libraries that another machine
# may lack. There, build/gpu/run runs it: it needs only a driver and NVRTC of CUDA 12 or later.
#   scripts/pack_gpu_test.sh [build/release]
set -euo pipefail
cd "$(dirname "$0")/.."

build=${1:-build/release}
ninja -C "$build" gpu_kernel
rm -rf build/gpu
mkdir -p build/gpu/lib
cp "$build/tests/gpu_kernel" build/gpu/
ldd build/gpu/gpu_kernel | awk '/libfmt|libstdc|libgcc/ { print $3 }' | xargs -I{} cp -L {} build/gpu/lib/
cat >build/gpu/run <<'RUN'
#!/usr/bin/env bash
here=$(cd "$(dirname "$0")" && pwd)
LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} exec "$here/gpu_kernel" "$@"
RUN
chmod +x build/gpu/run
