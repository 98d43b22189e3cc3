"""The tables that `bench reaction` compares: what is on at each, and what disturbs it."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

FSYNC_MS: Final = 20
"""What an SD card takes now and then."""
_HERE = Path(__file__).parent
_SLOW_C = """\
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
static int slow(const char *name, int fd) {
    const struct timespec wait = {0, %d * 1000000L};
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    nanosleep(&wait, 0);
    return real(fd);
}
int fsync(int fd) { return slow("fsync", fd); }
int fdatasync(int fd) { return slow("fdatasync", fd); }
"""


class TableVariant(msgspec.Struct, frozen=True):
    """A table as it is measured. `whole`: machine, gateway and a subscriber; else the dealing
    loop alone. `disturbed`: what disturbs which part, as disturbed/sitecustomize.py has it.
    `slow`: each of its fsyncs takes FSYNC_MS longer."""

    name: str
    is_whole: bool = True
    disturbance: str = ""
    slow_fsync: bool = False

    def environment(self, folder: Path) -> Mapping[str, str]:
        """Return what its processes find in their environment; `folder` is for what is built."""
        found = {}
        if self.disturbance:
            found["PYTHONPATH"] = str(_HERE / "disturbed")
            found["DEALTABLE_DISTURBED"] = self.disturbance
        if self.slow_fsync:
            found["LD_PRELOAD"] = str(_build_slow_library(folder))
        return found


PLAIN: Final = TableVariant("plain", is_whole=False)
ALL_ON: Final = TableVariant("everything on")
SLOW_FSYNC: Final = TableVariant(f"fsync + {FSYNC_MS} ms", slow_fsync=True)
FULL_GC: Final = TableVariant("full collections", disturbance="machine:collect")
BUSY_GATEWAY: Final = TableVariant("hog in the gateway", disturbance="gateway:hog")


def find_compiler() -> str | None:
    """Return the C compiler that a slow fsync needs; None where there is none."""
    return shutil.which("cc")


def _build_slow_library(folder: Path) -> Path:
    cc = find_compiler()
    if cc is None:
        raise FileNotFoundError("no C compiler: install gcc")
    source, library = folder / "slow.c", folder / "slow.so"
    source.write_text(_SLOW_C % FSYNC_MS, encoding="ascii")
    subprocess.run([cc, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library
