# SPDX-License-Identifier: Apache-2.0
"""Other software in the measurements of make test-gpu: does what lines of stdin say, and times it.

    peers.py NAME

The lines and the answers are those of gpu_player.c; `image PATH` in place of `paint`: the pixels to write. What a
package cannot do is answered by `failed`, with the reason, and so is that it is not there.
"""

import ctypes
import importlib.util
import os
import pathlib
import sys
import time

MASK = (1 << 64) - 1


class Unable(Exception):
    """What is asked for is not offered."""


def checksum(numpy, array):
    """That of bench/timing.h."""
    words = numpy.frombuffer(numpy.ascontiguousarray(array).tobytes()[:array.nbytes // 8 * 8], dtype="<u8")
    with numpy.errstate(over="ignore"):
        return int((words * (2 * numpy.arange(len(words), dtype="<u8") + 1)).sum(dtype="<u8")) & MASK


def nvtiff_parser():
    """tests/nvidia/nvtiff.py; its folder must not be in the way of the packages in nvidia."""
    path = pathlib.Path(__file__).resolve().parent.parent / "nvidia" / "nvtiff.py"
    spec = importlib.util.spec_from_file_location("nvtiff_parser", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Peer:
    """read and write return a function that is timed; what that returns is fetched by pixels, outside of it."""

    def __init__(self):
        import numpy
        self.numpy = numpy

    def image(self, path):
        raise Unable("it does not write")

    def write(self, where, codec, path):
        raise Unable("it does not write")

    def pixels(self, result):
        return self.numpy.asarray(result)


class Cupy:
    """Arrays of a GPU, for those who need them."""

    def __init__(self):
        import cupy
        self.cupy = cupy

    def wait(self):
        self.cupy.cuda.Device().synchronize()


class Driver:
    """CUDA's own functions, for those who leave memory and waiting to the caller, in the primary context."""

    def __init__(self):
        self.library = ctypes.CDLL(os.environ.get("TERRAZZO_GPU_LIBRARY", "libcuda.so.1"))
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.room, self.at = 0, ctypes.c_uint64()

    def call(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        if code != 0:
            raise RuntimeError(f"{name}: {code}")

    def wait(self):
        self.call("cuCtxSynchronize")

    def memory(self, size):
        """A piece that is used again; where it is."""
        if size > self.room:
            if self.room:
                self.call("cuMemFree_v2", self.at)
            self.call("cuMemAlloc_v2", ctypes.byref(self.at), ctypes.c_size_t(size))
            self.room = size
        return self.at.value

    def put(self, array):
        self.call("cuMemcpyHtoD_v2", self.at, ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes))

    def get(self, array):
        self.call("cuMemcpyDtoH_v2", ctypes.c_void_p(array.ctypes.data), self.at, ctypes.c_size_t(array.nbytes))
        return array


class Gdal(Peer):
    """GDAL, by rasterio: it works on the CPU, and pixels are copied to the device or from it."""

    CODECS = {"none": {}, "lzw": {"compress": "lzw"}, "deflate": {"compress": "deflate"}, "zstd": {"compress": "zstd"},
              "packbits": {"compress": "packbits"}, "jpeg": {"compress": "jpeg", "photometric": "ycbcr"}}

    def __init__(self):
        super().__init__()
        import rasterio
        self.rasterio, self.driver = rasterio, Driver()
        self.version = f"GDAL {rasterio.__gdal_version__}, rasterio {rasterio.__version__}"

    def read(self, where, path):
        with self.rasterio.open(path) as file:
            room = self.numpy.empty((file.count, file.height, file.width), file.dtypes[0])
        self.driver.memory(room.nbytes)

        def run():
            with self.rasterio.open(path, num_threads="ALL_CPUS") as file:
                file.read(out=room)
            if where == "device":
                self.driver.put(room)
            return room
        return run

    def image(self, path):
        with self.rasterio.open(path) as file:
            self.array = file.read()

    def write(self, where, codec, path):
        if codec not in self.CODECS:
            raise Unable(f"it does not write {codec}")
        bands, height, width = self.array.shape
        self.driver.memory(self.array.nbytes)
        self.driver.put(self.array)
        room = self.numpy.empty_like(self.array)

        def run():
            array = self.driver.get(room) if where == "device" else self.array
            with self.rasterio.open(path, "w", driver="GTiff", count=bands, height=height, width=width,
                                    dtype=array.dtype, tiled=True, blockxsize=256, blockysize=256,
                                    num_threads="ALL_CPUS", **self.CODECS[codec]) as file:
                file.write(array)
        return run


class XarraySpatial(Peer):
    """xarray-spatial's GeoTIFF, with CuPy."""

    CODECS = {"none", "lzw", "deflate", "zstd", "lz4", "packbits", "j2k"}

    def __init__(self):
        super().__init__()
        self.device = Cupy()
        import xarray
        import xrspatial
        from xrspatial.geotiff import open_geotiff, to_geotiff
        self.xarray, self.open, self.write_file = xarray, open_geotiff, to_geotiff
        self.version = f"xarray-spatial {xrspatial.__version__}, CuPy {self.device.cupy.__version__}"

    def read(self, where, path):
        def run():
            array = self.open(path, gpu=where == "device").data
            self.device.wait()
            return array
        return run

    def pixels(self, result):
        return result.get() if hasattr(result, "get") else self.numpy.asarray(result)

    def image(self, path):
        self.array = self.open(path)

    def write(self, where, codec, path):
        if codec not in self.CODECS:
            raise Unable(f"it does not write {codec} that others read")
        array = self.array
        if where == "device":
            array = array.copy(data=self.device.cupy.asarray(array.data))

        def run():
            self.write_file(array, path, compression=codec, gpu=where == "device")
            self.device.wait()
        return run


class NvTiff(Peer):
    """nvTIFF's own C API; TERRAZZO_NVTIFF_LIBRARY says where it is."""

    class Image(ctypes.Structure):
        _fields_ = [("plane_data", ctypes.c_void_p), ("plane_pitch_bytes", ctypes.c_void_p),
                    ("num_planes", ctypes.c_uint32)]

    def __init__(self):
        super().__init__()
        self.library = ctypes.CDLL(os.environ.get("TERRAZZO_NVTIFF_LIBRARY", "libnvtiff.so.0"))
        self.parser = nvtiff_parser()
        self.driver, self.decoder, self.params = Driver(), ctypes.c_void_p(), ctypes.c_void_p()
        self.call("nvtiffDecoderCreateSimple", ctypes.byref(self.decoder), None)
        self.call("nvtiffDecodeParamsCreate", ctypes.byref(self.params))
        numbers = []
        for which in range(3):
            number = ctypes.c_int()
            self.call("nvtiffGetProperty", which, ctypes.byref(number))
            numbers.append(str(number.value))
        self.version = f"nvTIFF {'.'.join(numbers)}"

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            raise Unable(f"{name}: {status}")

    def read(self, where, path):
        stream = self.parser.Stream(self.library, path)
        first = stream.image(ctypes.c_size_t(0))
        stream.close()
        row = first["size"][0] * sum(first["bits"]) // 8
        size = row * first["size"][1]
        plane, pitch = ctypes.c_void_p(self.driver.memory(size)), ctypes.c_size_t(row)
        image = self.Image(ctypes.addressof(plane), ctypes.addressof(pitch), 1)

        room = self.numpy.empty(size, "u1")

        def run():
            opened = self.parser.Stream(self.library, path)
            self.call("nvtiffDecode", opened.handle, self.decoder, self.params, ctypes.byref(image), None)
            self.driver.wait()
            if where == "host":
                self.driver.get(room)
            opened.close()
            return room, plane, pitch
        return run

    def pixels(self, result):
        return self.driver.get(result[0])


class NvImageCodec(Peer):
    def __init__(self):
        super().__init__()
        from nvidia import nvimgcodec
        self.driver, self.codec, self.decoder = Driver(), nvimgcodec, nvimgcodec.Decoder()
        self.how = nvimgcodec.DecodeParams(color_spec=nvimgcodec.ColorSpec.UNCHANGED, allow_any_depth=True)
        self.version = f"nvImageCodec {nvimgcodec.__version__}"

    def read(self, where, path):
        def run():
            image = self.decoder.read(path, params=self.how)
            if image is None:
                raise Unable("it does not decode this")
            if where == "host":
                return image.cpu()
            self.driver.wait()
            return image
        return run

    def pixels(self, result):
        return self.numpy.asarray(result.cpu() if hasattr(result, "cpu") else result)


PEERS = {"GDAL": Gdal, "xarray-spatial": XarraySpatial, "nvTIFF": NvTiff, "nvImageCodec": NvImageCodec}


def answer(peer, line):
    verb, *words = line.split(" ")
    if verb == "image":
        peer.image(" ".join(words))
        return "0 0 0"
    if verb == "write":
        where, codec, *path = words
        run = peer.write(where, codec, " ".join(path))
    else:
        where, *path = words
        run = peer.read(where, " ".join(path))
    start = time.perf_counter()
    result = run()
    seconds = time.perf_counter() - start
    if verb == "write":
        return f"{seconds:.9f} 0 0"
    pixels = peer.pixels(result)
    return f"{seconds:.9f} {pixels.nbytes} {checksum(peer.numpy, pixels):x}"


def one_line(error):
    return " ".join(f"{error}".split()) or type(error).__name__


def main():
    try:
        peer = PEERS[sys.argv[1]]()
    except Exception as error:
        print(f"failed {one_line(error)}", flush=True)
        return
    print(f"ready {peer.version}", flush=True)
    for line in sys.stdin:
        try:
            print(answer(peer, line.rstrip("\n")), flush=True)
        except Exception as error:
            print(f"failed {one_line(error)}", flush=True)


if __name__ == "__main__":
    main()
