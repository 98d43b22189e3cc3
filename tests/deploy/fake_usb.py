"""Have udev itself meet serial ports on USB that are not there: in mounts of its own, as root.

    python fake_usb.py RULES    prints as JSON what udev made of each port in /dev, and of its timer

The kernel's tree of devices is a made-up one; the rules, and what follows from them, are real.
"""

import ctypes
import grp
import json
import os
import subprocess
import sys
from pathlib import Path

_NEWNS, _REC, _PRIVATE = 0x0002_0000, 16384, 1 << 18
# Kind of port, USB serial number of what it hangs on.
PORTS = {
    "ttyACM0": (166, 0, "E66058388300001A"),
    "ttyACM1": (166, 1, "ffffffffffffffff"),
    "ttyUSB0": (188, 0, "A50285BI"),
}
_PINS = (254, 0)


def _mount(kind: str, target: str, flags: int = 0) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"tmpfs", target.encode(), kind.encode(), ctypes.c_ulong(flags), None) != 0:
        raise OSError(ctypes.get_errno(), target)


def _device(path: Path, subsystem: str, uevent: str, **attributes: str) -> None:
    """Make a device as /sys shows it."""
    path.mkdir(parents=True)
    place = Path("/sys", subsystem)
    place.mkdir(parents=True, exist_ok=True)
    (path / "subsystem").symlink_to(place)
    (path / "uevent").write_text(uevent)
    for name, value in attributes.items():
        (path / name).write_text(f"{value}\n")


def _meet(device: Path) -> None:
    done = subprocess.run(
        ["udevadm", "test", "--action=add", str(device).removeprefix("/sys")],
        env=os.environ | {"SYSTEMD_DEVICE_VERIFY_SYSFS": "0", "SYSTEMD_LOG_LEVEL": "info"},
        capture_output=True,
        text=True,
        check=True,
    )
    wrong = [line for line in done.stderr.splitlines() if "dealtable" in line.lower()]
    if wrong:
        raise SystemExit("\n".join(wrong))


def _seen(name: str, links: dict[str, list[str]]) -> dict[str, object]:
    status = Path("/dev", name).stat()
    return {
        "links": links.get(name, []),
        "mode": f"{status.st_mode & 0o777:04o}",
        "group": grp.getgrgid(status.st_gid).gr_name,
    }


def main(rules: str) -> None:
    """Show the rules in a file each of the ports."""
    text = Path(rules).read_text()
    if ctypes.CDLL(None).unshare(_NEWNS) != 0:
        raise SystemExit("no mounts of its own")
    _mount("", "/", _REC | _PRIVATE)
    for folder in ("/etc/udev/rules.d", "/sys", "/run", "/dev"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        _mount("tmpfs", folder)
    os.mknod("/dev/null", 0o020666, os.makedev(1, 3))
    Path("/etc/udev/rules.d/70-dealtable-T01.rules").write_text(text)
    timer = None
    for number, (name, (major, minor, serial)) in enumerate(PORTS.items()):
        os.mknod(f"/dev/{name}", 0o020600, os.makedev(major, minor))
        usb = Path(f"/sys/devices/usb1/1-{number}")
        _device(usb, "bus/usb", "DEVTYPE=usb_device\n", serial=serial)
        interface = usb / f"1-{number}:1.0"
        _device(interface, "bus/usb", "DEVTYPE=usb_interface\n")
        if name.startswith("ttyUSB"):
            interface = interface / name
            _device(interface, "bus/usb-serial", "DRIVER=ftdi_sio\n", latency_timer="9")
            # One digit: udev writes over what stands there, and the rest of a real file would stay.
            driver = Path("/sys/bus/usb-serial/drivers/ftdi_sio")
            driver.mkdir(parents=True)
            (interface / "driver").symlink_to(driver)
            _meet(interface)
            timer = (interface / "latency_timer").read_text().strip()
        port = interface / "tty" / name
        _device(port, "class/tty", f"MAJOR={major}\nMINOR={minor}\nDEVNAME={name}\n")
        _meet(port)
    os.mknod("/dev/gpiochip0", 0o020600, os.makedev(*_PINS))
    pins = Path("/sys/devices/gpio/gpiochip0")
    _device(pins, "bus/gpio", "MAJOR={}\nMINOR={}\nDEVNAME=gpiochip0\n".format(*_PINS))
    _meet(pins)
    links: dict[str, list[str]] = {}
    for path in sorted(Path("/dev").glob("table-*")):
        links.setdefault(path.resolve().name, []).append(path.name)
    seen = {name: _seen(name, links) for name in (*PORTS, "gpiochip0")}
    sys.stdout.write(json.dumps({"ports": seen, "latency_timer": timer}))


if __name__ == "__main__":
    main(sys.argv[1])
